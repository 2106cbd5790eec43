/**
 * Checks of the area `equivalence` over the same request asked again: what repeats itself in each form must be the same in
 * both forms and on both endpoints. What a model varies stays unclear in a live run.
 */
import {
  causeInChat,
  contentOf,
  tokensOf,
  words,
} from "../evidence/content.ts";
import { textAt } from "../evidence/json_path.ts";
import type { Exchange } from "../evidence/exchange.ts";
import { parseJson } from "../replay/json.ts";
import { AGAIN } from "../scenarios/same_again.ts";
import type { Check } from "../suite/check.ts";
import type { Evidence } from "../suite/evidence.ts";
import { fact, type Finding, NotTestable, skill } from "../suite/finding.ts";

const SECTION = "Equivalent fields between the two formats";
const INPUT = "| Input tokens | `usage.input_tokens` | `usage.prompt_tokens` |";
const OUTPUT =
  "| Output tokens | `usage.output_tokens` | `usage.completion_tokens` |";
const KINDS = ["text", "call"] as const;

/** The replies to one request, in their order. */
interface Repeated {
  readonly wholes: readonly Exchange[];
  readonly streams: readonly Exchange[];
}

/** What was asked of an endpoint, by the part of the label that names the route and the kind. */
function repeated(e: Evidence, endpoint: string): Map<string, Repeated> {
  const first = KINDS.flatMap((kind) =>
    e.matching(`${endpoint}/*/${kind}/whole-1`)
  );
  return new Map(
    first.map(({ label }): [string, Repeated] => {
      const stem = label.replace(/whole-1$/, "");
      const all = (form: string): Exchange[] =>
        AGAIN.map((number) => e.exchange(`${stem}${form}-${number}`));
      return [stem, { wholes: all("whole"), streams: all("stream") }];
    }),
  );
}

function answered({ wholes, streams }: Repeated): boolean {
  return wholes.every(({ head, json }) =>
    head?.status === 200 && json !== undefined
  ) &&
    streams.every(({ head, frames }) =>
      head?.status === 200 && frames.length > 0
    );
}

/** What all replies of a form say alike; undefined when they differ. */
function alike(
  replies: readonly Exchange[],
  read: (x: Exchange) => string,
): string | undefined {
  const said = replies.map(read);
  return new Set(said).size === 1 ? said[0] : undefined;
}

/** Text and tool calls. */
function wordsOf(x: Exchange): string {
  return words(contentOf(x));
}

/** One finding for what could not be compared: in a replay run the upstream repeats itself, so that this is a failure. */
function incomparable(e: Evidence, what: string, x: Exchange): Finding {
  const expected = "the same each time that it is asked for";
  return e.mode === "live"
    ? skill(false, what, expected, "something else", x)
    : fact(false, what, expected, "something else", x);
}

/** Compares the two forms; `gate` must repeat itself in each of them first. */
function bothForms(
  e: Evidence,
  what: string,
  read: (x: Exchange) => string,
  gate: (x: Exchange) => string,
): Finding[] {
  return ["messages", "chat"].flatMap((endpoint) =>
    [...repeated(e, endpoint).values()].map((group) => {
      const [whole] = group.wholes;
      const [stream] = group.streams;
      if (whole === undefined || stream === undefined) {
        throw new NotTestable("nothing was asked again");
      }
      if (!answered(group)) return incomparable(e, "replies", whole);
      const expected = alike(group.wholes, read);
      const actual = alike(group.streams, read);
      if (
        expected === undefined || actual === undefined ||
        alike(group.wholes, gate) === undefined ||
        alike(group.streams, gate) === undefined
      ) return incomparable(e, what, stream);
      return fact(
        expected === actual,
        `${what} of the stream`,
        `as in ${whole.label}: ${expected}`,
        actual,
        stream,
      );
    })
  );
}

/** Compares the two endpoints where all replies say the same words. */
function bothEndpoints(
  e: Evidence,
  what: string,
  read: (x: Exchange) => string,
): Finding[] {
  const chats = repeated(e, "chat");
  return [...repeated(e, "messages")].flatMap(([stem, message]) => {
    const chat = chats.get(stem.replace("messages/", "chat/"));
    const [left] = message.wholes;
    const [right] = chat?.wholes ?? [];
    if (chat === undefined || left === undefined || right === undefined) {
      return [];
    }
    const all = [message, chat].flatMap(({ wholes, streams }) => [
      ...wholes,
      ...streams,
    ]);
    if (
      !answered(message) || !answered(chat) ||
      alike(all, modelAsked) === undefined ||
      alike(all, wordsOf) === undefined
    ) return [incomparable(e, "words of both endpoints", right)];
    return message.wholes.concat(message.streams).map((x, at) => {
      const other = chat.wholes.concat(chat.streams)[at] ?? right;
      const expected = read(x);
      const actual = read(other);
      return fact(
        expected === actual,
        `${what} on both endpoints`,
        `as in ${x.label}: ${expected}`,
        actual,
        other,
      );
    });
  });
}

