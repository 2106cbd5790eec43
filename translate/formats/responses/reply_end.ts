/**
 * Finds the end of a reply in the bytes for a client: the whole reply, or the last frame of a
 * stream, which repeats the whole reply.
 */
import { encodeText, joinPieces } from "../../bytes/buffers.ts";
import { exactJson, upstreamJson } from "../../bytes/exact_json.ts";
import {
  arrayOr,
  isObject,
  type JsonObject,
  MAX_LEVELS,
  nestsWithin,
  objectOr,
  textIn,
} from "../../bytes/json.ts";
import type { ReplyEnd } from "../../model/stored_state.ts";
import { LONG_BYTES, parseLong } from "../../stream/parsed_reply.ts";
import { namedFrame, sseParser } from "../../stream/sse.ts";
import type { Steps } from "../../steps.ts";

const DECODER = new TextDecoder();
const LF = 0x0a;
const CR = 0x0d;

/** States of a reply that a later request can continue. */
const CONTINUABLE: ReadonlySet<unknown> = new Set(["completed", "incomplete"]);
/** The last frames of such replies; an older upstream calls its last frame `done`. */
const LAST_FRAMES: ReadonlySet<unknown> = new Set([
  "response.completed",
  "response.incomplete",
  "response.done",
]);

/** See {@linkcode DialectState.wholeEnd}. */
export function* wholeEnd(bytes: Uint8Array): Steps<ReplyEnd | undefined> {
  const long = bytes.length > LONG_BYTES ? yield* parseLong(bytes) : undefined;
  const text = DECODER.decode(bytes);
  const reply = objectOr(long?.reply ?? exactJson(text));
  if (!CONTINUABLE.has(reply["status"])) return undefined;
  return endOf(
    reply,
    text,
    (unstored) => encodeText(upstreamJson(unstored)),
  );
}

/** See {@linkcode DialectState.streamEnd}. */
export function streamEnd(bytes: Uint8Array): ReplyEnd | undefined {
  const start = lastFrameStart(bytes);
  const parser = sseParser();
  const frame = [...parser.push(bytes.subarray(start)), ...parser.end()]
    .at(-1);
  const data = objectOr(exactJson(frame?.data ?? ""));
  if (!LAST_FRAMES.has(data["type"])) return undefined;
  return endOf(
    data["response"],
    undefined,
    (unstored) =>
      joinPieces([
        bytes.subarray(0, start),
        encodeText(
          namedFrame(
            String(data["type"]),
            upstreamJson({ ...data, response: unstored }),
          ),
        ),
      ]),
  );
}

/** @param text the reply's JSON text, if it is known */
function endOf(
  reply: unknown,
  text: string | undefined,
  write: (unstored: JsonObject) => Uint8Array,
): ReplyEnd | undefined {
  if (!isObject(reply)) return undefined;
  const id = textIn(reply["id"]);
  if (id === undefined || !nestsWithin(reply, MAX_LEVELS)) return undefined;
  const itemIds = arrayOr(reply["output"]).flatMap((item) =>
    textIn(objectOr(item)["id"]) ?? []
  );
  return {
    id,
    reply: text ?? upstreamJson(reply),
    itemIds: [...new Set(itemIds)],
    unstored: () => write({ ...reply, store: false }),
  };
}

/** The position of the last frame: behind the last blank line that something follows. */
function lastFrameStart(bytes: Uint8Array): number {
  let at = bytes.length;
  while (at > 0 && isLineEnd(bytes[at - 1])) at--;
  for (; at > 1; at--) {
    if (!isLineEnd(bytes[at - 1])) continue;
    // LF LF, CR CR or CR LF CR LF end a frame; CR LF alone ends a line.
    const before = bytes[at - 2];
    const ended = bytes[at - 1] === LF && before === CR
      ? isLineEnd(bytes[at - 3])
      : isLineEnd(before);
    if (ended) return at;
  }
  return 0;
}

function isLineEnd(byte: number | undefined): boolean {
  return byte === LF || byte === CR;
}
