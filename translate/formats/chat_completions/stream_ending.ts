/**
 * Normalizes the ending of a stream that passes through: a chunk with an empty delta and the
 * finish reason, then the usage chunk, then `[DONE]`. Some upstreams send the finish reason with
 * the last content, before it, twice, or not at all, and the usage before the finish reason or
 * beside it; those chunks are rewritten. All other frames keep their bytes.
 */
import type { EncodeContext, StreamEnding } from "../../dialect.ts";
import { exactJson, upstreamJson } from "../../bytes/exact_json.ts";
import {
  arrayOr,
  isObject,
  type JsonObject,
  objectOr,
  textIn,
} from "../../bytes/json.ts";
import {
  type BlockKind,
  type ReplyEvent,
  settleStop,
} from "../../model/reply.ts";
import { dataFrame } from "../../stream/sse.ts";
import { hasContent } from "./reply_reader.ts";
import { encodeFinishReason } from "./stop_reason.ts";

const ENCODER = new TextEncoder();
const DONE = ENCODER.encode(dataFrame("[DONE]"));
/** Matches only a key and its value: inside a string the quotes would be escaped. */
const HAS_FINISH_REASON = /"finish_reason"\s*:\s*"[^"]/;
const NO_CHOICES = /"choices"\s*:\s*\[\s*\]/;
const HAS_CHOICES = /"choices"\s*:\s*\[\s*\{/;

export function streamEnding(context: EncodeContext): StreamEnding {
  /** Whether the finishing chunk of the first reply was sent. */
  let finished = false;
  const kinds = new Set<BlockKind>();
  /**
   * The data of the first chunk, used as the template of a finishing chunk that the upstream did
   * not send.
   */
  let sample: string | undefined;
  /** The finishing chunk, held back because content may follow it. */
  let finish: Uint8Array | undefined;
  /** Chunks without choices, which belong after the finishing chunk. */
  let behind: Uint8Array[] = [];
  /** The usage among them. */
  let usage: Uint8Array | undefined;

  const write = (chunk: JsonObject): Uint8Array =>
    ENCODER.encode(
      dataFrame(upstreamJson({ ...chunk, model: context.model })),
    );
  const holdUsage = (bytes: Uint8Array): void => {
    // The last report counts.
    behind = [...behind.filter((chunk) => chunk !== usage), bytes];
    usage = bytes;
  };
  /** The chunk with its usage taken out, to be sent in a chunk of its own. */
  const withoutUsage = (chunk: JsonObject): JsonObject => {
    const { usage: reported, ...rest } = chunk;
    if (!context.wantUsage || reported === undefined) return rest;
    return { ...rest, usage: null };
  };
  const makeFinish = (events: readonly ReplyEvent[]): Uint8Array[] => {
    const chunk = exactJson(sample ?? "");
    if (!isObject(chunk)) return [];
    const stop = events.find((event) => event.type === "stop");
    const word = encodeFinishReason(
      settleStop(stop?.reason ?? "end", kinds),
      context.legacyFunctions,
    );
    return [
      write({
        ...withoutUsage(chunk),
        choices: [{
          index: 0,
          delta: {},
          logprobs: null,
          finish_reason: word,
        }],
      }),
    ];
  };
  /** The chunks that are missing before the last frame. */
  const rest = (events: readonly ReplyEvent[]): Uint8Array[] => {
    const finishing = finished
      ? []
      : finish === undefined
      ? makeFinish(events)
      : [finish];
    const held = [...finishing, ...behind];
    finished = true;
    behind = [];
    return held;
  };
  /** Handles a chunk with a finish reason, or with usage but no content. */
  const ending = (bytes: Uint8Array, data: string): Uint8Array[] => {
    const chunk = objectOr(exactJson(data));
    const choices = arrayOr(chunk["choices"]);
    const choice = objectOr(choices[0]);
    if (choices.length !== 1 || (choice["index"] ?? 0) !== 0) {
      // Several replies, each with its own finish reason.
      const before = finish === undefined ? [] : rest([]);
      finished ||= choices.some((one) =>
        isObject(one) && (one["index"] ?? 0) === 0 &&
        textIn(one["finish_reason"]) !== undefined
      );
      return [...before, bytes];
    }
    if (finished) return [bytes];
    const delta = objectOr(choice["delta"]);
    // The first chunk carries the role, even if it also has a finish reason.
    const isFirst = sample === undefined;
    sample ??= data;
    const hasUsage = isObject(chunk["usage"]);
    if (hasUsage && context.wantUsage) {
      holdUsage(write({ ...chunk, choices: [] }));
    }
    const isFinishing = textIn(choice["finish_reason"]) !== undefined;
    if (isFinishing) {
      finish ??= !hasUsage && Object.keys(delta).length === 0 ? bytes : write({
        ...withoutUsage(chunk),
        choices: [{ ...choice, delta: {} }],
      });
    }
    return isFirst || hasContent(delta)
      ? [
        write({
          ...withoutUsage(chunk),
          choices: [{ ...choice, finish_reason: null }],
        }),
      ]
      : [];
  };
  return {
    keep(bytes, frames, events) {
      let isContent = false;
      let hasUsage = false;
      for (const event of events) {
        if (event.type === "open") kinds.add(event.kind);
        isContent ||= event.type === "open" || event.type === "delta";
        hasUsage ||= event.type === "usage";
      }
      if (events.at(-1)?.type === "end") return [...rest(events), bytes];
      const data = frames.find((frame) => frame.data !== "")?.data ?? "";
      if (HAS_FINISH_REASON.test(data)) return ending(bytes, data);
      if (!finished && NO_CHOICES.test(data) && sample !== undefined) {
        if (hasUsage) holdUsage(bytes);
        else behind.push(bytes);
        // In the format's own order nothing else follows the usage.
        return hasUsage && finish !== undefined ? rest(events) : [];
      }
      if (HAS_CHOICES.test(data)) {
        if (hasUsage && !isContent) return ending(bytes, data);
        sample ??= data;
      }
      return [bytes];
    },
    finish: (events) => [...rest(events), DONE],
  };
}
