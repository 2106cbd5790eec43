/**
 * The ending of a stream that passes through: one chunk with an empty delta and the finish reason, then the usage chunk, then
 * `[DONE]`. Upstreams that tell the reason beside the last content, twice or not at all, are put right here; every other frame
 * keeps its bytes.
 *
 * @module
 */
import type { EncodeContext, EndingKeeper } from "../dialect.ts";
import { exactJson } from "../exact_json.ts";
import {
  arrayOr,
  isObject,
  type JsonObject,
  objectOr,
  textIn,
} from "../json.ts";
import { type ReplyEvent, settleStop } from "../reply.ts";
import { dataFrame } from "../sse.ts";
import { encodeFinishReason } from "./stop_reason.ts";

const ENCODER = new TextEncoder();
const DONE = ENCODER.encode(dataFrame("[DONE]"));
/** Only in a key and its value: inside a string the quotes would be escaped. */
const TELLS_REASON = /"finish_reason"\s*:\s*"[^"]/;
const NO_CHOICES = /"choices"\s*:\s*\[\s*\]/;
const HAS_CHOICES = /"choices"\s*:\s*\[\s*\{/;

/** Makes the keeper of one stream's ending. */
export function endingKeeper(context: EncodeContext): EndingKeeper {
  let told = false;
  let sawCall = false;
  /** The data of the first chunk: one that the upstream did not send is made after it. */
  let sample: string | undefined;
  /** The finishing chunk, taken out of one that says more. */
  let owed: Uint8Array | undefined;
  /** What comes behind the finishing chunk and came before it. */
  let held: Uint8Array[] = [];

  const written = (chunk: JsonObject): Uint8Array =>
    ENCODER.encode(
      dataFrame(JSON.stringify({ ...chunk, model: context.model })),
    );
  const made = (events: readonly ReplyEvent[]): Uint8Array[] => {
    const chunk = exactJson(sample ?? "");
    if (!isObject(chunk)) return [];
    const stop = events.find((event) => event.type === "stop");
    const word = encodeFinishReason(
      settleStop(stop?.reason ?? "end", sawCall),
      context.legacyFunctions,
    );
    return [
      written({
        ...chunk,
        choices: [{
          index: 0,
          delta: {},
          logprobs: null,
          finish_reason: word,
        }],
        ...(chunk["usage"] === undefined ? {} : { usage: null }),
      }),
    ];
  };
  /** What must come before the last frame. */
  const rest = (events: readonly ReplyEvent[]): Uint8Array[] => {
    const finishing = told ? [] : owed === undefined ? made(events) : [owed];
    const behind = held;
    told = true;
    owed = undefined;
    held = [];
    return [...finishing, ...behind];
  };
  /** A chunk that tells a finish reason. */
  const finishing = (bytes: Uint8Array, data: string): Uint8Array[] => {
    const chunk = objectOr(exactJson(data));
    const choices = arrayOr(chunk["choices"]);
    const choice = objectOr(choices[0]);
    const isFirst = (choice["index"] ?? 0) === 0;
    if (choices.length !== 1 || !isFirst) {
      // Several answers at once, each with an end of its own.
      told ||= choices.some((one) =>
        isObject(one) && (one["index"] ?? 0) === 0 &&
        textIn(one["finish_reason"]) !== undefined
      );
      return [bytes];
    }
    const hasUsage = isObject(chunk["usage"]);
    const delta = objectOr(choice["delta"]);
    // The first chunk tells the role, whatever else it says.
    if (sample === undefined || saysSomething(delta)) {
      sample ??= data;
      if (!told) {
        owed = written({ ...chunk, choices: [{ ...choice, delta: {} }] });
      }
      return [
        written({
          ...chunk,
          choices: [{ ...choice, finish_reason: null }],
          ...(hasUsage ? { usage: null } : {}),
        }),
      ];
    }
    if (told) {
      return hasUsage && context.wantUsage
        ? [written({ ...chunk, choices: [] })]
        : [];
    }
    told = true;
    owed = undefined;
    return Object.keys(delta).length === 0
      ? [bytes]
      : [written({ ...chunk, choices: [{ ...choice, delta: {} }] })];
  };
  return {
    keep(bytes, frames, events) {
      for (const event of events) {
        if (event.type === "open") sawCall ||= event.kind === "tool";
      }
      if (events.at(-1)?.type === "end") return [...rest(events), bytes];
      const data = frames.find((frame) => frame.data !== "")?.data ?? "";
      if (TELLS_REASON.test(data)) return finishing(bytes, data);
      if (!told && NO_CHOICES.test(data) && sample !== undefined) {
        // The usage chunk comes behind the finishing one, which is still to come.
        held.push(bytes);
        return [];
      }
      if (sample === undefined && HAS_CHOICES.test(data)) sample = data;
      return [bytes];
    },
    finish: (events) => [...rest(events), DONE],
  };
}

function saysSomething(delta: JsonObject): boolean {
  return ["content", "reasoning_content", "reasoning", "refusal"].some((key) =>
    textIn(delta[key]) !== undefined
  ) ||
    ["content", "reasoning_details", "tool_calls"].some((key) =>
      arrayOr(delta[key]).length > 0
    ) || isObject(delta["function_call"]);
}
