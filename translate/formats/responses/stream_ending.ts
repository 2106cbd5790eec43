/**
 * Changes a stream that passes through: replaces the reply's id, its model and its stored state,
 * renumbers the frames after one was inserted or removed, adds keep-alive frames, and reports a
 * failure with this format's frames.
 */
import type { EncodeContext, StreamEnding } from "../../dialect.ts";
import {
  arrayOr,
  countIn,
  isObject,
  type JsonDraft,
  type JsonObject,
  MAX_LEVELS,
  nestsWithin,
  objectOr,
  stringIn,
} from "../../bytes/json.ts";
import {
  spliceFields,
  spliceText,
  topLevelOf,
} from "../../bytes/json_splice.ts";
import { mergeUsage, type ReplyEvent, type Usage } from "../../model/reply.ts";
import { encodeText, joinPieces } from "../../bytes/buffers.ts";
import { frameJson } from "../../stream/frame_json.ts";
import { FAILED_STATE, replyConfig } from "./reply_config.ts";
import { streamError } from "./error.ts";
import { replyFields } from "./clean_request.ts";
import { encodeUsage } from "./usage.ts";
import { unreadableReply } from "../../model/reply_faults.ts";

const OPEN_BRACE = 0x7b;
const LINE_END = 0x0a;

/** Frames that only announce a reply. */
const OPENING: ReadonlySet<string> = new Set([
  "response.created",
  "response.in_progress",
  "response.queued",
  "keepalive",
]);

