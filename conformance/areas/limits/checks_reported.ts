/**
 * Checks of the area `limits` about the stop cause and the token counts that a reply reports, for
 * any model.
 */
import {
  MESSAGE_FORMS_STREAM,
  MESSAGE_FORMS_WHOLE,
} from "../message_reply/scenarios_forms.ts";
import { SAME_AGAIN_NAME } from "../equivalence/scenarios_repetition.ts";
import { TEXT_SCENARIO } from "../message_reply/scenarios.ts";
import {
  chatFrames,
  messageFrames,
  messageReply,
  withAt,
} from "../../faults/change_reply.ts";
import { factOf, type Finding, skill, some } from "../../suite/finding.ts";
import { setting } from "../../faults/change_request.ts";
import {
  arrayOf,
  isObject,
  type Json,
  objectOf,
  parseJson,
  stringOf,
} from "@model-gateway/replay/json";
import { type Check, checksWith, sharedFaults } from "../../suite/check.ts";
import {
  at,
  brief,
  listAt,
  numberAt,
  textAt,
} from "../../evidence/json_path.ts";
import { type Exchange, isStream } from "../../evidence/exchange.ts";
import { contentOf, tokensOf } from "../../evidence/content.ts";
import type { Evidence } from "../../suite/evidence.ts";

function successes(
  e: Evidence,
  test: (x: Exchange) => boolean,
): readonly Exchange[] {
  return e.exchanges.filter((x) => x.head?.status === 200 && test(x));
}

/** Findings about the replies to message requests with stop strings. */
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
    const contained = stops.find((stop) =>
      typeof stop === "string" && text.includes(stop)
    );
    return factOf("text", text.slice(-160), x).mustBe(
      `without ${brief(stops)}`,
      contained === undefined,
    );
  });
}

/**
 * A reply reports the limit as its stop cause exactly when it used all the tokens it was allowed.
 */
function capReported(x: Exchange): Finding[] {
  const allowed = numberAt(parseJson(x.request.body), "max_tokens");
  const content = contentOf(x);
  const { output } = tokensOf(content);
  if (allowed === undefined) return [];
  if (output < allowed) {
    // Some vendors count a token or two fewer than they allow.
    return content.stop !== "max_tokens" ? [] : [
      factOf("output tokens", output, x).mustBe(
        `about ${allowed}: the limit is the reported stop cause`,
        output >= allowed / 2,
      ),
    ];
  }
  return [
    factOf("stop cause", content.stop, x).mustBe(
      `the limit: all ${allowed} tokens were used`,
      content.stop === "max_tokens",
    ),
  ];
}

/** All counts in a usage, at any depth. */
function countsIn(value: Json | undefined, path: string): [string, Json][] {
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, inner]): [string, Json][] =>
    /_tokens$/.test(key)
      ? [[`${path}.${key}`, inner ?? null]]
      : countsIn(inner, `${path}.${key}`)
  );
}

const DOCUMENTED = /\.(input|output|prompt|completion|total)_tokens$/;

function integers(x: Exchange, which: (path: string) => boolean): Finding[] {
  const values = isStream(x) ? x.frames.map(({ json }) => json) : [x.json];
  const counts = values.flatMap((value) => [
    ...countsIn(at(value, "usage"), "usage"),
    ...countsIn(at(value, "message.usage"), "message.usage"),
  ]);
  const bad = counts.find(([path, count]) =>
    which(path) && count !== null &&
    !(Number.isInteger(count) && Number(count) >= 0)
  );
  return [
    factOf(bad?.[0] ?? "counts", bad?.[1] ?? counts.length, x).mustBe(
      "an integer of at least 0, or null",
      bad === undefined,
    ),
  ];
}

export const LIMITS_REPORTED_CHECKS: readonly Check[] = checksWith(
  { mode: "both" },
  [
    {
      id: "limits.stop-halts",
      section: "POST /v1/messages",
      rule: "Generation halts when one is produced",
      reads: [MESSAGE_FORMS_WHOLE, MESSAGE_FORMS_STREAM],
      judge: (e) => {
        const found = halted(e);
        // A real model may not support stop strings and refuse them.
        return found.length > 0 || e.mode === "replay"
          ? some(found, "to a request with stop strings")
          : [skill(false, "replies", "a reply to stop strings", "none")];
      },
      faults: {
        "stop-told-in-text": messageReply((body) => {
          const hit = stringOf(body["stop_sequence"]);
          return hit === undefined ? body : {
            ...body,
            content: arrayOf(body["content"]).map((block) => ({
              ...objectOf(block),
              text: textAt(block, "text") + hit,
            })),
          };
        }),
        // A message stream continues after the stop string.
        "stops-go-on": {
          part: (part, { endpoint, stream }) =>
            part.type === "stop" && endpoint === "messages" && stream &&
              part.cause === "stop_sequence"
              ? [
                { type: "text", text: "END delta" },
                { type: "stop", cause: "end" },
              ]
              : [part],
        },
      },
    },
    {
      id: "limits.cap-is-told",
      section: "States and transitions",
      rule: "they describe why one reply ended and are not states that move.",
      reads: ["bounded", SAME_AGAIN_NAME],
      judge: (e) => {
        const found = successes(e, () => true).flatMap(capReported);
        return found.length > 0 || e.mode === "replay"
          ? some(found, "as long as it was allowed to be")
          : [
            skill(
              false,
              "replies",
              "a reply that uses its whole limit",
              "none",
            ),
          ];
      },
      faults: {
        "cap-as-end-in-whole-messages": messageReply((body) =>
          body["stop_reason"] === "max_tokens"
            ? { ...body, stop_reason: "end_turn" }
            : body
        ),
        "cap-as-end-in-chat-streams": chatFrames((data) =>
          textAt(data, "choices.0.finish_reason") === "length"
            ? withAt(data, "choices.0.finish_reason", "stop")
            : data
        ),
        "limit-quartered": setting(
          "maxTokens",
          (tokens) => Math.ceil(tokens / 4),
        ),
      },
    },
    {
      id: "limits.counts-are-integers",
      section: "Message reply (from `POST /v1/messages`, not streamed)",
      rule: "| usage.output_tokens | integer | Billed output tokens |",
      reads: [TEXT_SCENARIO, "bounded", "resent-history"],
      judge: (e) =>
        some(
          successes(e, () => true).flatMap((x) =>
            integers(x, (path) => DOCUMENTED.test(path))
          ),
          "a success with counts",
        ),
      faults: {
        "start-count-as-text": messageFrames((data) => {
          const inputTokens = numberAt(data, "message.usage.input_tokens");
          return inputTokens === undefined
            ? data
            : withAt(data, "message.usage.input_tokens", `${inputTokens}`);
        }),
      },
    },
    {
      id: "limits.all-counts-are-integers",
      source: "Libraries of both formats add up every count of a usage",
      rule: "Each count in a usage is an integer or null.",
      reads: [TEXT_SCENARIO, "bounded", "resent-history"],
      judge: (e) =>
        some(
          successes(e, () => true).flatMap((x) => integers(x, () => true)),
          "a success with counts",
        ),
      faults: {
        "cached-count-as-text": messageReply((body) =>
          withAt(body, "usage.cache_read_input_tokens", "0")
        ),
        ...sharedFaults("start-count-as-text"),
      },
    },
  ],
);
