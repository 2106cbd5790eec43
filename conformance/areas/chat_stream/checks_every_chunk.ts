/**
 * Check of the area `chat_stream`: every chunk of the whole run that the gateway wrote itself. What
 * it passes on may have the upstream's own members.
 */
import { FINISH_REASONS } from "../../endpoints/read_chat.ts";
import type { Exchange, Frame } from "../../evidence/exchange.ts";
import { at, listAt } from "../../evidence/json_path.ts";
import {
  isObject,
  type JsonObject,
  objectOf,
} from "@model-gateway/replay/json";
import {
  finishing,
  put,
  withChoice,
  withText,
} from "../../faults/change_chunks.ts";
import {
  IS_SECONDS,
  literal,
  type Right,
  right,
  words,
} from "../../faults/field.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import { FORCED } from "../tools/scenarios.ts";
import { factOf, some } from "../../suite/finding.ts";

type Member = readonly [name: string, right: Right];

/** Members that a chunk must have; the first three have one value in all chunks of a stream. */
const MEMBERS: readonly Member[] = Object.entries({
  id: words("an id"),
  created: IS_SECONDS,
  model: words("a model id"),
  object: literal("chat.completion.chunk"),
});

/** What the only choice of a chunk has. */
const OF_CHOICE: readonly Member[] = Object.entries({
  index: right("0", (value) => value === 0, { text: "0", other: 1 }),
  delta: right("an object", isObject, { list: [], text: "" }),
  finish_reason: right(
    `null, absent, or one of ${FINISH_REASONS.join(", ")}`,
    (value) =>
      (value ?? null) === null || FINISH_REASONS.some((word) => word === value),
    { empty: "", false: false, other: "end_turn" },
  ),
  logprobs: right(
    "an object, null or absent",
    (value) => (value ?? null) === null || isObject(value),
    { text: "none", list: [] },
  ),
});

function chunksIn({ frames }: Exchange): readonly Frame[] {
  return frames.filter(({ json }) =>
    isObject(json) && json["error"] === undefined
  );
}

/** What a chunk must have instead of what it has; undefined when it is right. */
function wrongIn(chunk: JsonObject, first: JsonObject): string | undefined {
  for (const [name, { expected, test }] of MEMBERS) {
    if (!test(chunk[name]) || chunk[name] !== first[name]) {
      return `${name}: ${expected}, the same in all chunks`;
    }
  }
  for (const choice of listAt(chunk, "choices").map(objectOf)) {
    for (const [name, { expected, test }] of OF_CHOICE) {
      if (!test(choice[name])) return `choices.0.${name}: ${expected}`;
    }
  }
  return undefined;
}

/** Whether a chunk has the role, as only the first one must. */
function hasRole({ json }: Frame): boolean {
  return (at(json, "choices.0.delta.role") ?? null) !== null;
}

/** The chunks that a text stream has not: calls and thinking. */
function between(data: JsonObject): boolean {
  return withChoice(data) && !withText(data) && !finishing(data) &&
    at(data, "choices.0.delta.role") === undefined;
}

export const EVERY_CHUNK_CHECKS: readonly Check[] = checksWith({
  mode: "both",
  reads: "everything",
}, [{
  id: "chat_stream.every-chunk",
  source:
    "https://platform.openai.com/docs/api-reference/chat-streaming/streaming, the chat completion chunk object",
  rule:
    "Every chunk has the object type, the id, the time and the model of its stream; its choice has index 0 and a delta.",
  provedBy: [FORCED.name],
  of: (e) =>
    some(
      e.exchanges.filter((x) =>
        x.endpoint === "chat" && x.head?.status === 200 &&
        chunksIn(x).length > 0
      ),
      "a stream of chunks",
    ),
  each: (x, e) => {
    if (e.mode === "replay" && x.via === "chat_completions") {
      return factOf("chunks", "passed on").mustBe("the upstream's", true);
    }
    const chunks = chunksIn(x);
    const first = objectOf(chunks[0]?.json);
    const wrong = (frame: Frame): string | undefined =>
      wrongIn(objectOf(frame.json), first);
    const bad = chunks.find((frame) => wrong(frame) !== undefined);
    const spoken = chunks.filter(({ json }) =>
      listAt(json, "choices").length > 0
    );
    const odd = spoken.find((frame, index) => hasRole(frame) !== (index === 0));
    return [
      factOf("role", odd?.data ?? "once", x, odd).mustBe(
        "in the first chunk with a choice, and in no other",
        odd === undefined,
      ),
      factOf("chunks", bad?.data ?? `${chunks.length}`, x, bad).mustBe(
        bad === undefined ? "chunks" : wrong(bad) ?? "",
        bad === undefined,
      ),
    ];
  },
  misses: {
    "role-repeated": put(between, "choices.0.delta.role", "assistant"),
    ...Object.fromEntries([
      ...MEMBERS.map(([path, { misses }]) =>
        [path, { ...misses, differs: path === "created" ? 1 : "x" }] as const
      ),
      ...OF_CHOICE.map(([path, { misses }]) =>
        [`choices.0.${path}`, misses] as const
      ),
    ].flatMap(([path, misses]) =>
      Object.entries(misses).map(([name, value]) =>
        [`${path}-${name}`, put(between, path, value)] as const
      )
    )),
  },
}]);
