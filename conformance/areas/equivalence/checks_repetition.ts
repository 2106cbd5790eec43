/**
 * Checks of the area `equivalence` over a repeated request: what is the same in every reply of one
 * form must be the same in the other form and on the other endpoint. In a live run, replies that a
 * model varies stay unclear.
 */
import {
  chatFrames,
  chatReply,
  messageFrames,
  messageReply,
  withAt,
} from "../../faults/change_reply.ts";
import {
  fact,
  factOf,
  type Finding,
  NotTestable,
  skill,
} from "../../suite/finding.ts";
import { type Check, checksWith, sharedFaults } from "../../suite/check.ts";
import { numberOf, objectOf, parseJson } from "@model-gateway/replay/json";
import { streamed, trimmed } from "./faults.ts";
import {
  causeInChat,
  contentOf,
  textAndCalls,
  tokensOf,
} from "../../evidence/content.ts";
import { textAt } from "../../evidence/json_path.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { AGAIN } from "./scenarios_repetition.ts";
import type { Evidence } from "../../suite/evidence.ts";

const SECTION = "Equivalent fields between the two formats";
const INPUT = "| Input tokens | `usage.input_tokens` | `usage.prompt_tokens` |";
const OUTPUT =
  "| Output tokens | `usage.output_tokens` | `usage.completion_tokens` |";
const KINDS = ["text", "call"] as const;

/** The replies to one request, in order. */
interface Repeated {
  readonly wholes: readonly Exchange[];
  readonly streams: readonly Exchange[];
}

/**
 * The replies of an endpoint, by the part of the label that names the route and the kind of
 * request.
 */
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

/** The value that all replies of a form have in common; undefined when they differ. */
function commonValue(
  replies: readonly Exchange[],
  read: (x: Exchange) => string,
): string | undefined {
  const values = replies.map(read);
  return new Set(values).size === 1 ? values[0] : undefined;
}

function wordsOf(x: Exchange): string {
  return textAndCalls(contentOf(x));
}

/**
 * The finding when replies could not be compared: a failure in a replay run, since the replay
 * upstream repeats itself.
 */
function incomparable(e: Evidence, what: string, x: Exchange): Finding {
  const expected = "the same for each repetition";
  return e.mode === "live"
    ? skill(false, what, expected, "different values", x)
    : fact(false, what, expected, "different values", x);
}

/**
 * Compares the two forms of each reply; `gate` must be the same in all repetitions of each form
 * first.
 */
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
        throw new NotTestable("no request was repeated");
      }
      if (!answered(group)) return incomparable(e, "replies", whole);
      const expected = commonValue(group.wholes, read);
      const actual = commonValue(group.streams, read);
      if (
        expected === undefined || actual === undefined ||
        commonValue(group.wholes, gate) === undefined ||
        commonValue(group.streams, gate) === undefined
      ) return incomparable(e, what, stream);
      return factOf(`${what} of the stream`, actual, stream).mustBe(
        `as in ${whole.label}: ${expected}`,
        expected === actual,
      );
    })
  );
}