/** The start of a frame's data up to the value of `response`, as upstreams write it. */
const BEFORE_RESPONSE =
  /^\{(?:"(?:type|sequence_number)":(?:"[^"\\]*"|\d+),)*"response":(?=\{)/;

/** A frame, its JSON value and the text of that. */
interface ReadFrame {
  readonly bytes: Uint8Array;
  readonly data: JsonObject;
  readonly text: string;
}

export function streamEnding(context: EncodeContext): StreamEnding {
  let fields = replyFields(context);
  /** When the reply began, by the frames that the client received first. */
  let createdAt: unknown = context.created;
  /** The sequence number of the client's next frame. */
  let next = 0;
  /** The client's sequence numbers minus the upstream's. */
  let offset = 0;
  let started = false;
  /** True if the reply's first frames were sent to the client before the upstream answered. */
  let isLate = false;
  /**
   * The upstream's first frames, held back until another frame follows: only then it is known
   * whether the client already has first frames of its own.
   */
  const held: ReadFrame[] = [];
  /** The complete items. `open` is the current one. */
  const output: unknown[] = [];
  let open: JsonObject | undefined;
  let usage: Usage | undefined;

  const begin = (): void => {
    if (started) return;
    started = true;
    next = context.opened?.frames ?? next;
    isLate = next > 0;
    if (isLate) fields = { ...fields, created_at: createdAt };
  };
  const make = (type: string, fields: JsonObject): Uint8Array => {
    const data = JSON.stringify({ type, ...fields, sequence_number: next });
    next++;
    return encodeText(`event: ${type}\ndata: ${data}\n\n`);
  };
  const opening = (): readonly Uint8Array[] => {
    if (next > 0) return [];
    const response = replyConfig(context);
    return [
      make("response.created", { response }),
      make("response.in_progress", { response }),
    ];
  };
  const noteUsage = (events: readonly ReplyEvent[]): void => {
    for (const event of events) {
      if (event.type === "usage") usage = mergeUsage(usage ?? {}, event.usage);
    }
  };
  const noteItem = (type: string, data: JsonObject): void => {
    const item = data["item"];
    if (!isObject(item)) return;
    // The item may have to be written again.
    if (!nestsWithin(item, MAX_LEVELS)) {
      throw unreadableReply("its JSON nests too deep");
    }
    if (type === "response.output_item.added") {
      open = item;
    } else if (type === "response.output_item.done") {
      output.push(item);
      open = undefined;
    }
  };
  /** The new sequence number of a frame; undefined if it does not change. */
  const numberFor = (upstream: number | undefined): number | undefined => {
    if (upstream === undefined) {
      next++;
      return undefined;
    }
    if (isLate) {
      isLate = false;
      offset = next - upstream;
    }
    next = upstream + offset + 1;
    return offset === 0 ? undefined : upstream + offset;
  };
  const changeData = (data: JsonObject): JsonObject => {
    const changes: JsonDraft = {};
    const response = data["response"];
    if (isObject(response)) {
      createdAt = fields["created_at"] ?? response["created_at"] ?? createdAt;
      const isEmpty = arrayOr(response["output"]).length === 0;
      // Some upstreams leave the output of the last frame empty, and some clients read only that
      // frame.
      changes["response"] = isEmpty && output.length > 0
        ? { ...fields, output }
        : fields;
    }
    const number = numberFor(countIn(data["sequence_number"]));
    if (number !== undefined) changes["sequence_number"] = number;
    return changes;
  };
  const written = ({ bytes, data, text }: ReadFrame): Uint8Array => {
    const changes = changeData(data);
    return Object.keys(changes).length === 0
      ? bytes
      : spliceData(bytes, changes, text);
  };
  const framesOf = (frame: ReadFrame): readonly Uint8Array[] => {
    const { data } = frame;
    const type = stringIn(data["type"]) ?? "";
    if (!started) {
      if (OPENING.has(type)) {
        held.push(frame);
        return [];
      }
      begin();
    }
    const before = isLate ? [] : held.map(written);
    held.length = 0;
    noteItem(type, data);
    return [...before, written(frame)];
  };

  return {
    setsModel: true,
    keep(bytes, frames, events) {
      noteUsage(events);
      const frame = frames.find((frame) => frame.data !== "");
      const data = frame && frameJson(frame);
      return frame !== undefined && isObject(data)
        ? framesOf({ bytes, data, text: frame.data })
        : [bytes];
    },
    keepMatched(like, chunk, start, end) {
      const number = numberFor(like.count("sequence_number"));
      return number === undefined
        ? undefined
        : spliceData(chunk.subarray(start, end), { sequence_number: number });
    },
    finish: () => [],
    ping() {
      if (started) {
        offset++;
        return make("keepalive", {});
      }
      // No upstream has answered yet, and another instance may handle the stream of the one that
      // answers.
      const { opened: shared } = context;
      next = shared?.frames ?? next;
      const frames = next === 0 ? joinPieces(opening()) : make("keepalive", {});
      if (shared !== undefined) shared.frames = next;
      return frames;
    },
    fail(error, partialText) {
      begin();
      const { event, ofReply } = streamError(error, context.requestId);
      const cut = open === undefined ? [] : [cutItem(open, partialText)];
      const response = {
        ...replyConfig(context),
        ...FAILED_STATE,
        created_at: createdAt,
        error: ofReply,
        output: [...output, ...cut],
        usage: usage === undefined
          ? null
          : encodeUsage(usage, context.inputEstimate),
      };
      return joinPieces([
        ...opening(),
        make("error", event),
        make("response.failed", { response }),
      ]);
    },
  };
}

/** An item that the stream did not complete, with the text so far. */
function cutItem(item: JsonObject, text: string): JsonObject {
  switch (item["type"]) {
    case "message": {
      const content = text === ""
        ? []
        : [{ type: "output_text", text, annotations: [], logprobs: [] }];
      return { ...item, status: "incomplete", content };
    }
    case "reasoning":
      return {
        ...item,
        summary: text === "" ? [] : [{ type: "summary_text", text }],
      };
    case "function_call":
      return { ...item, status: "incomplete", arguments: text };
    default:
      return { ...item, status: "incomplete" };
  }
}

/**
 * The frame with some fields of its data replaced. Fields of `response` are replaced inside it.
 *
 * @param text the text of the data, if known: saves decoding it again where it is ASCII
 */
function spliceData(
  bytes: Uint8Array,
  changes: JsonObject,
  text?: string,
): Uint8Array {
  const start = bytes.indexOf(OPEN_BRACE);
  const json = bytes.subarray(start);
  // One line of ASCII: text and bytes have the same positions.
  const isAscii = text?.startsWith("{") === true && !text.includes("\n") &&
    json[text.length] === LINE_END;
  const chars = isAscii ? text : undefined;
  const breaks = chars?.length ?? json.indexOf(LINE_END);
  const { response, ...plain } = changes;
  const isOnlyInside = response !== undefined &&
    Object.keys(plain).length === 0;
  if (isOnlyInside && chars !== undefined) {
    const before = BEFORE_RESPONSE.exec(chars)?.[0].length;
    if (before !== undefined) {
      const rest = chars.slice(before);
      const inner = topLevelOf(json.subarray(before, breaks), rest);
      return joinPieces([
        bytes.subarray(0, start + before),
        encodeText(spliceText(rest, objectOr(response), inner)),
        json.subarray(breaks),
      ]);
    }
  }
  const top = chars === undefined
    ? topLevelOf(json)
    : topLevelOf(json.subarray(0, breaks), chars);
  // Data on several lines: the line breaks and field names between them are not part of the JSON.
  if (breaks >= 0 && breaks < top.closing) return bytes;
  if (response === undefined) {
    return joinPieces([
      bytes.subarray(0, start),
      spliceFields(json, plain, top),
    ]);
  }
  const found = top.fields.find(({ key }) => key === "response");
  if (found === undefined) return bytes;
  const { valueStart, valueEnd } = found;
  const old = json.subarray(valueStart, valueEnd);
  const inner = spliceFields(
    old,
    objectOr(response),
    topLevelOf(old, chars?.slice(valueStart, valueEnd)),
  );
  const around = [
    json.subarray(0, valueStart),
    inner,
    json.subarray(valueEnd),
  ];
  return joinPieces([
    bytes.subarray(0, start),
    ...isOnlyInside ? around : [spliceFields(joinPieces(around), plain)],
  ]);
}
