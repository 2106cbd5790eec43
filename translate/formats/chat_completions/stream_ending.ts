/**
 * Normalizes the ending of a stream that passes through: a chunk with an empty delta and the
 * finish reason, then the usage chunk, then `[DONE]`. Some upstreams send the finish reason with
 * the last content, twice, or not at all; those chunks are rewritten. All other frames keep their
 * bytes.
 *
 * @module
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

/** Makes the {@linkcode StreamEnding} of one stream. */
export function streamEnding(context: EncodeContext): StreamEnding {
  let finished = false;
  const kinds = new Set<BlockKind>();
  /**
   * The data of the first chunk, used as the template of a finishing chunk that the upstream did
   * not send.
   */
  let sample: string | undefined;
  /** The finishing chunk, split off from a chunk that also had content. */
  let owed: Uint8Array | undefined;
  /** Chunks that arrived before the finishing chunk and belong after it. */
  let held: Uint8Array[] = [];

  const written = (chunk: JsonObject): Uint8Array =>
    ENCODER.encode(
      dataFrame(upstreamJson({ ...chunk, model: context.model })),
    );
  const made = (events: readonly ReplyEvent[]): Uint8Array[] => {
    const chunk = exactJson(sample ?? "");
    if (!isObject(chunk)) return [];
    const stop = events.find((event) => event.type === "stop");
    const word = encodeFinishReason(
      settleStop(stop?.reason ?? "end", kinds),
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
  /** The chunks that are missing before the last frame. */
  const rest = (events: readonly ReplyEvent[]): Uint8Array[] => {
    const finishing = finished
      ? []
      : owed === undefined
      ? made(events)
      : [owed];
    const behind = held;
    finished = true;
    owed = undefined;
    held = [];
    return [...finishing, ...behind];
  };
  /** Handles a chunk with a finish reason. */
  const finishing = (bytes: Uint8Array, data: string): Uint8Array[] => {
    const chunk = objectOr(exactJson(data));
    const choices = arrayOr(chunk["choices"]);
    const choice = objectOr(choices[0]);
    const isFirst = (choice["index"] ?? 0) === 0;
    if (choices.length !== 1 || !isFirst) {
      // Several choices, each with its own finish reason.
      finished ||= choices.some((one) =>
        isObject(one) && (one["index"] ?? 0) === 0 &&
        textIn(one["finish_reason"]) !== undefined
      );
      return [bytes];
    }
    const hasUsage = isObject(chunk["usage"]);
    const delta = objectOr(choice["delta"]);
    // The first chunk carries the role, even if it also has a finish reason.
    if (sample === undefined || hasContent(delta)) {
      sample ??= data;
      if (!finished) {
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
    if (finished) {
      return hasUsage && context.wantUsage
        ? [written({ ...chunk, choices: [] })]
        : [];
    }
    finished = true;
    owed = undefined;
    return Object.keys(delta).length === 0
      ? [bytes]
      : [written({ ...chunk, choices: [{ ...choice, delta: {} }] })];
  };
  return {
    keep(bytes, frames, events) {
      for (const event of events) {
        if (event.type === "open") kinds.add(event.kind);
      }
      if (events.at(-1)?.type === "end") return [...rest(events), bytes];
      const data = frames.find((frame) => frame.data !== "")?.data ?? "";
      if (HAS_FINISH_REASON.test(data)) return finishing(bytes, data);
      if (!finished && NO_CHOICES.test(data) && sample !== undefined) {
        // The usage chunk belongs after the finishing chunk, which has not arrived yet.
        held.push(bytes);
        return [];
      }
      if (sample === undefined && HAS_CHOICES.test(data)) sample = data;
      return [bytes];
    },
    finish: (events) => [...rest(events), DONE],
  };
}