/** Compares the two endpoints where all replies have the same text and tool calls. */
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
      commonValue(all, requestedModel) === undefined ||
      commonValue(all, wordsOf) === undefined
    ) return [incomparable(e, "text and tool calls of both endpoints", right)];
    return message.wholes.concat(message.streams).map((x, at) => {
      const other = chat.wholes.concat(chat.streams)[at] ?? right;
      const expected = read(x);
      const actual = read(other);
      return factOf(`${what} on both endpoints`, actual, other).mustBe(
        `as in ${x.label}: ${expected}`,
        expected === actual,
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

/** The stop cause as written; "" when the reply has none. */
function stopOf({ json, frames }: Exchange): string {
  return [json, ...frames.map((frame) => frame.json)].map((value) =>
    textAt(value, "stop_reason") || textAt(value, "delta.stop_reason") ||
    textAt(value, "choices.0.finish_reason")
  ).find((reason) => reason !== "") ?? "";
}

/**
 * The stop cause, as far as both formats can express it. A call forced by name may end like plain
 * text; so may a refusal, for which the specification's message format has no name.
 */
function causeOf(x: Exchange): string {
  const cause = causeInChat(contentOf(x).stop);
  return cause === "refusal" ? "end" : cause;
}

/** The requested model: a live run may use one model for each endpoint. */
function requestedModel({ request }: Exchange): string {
  return textAt(parseJson(request.body), "model");
}

/** The model that a reply names, whole or streamed. */
function modelOf({ json, frames }: Exchange): string {
  return [json, ...frames.map((frame) => frame.json)].map((value) =>
    textAt(value, "model") || textAt(value, "message.model")
  ).find((model) => model !== "") ?? "";
}

export const REPETITION_CHECKS: readonly Check[] = checksWith({
  section: SECTION,
  mode: "both",
  reads: ["same-again"],
}, [
  {
    id: "equivalence.again-words",
    source: "A stream is the same reply in pieces",
    rule:
      "A model that repeats its words on each request gives the same words whole and streamed.",
    judge: (e) => bothForms(e, "words", wordsOf, wordsOf),
    faults: {
      "again-delta-lost": messageFrames((data, { state }) => {
        if (textAt(data, "delta.type") !== "text_delta") return data;
        const number = Number(state.get("delta") ?? 0) + 1;
        state.set("delta", number);
        return number === 2 ? undefined : data;
      }),
      "again-markup-escaped": streamed(
        "text",
        "messages",
        (text) => text.replaceAll("<", "&lt;"),
      ),
      "again-argument-trimmed": messageReply((body) => ({
        ...body,
        content: (Array.isArray(body["content"]) ? body["content"] : []).map(
          (block) => {
            const { input } = objectOf(block);
            if (input === undefined) return block;
            const entries = Object.entries(objectOf(input));
            return {
              ...objectOf(block),
              input: Object.fromEntries(
                entries.map(([key, value]) => [key, trimmed(value ?? null)]),
              ),
            };
          },
        ),
      })),
      "again-chat-stream-cut": chatFrames((data, { state }) => {
        if (textAt(data, "choices.0.delta.content") === "") return data;
        const number = Number(state.get("delta") ?? 0) + 1;
        state.set("delta", number);
        return number > 3 ? undefined : data;
      }),
    },
  },
  {
    id: "equivalence.again-input",
    rule: INPUT,
    judge: (e) => bothForms(e, "input tokens", inputOf, inputOf),
    faults: {
      "again-stream-input-more": chatFrames((data) => {
        const tokens = numberOf(objectOf(data["usage"])["prompt_tokens"]);
        return tokens === undefined
          ? data
          : withAt(data, "usage.prompt_tokens", tokens + 1);
      }),
    },
  },
  {
    id: "equivalence.again-output",
    rule: OUTPUT,
    judge: (e) => bothForms(e, "output tokens", outputOf, wordsOf),
    faults: {
      "again-whole-output-less": chatReply((body) => {
        const tokens = numberOf(objectOf(body["usage"])["completion_tokens"]) ??
          0;
        return withAt(body, "usage.completion_tokens", tokens - 1);
      }),
      ...sharedFaults("streams-cost-more"),
    },
  },
  {
    id: "equivalence.again-stop",
    rule: "| Stop cause | `stop_reason` | `finish_reason` |",
    judge: (e) => bothForms(e, "stop cause", stopOf, wordsOf),
    faults: {
      "again-stream-end-as-limit": messageFrames((data) =>
        textAt(data, "delta.stop_reason") === ""
          ? data
          : withAt(data, "delta.stop_reason", "max_tokens")
      ),
    },
  },
  {
    id: "equivalence.again-model",
    section: "Message reply (from `POST /v1/messages`, not streamed)",
    rule: "| model | string | Model id used |",
    judge: (e) => bothForms(e, "model", modelOf, modelOf),
    faults: {
      "again-stream-model-other": messageFrames((data) =>
        data["type"] === "message_start"
          ? withAt(data, "message.model", "vendora-haiku-4-5-other")
          : data
      ),
    },
  },
  {
    id: "equivalence.again-price",
    rule: OUTPUT,
    judge: (e) => bothEndpoints(e, "output tokens", outputOf),
    faults: sharedFaults("chat-output-one-more"),
  },
  {
    id: "equivalence.again-stop-cause",
    rule: "| Stop cause | `stop_reason` | `finish_reason` |",
    judge: (e) => bothEndpoints(e, "stop cause", causeOf),
    faults: {
      "again-chat-end-as-limit": {
        part: (part, { endpoint }) =>
          endpoint === "chat" && part.type === "stop" && part.cause === "end"
            ? [{ ...part, cause: "max_tokens" }]
            : [part],
      },
    },
  },
]);
