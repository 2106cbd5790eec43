/** Checks of the area `limits` about what a reply tells of its own end and of its counts, whoever answers. */
import type { Exchange } from "../evidence/exchange.ts";
import { isStream } from "../evidence/exchange.ts";
import { contentOf, tokensOf } from "../evidence/content.ts";
import { at, brief, listAt, numberAt } from "../evidence/json_path.ts";
import { isObject, type Json, parseJson } from "../replay/json.ts";
import type { Check } from "../suite/check.ts";
import type { Evidence } from "../suite/evidence.ts";
import { fact, type Finding, skill, some } from "../suite/finding.ts";

/** The successful exchanges that satisfy a test. */
function successes(
  e: Evidence,
  test: (x: Exchange) => boolean,
): readonly Exchange[] {
  return e.exchanges.filter((x) => x.head?.status === 200 && test(x));
}

/** The replies to a message request with stop strings, and those strings. */
function halted(e: Evidence): Finding[] {
  const asked = successes(
    e,
    (x) =>
      x.endpoint === "messages" &&
      listAt(parseJson(x.request.body), "stop_sequences").length > 0,
  );
  return asked.map((x) => {
    const stops = listAt(parseJson(x.request.body), "stop_sequences");
    const { text } = contentOf(x);
    const said = stops.find((stop) =>
      typeof stop === "string" && text.includes(stop)
    );
    return fact(
      said === undefined,
      "text",
      `without ${brief(stops)}`,
      text.slice(-160),
      x,
    );
  });
}

/** A reply that used every token that it was allowed says so, and one that says so has used most of them. */
function capTold(x: Exchange): Finding[] {
  const allowed = numberAt(parseJson(x.request.body), "max_tokens");
  const content = contentOf(x);
  const { output } = tokensOf(content);
  if (allowed === undefined) return [];
  if (output < allowed) {
    // Some vendors count a token or two less than they allow.
    return content.stop !== "max_tokens" ? [] : [
      fact(
        output >= allowed / 2,
        "output tokens",
        `about ${allowed}: the limit is told as the stop cause`,
        output,
        x,
      ),
    ];
  }
  return [
    fact(
      content.stop === "max_tokens",
      "stop cause",
      `the limit: all ${allowed} tokens were used`,
      content.stop,
      x,
    ),
  ];
}

/** The counts in a usage, however deep. */
function countsIn(value: Json | undefined, path: string): [string, Json][] {
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, inner]): [string, Json][] =>
    /_tokens$/.test(key)
      ? [[`${path}.${key}`, inner ?? null]]
      : countsIn(inner, `${path}.${key}`)
  );
}

function integers(x: Exchange): Finding[] {
  const values = isStream(x) ? x.frames.map(({ json }) => json) : [x.json];
  const counts = values.flatMap((value) => [
    ...countsIn(at(value, "usage"), "usage"),
    ...countsIn(at(value, "message.usage"), "message.usage"),
  ]);
  const bad = counts.find(([, count]) =>
    count !== null && !(Number.isInteger(count) && Number(count) >= 0)
  );
  return [
    fact(
      bad === undefined,
      bad?.[0] ?? "counts",
      "an integer that is not negative, or null",
      bad?.[1] ?? counts.length,
      x,
    ),
  ];
}

/** The checks. */
export const LIMITS_TOLD_CHECKS: readonly Check[] = [
  {
    id: "limits.stop-halts",
    rule: {
      section: "POST /v1/messages",
      text: "Generation halts when one is produced",
    },
    level: "documented",
    mode: "both",
    reads: ["message-forms-whole", "message-forms-stream"],
    judge: (e) => {
      const found = halted(e);
      // A real model may know no stop strings and refuse them.
      return found.length > 0 || e.mode === "replay"
        ? some(found, "to a request with stop strings")
        : [skill(false, "replies", "one with stop strings", "none")];
    },
    mutants: ["stop-told-in-text", "stops-go-on"],
  },
  {
    id: "limits.cap-is-told",
    rule: {
      section: "POST /v1/messages",
      text: "Maximum output tokens; generation stops at this count",
    },
    level: "documented",
    mode: "both",
    reads: ["bounded", "same-again"],
    judge: (e) => {
      const found = successes(e, () => true).flatMap(capTold);
      return found.length > 0 || e.mode === "replay"
        ? some(found, "as long as it was allowed to be")
        : [skill(false, "replies", "one that uses its limit up", "none")];
    },
    mutants: [
      "cap-as-end-in-whole-messages",
      "cap-as-end-in-chat-streams",
      "limit-quartered",
    ],
  },
  {
    id: "limits.counts-are-integers",
    rule: {
      section: "Message reply (from `POST /v1/messages`, not streamed)",
      text: "| usage.output_tokens | integer | Billed output tokens |",
    },
    level: "documented",
    mode: "both",
    reads: ["text", "bounded", "resent-history"],
    judge: (e) =>
      some(successes(e, () => true).flatMap(integers), "a success with counts"),
    mutants: ["cached-count-as-text", "start-count-as-text"],
  },
];