function inputOf(x: Exchange): string {
  return `${tokensOf(contentOf(x)).input}`;
}

function outputOf(x: Exchange): string {
  return `${tokensOf(contentOf(x)).output}`;
}

/** The stop cause as written; "" when none is told. */
function stopOf({ json, frames }: Exchange): string {
  return [json, ...frames.map((frame) => frame.json)].map((value) =>
    textAt(value, "stop_reason") || textAt(value, "delta.stop_reason") ||
    textAt(value, "choices.0.finish_reason")
  ).find((told) => told !== "") ?? "";
}

/**
 * The stop cause as both formats can tell it. A call that is demanded by name may end as plain text does; so may a
 * refusal, for which the specification's message format has no name.
 */
function causeOf(x: Exchange): string {
  const cause = causeInChat(contentOf(x).stop);
  return cause === "refusal" ? "end" : cause;
}

/** The model that a request names: a live run may have one for each endpoint. */
function modelAsked({ request }: Exchange): string {
  return textAt(parseJson(request.body), "model");
}

/** The model that a reply names, whole or streamed. */
function modelOf({ json, frames }: Exchange): string {
  return [json, ...frames.map((frame) => frame.json)].map((value) =>
    textAt(value, "model") || textAt(value, "message.model")
  ).find((model) => model !== "") ?? "";
}

/** The checks. */
export const AGAIN_CHECKS: readonly Check[] = [
  {
    id: "equivalence.again-words",
    rule: {
      source: "A stream is the same reply in pieces",
      text:
        "A model that answers a request with the same words each time answers so whole and streamed.",
    },
    level: "convention",
    mode: "both",
    reads: ["same-again"],
    judge: (e) => bothForms(e, "words", wordsOf, wordsOf),
    mutants: [
      "again-delta-lost",
      "again-markup-escaped",
      "again-argument-trimmed",
      "again-chat-stream-cut",
    ],
  },
  {
    id: "equivalence.again-input",
    rule: { section: SECTION, text: INPUT },
    level: "documented",
    mode: "both",
    reads: ["same-again"],
    judge: (e) => bothForms(e, "input tokens", inputOf, inputOf),
    mutants: ["again-stream-input-more"],
  },
  {
    id: "equivalence.again-output",
    rule: { section: SECTION, text: OUTPUT },
    level: "documented",
    mode: "both",
    reads: ["same-again"],
    judge: (e) => bothForms(e, "output tokens", outputOf, wordsOf),
    mutants: ["streams-cost-more", "again-whole-output-less"],
  },
  {
    id: "equivalence.again-stop",
    rule: {
      section: SECTION,
      text: "| Stop cause | `stop_reason` | `finish_reason` |",
    },
    level: "documented",
    mode: "both",
    reads: ["same-again"],
    judge: (e) => bothForms(e, "stop cause", stopOf, wordsOf),
    mutants: ["again-stream-end-as-limit"],
  },
  {
    id: "equivalence.again-model",
    rule: {
      section: "Message reply (from `POST /v1/messages`, not streamed)",
      text: "| model | string | Model id used |",
    },
    level: "documented",
    mode: "both",
    reads: ["same-again"],
    judge: (e) => bothForms(e, "model", modelOf, modelOf),
    mutants: ["again-stream-model-other"],
  },
  {
    id: "equivalence.again-price",
    rule: { section: SECTION, text: OUTPUT },
    level: "documented",
    mode: "both",
    reads: ["same-again"],
    judge: (e) => bothEndpoints(e, "output tokens", outputOf),
    mutants: ["chat-output-one-more"],
  },
  {
    id: "equivalence.again-stop-cause",
    rule: {
      section: SECTION,
      text: "| Stop cause | `stop_reason` | `finish_reason` |",
    },
    level: "documented",
    mode: "both",
    reads: ["same-again"],
    judge: (e) => bothEndpoints(e, "stop cause", causeOf),
    mutants: ["again-chat-end-as-limit"],
  },
];
