/**
 * Decodes a reply in the messages format, event by event, for streams (`decode_stream.ts`) and
 * whole replies (`encode_reply.ts`): a whole reply is decoded as a start with content and an end.
 */
import type { DecodeContext } from "../../dialect.ts";
import type { ApiError } from "../../model/error.ts";
import { upstreamJson } from "../../bytes/exact_json.ts";
import {
  arrayOr,
  isObject,
  type JsonObject,
  objectOr,
  stringIn,
  textIn,
} from "../../bytes/json.ts";
import { mergeUsage, type ReplyEvent, type Usage } from "../../model/reply.ts";
import { type Citation, MAX_CITATIONS } from "../../model/citation.ts";
import { readCitation } from "./citations.ts";
import { inBandError, isErrorBody } from "./error.ts";
import { readStopReason } from "./stop_reason.ts";
import { readUsage } from "./usage.ts";
import {
  cutStream,
  unknownEnd,
  unnamedCall,
} from "../../model/reply_faults.ts";

/** Decodes the events of one reply. Returns nothing after an `end` or `error` event. */
interface ReplyReader {
  /** The neutral events of one wire event; `name` is its type where the data has none. */
  read(data: JsonObject, name?: string): readonly ReplyEvent[];
  end(): readonly ReplyEvent[];
  fail(error: ApiError): readonly ReplyEvent[];
}

/** The open block. A `skipped` one has no neutral counterpart; its deltas are ignored. */
interface BlockRead {
  readonly kind: "text" | "reasoning" | "tool" | "skipped";
  /** Its index on the wire. */
  readonly index: number | undefined;
  /** The events' arguments where no deltas follow: the whole input of a call. */
  readonly input?: JsonObject;
  /** True after its first delta. */
  hasDelta: boolean;
  /** Its sources so far. */
  readonly citations: Citation[];
}

/** Blocks without which the answer is complete: tools that the vendor ran, and its own notes. */
const LOSSLESS = /_tool_(?:use|result|listing)$|^(?:compaction|fallback)$/;

export function replyReader(context: DecodeContext): ReplyReader {
  let events: ReplyEvent[] = [];
  let started = false;
  let finished = false;
  let done = false;
  let open: BlockRead | undefined;
  let usage: Usage = {};
  let calls = 0;
  let formatCalls = 0;
  // Events of blocks that started before the open one ended, by block index. No known vendor
  // interleaves blocks.
  const waiting = new Map<number, JsonObject[]>();

  const begin = (): void => {
    if (started) return;
    started = true;
    events.push({ type: "start" });
  };
  const delta = (text: unknown): void => {
    if (typeof text !== "string" || text === "") return;
    if (open !== undefined) open.hasDelta = true;
    events.push({ type: "delta", text });
  };
  const close = (): void => {
    if (open === undefined) return;
    const { kind, input, hasDelta, citations } = open;
    if (!hasDelta && input !== undefined && Object.keys(input).length > 0) {
      delta(upstreamJson(input));
    }
    open = undefined;
    for (const citation of citations) events.push({ type: "cite", citation });
    if (kind !== "skipped") events.push({ type: "close" });
  };
  const openText = (
    kind: "text" | "reasoning",
    index: number | undefined,
  ): void => {
    events.push({ type: "open", kind });
    open = { kind, index, hasDelta: false, citations: [] };
  };
  const cite = (value: unknown): void => {
    const citation = readCitation(objectOr(value));
    const isFull = (open?.citations.length ?? 0) >= MAX_CITATIONS;
    if (open?.kind !== "text" || citation === undefined || isFull) return;
    open.citations.push(citation);
  };
  const sign = (value: unknown, redacted: boolean): void => {
    const text = textIn(value);
    if (text === undefined) return;
    events.push({
      type: "sign",
      signature: {
        from: "messages",
        value: text,
        ...(redacted ? { redacted } : {}),
      },
    });
  };

  const startBlock = (block: JsonObject, index: number | undefined): void => {
    close();
    switch (block["type"]) {
      case "text":
        openText("text", index);
        delta(block["text"]);
        for (const citation of arrayOr(block["citations"])) cite(citation);
        return;
      case "thinking":
        openText("reasoning", index);
        delta(block["thinking"]);
        sign(block["signature"], false);
        return;
      case "redacted_thinking":
        openText("reasoning", index);
        sign(block["data"], true);
        return;
      case "tool_use": {
        const name = stringIn(block["name"]) ?? "";
        if (name === "") {
          fail(unnamedCall());
          return;
        }
        const id = textIn(block["id"]);
        const input = objectOr(block["input"]);
        if (name === context.formatTool) {
          formatCalls++;
          events.push({ type: "open", kind: "text", isAnswer: true });
          open = { kind: "tool", index, input, hasDelta: false, citations: [] };
          return;
        }
        calls++;
        events.push({
          type: "open",
          kind: "tool",
          ...(id === undefined ? {} : { id }),
          name: context.toolNames.get(name) ?? name,
        });
        open = { kind: "tool", index, input, hasDelta: false, citations: [] };
        return;
      }
      default: {
        const kind = stringIn(block["type"]) ?? "";
        if (!LOSSLESS.test(kind)) events.push({ type: "lost", kind });
        open = { kind: "skipped", index, hasDelta: false, citations: [] };
      }
    }
  };

  const moreText = (
    kind: "text" | "reasoning",
    text: unknown,
    index: number | undefined,
  ): void => {
    if (open?.kind === "skipped") return;
    if (typeof text !== "string" || text === "") return;
    if (open?.kind !== kind) {
      close();
      openText(kind, index);
    }
    delta(text);
  };

  /** Handles an event of the open block, or of one that may open now. */
  const step = (data: JsonObject, index: number | undefined): void => {
    if (data["type"] === "content_block_start") {
      startBlock(objectOr(data["content_block"]), index);
      return;
    }
    if (data["type"] === "content_block_stop") {
      close();
      return;
    }
    const change = objectOr(data["delta"]);
    switch (change["type"]) {
      case undefined:
      case "text_delta":
        moreText("text", change["text"], index);
        return;
      case "thinking_delta":
        moreText("reasoning", change["thinking"], index);
        return;
      case "signature_delta":
        if (open?.kind === "reasoning") sign(change["signature"], false);
        return;
      case "input_json_delta":
        if (open?.kind === "tool") delta(change["partial_json"]);
        return;
      case "citations_delta":
        cite(change["citation"]);
        return;
      default:
        // Types newer than this file.
        if (open?.kind === "skipped") return;
        events.push({ type: "lost", kind: stringIn(change["type"]) ?? "" });
    }
  };
  /** Handles the events of blocks that waited for the open one. */
  const admit = (): void => {
    while (open === undefined) {
      const first = waiting.entries().next();
      if (first.done === true) return;
      const [index, held] = first.value;
      waiting.delete(index);
      for (const data of held) step(data, index);
    }
  };
  const route = (data: JsonObject): void => {
    begin();
    const number = data["index"];
    const index = typeof number === "number" ? number : undefined;
    if (
      open?.index !== undefined && index !== undefined && open.index !== index
    ) {
      const held = waiting.get(index);
      if (held === undefined) waiting.set(index, [data]);
      else held.push(data);
      return;
    }
    step(data, index);
    admit();
  };
  const closeAll = (): void => {
    while (open !== undefined || waiting.size > 0) {
      close();
      admit();
    }
  };

  const start = (message: JsonObject): void => {
    const reported = readUsage(message["usage"], usage);
    usage = mergeUsage(usage, reported);
    if (started) {
      // A second start comes from a fallback inside the upstream: the reply continues.
      closeAll();
      if (Object.keys(reported).length > 0) {
        events.push({ type: "usage", usage: reported });
      }
      return;
    }
    started = true;
    const id = textIn(message["id"]);
    const model = textIn(message["model"]);
    events.push({
      type: "start",
      ...(id === undefined ? {} : { id }),
      ...(model === undefined ? {} : { model }),
      ...(Object.keys(reported).length === 0 ? {} : { usage: reported }),
    });
    for (const block of arrayOr(message["content"])) {
      if (!isObject(block)) continue;
      startBlock(block, undefined);
      // A block of a whole reply has all its input, even an empty one.
      if (open?.kind === "tool" && block["input"] !== undefined) {
        delta(upstreamJson(block["input"]));
      }
      close();
    }
  };
  /** Passes on why the model refused, as the refusal text that other formats have. */
  const explain = ({ explanation }: JsonObject): void => {
    const text = textIn(explanation);
    if (text === undefined) return;
    events.push(
      { type: "open", kind: "refusal" },
      { type: "delta", text },
      { type: "close" },
    );
  };
  const finish = (data: JsonObject): void => {
    begin();
    const change = objectOr(data["delta"]);
    const raw = textIn(change["stop_reason"]);
    if (raw !== undefined) {
      closeAll();
      finished = true;
      const reason = readStopReason(raw);
      if (reason === "refusal") explain(objectOr(change["stop_details"]));
      const sequence = stringIn(change["stop_sequence"]);
      events.push({
        type: "stop",
        reason: reason === "tool_use" && formatCalls > 0 && calls === 0
          ? "end"
          : reason ?? "other",
        raw,
        ...(reason === undefined ? { failure: unknownEnd(raw) } : {}),
        ...(sequence === undefined ? {} : { sequence }),
      });
    }
    report(data);
  };
  const report = (data: JsonObject): void => {
    const reported = readUsage(data["usage"], usage);
    if (Object.keys(reported).length === 0) return;
    usage = mergeUsage(usage, reported);
    events.push({ type: "usage", usage: reported });
  };
  const fail = (error: ApiError): void => {
    done = true;
    events.push({ type: "error", error });
  };
  const end = (last?: JsonObject): void => {
    if (!started) {
      fail(cutStream());
      return;
    }
    closeAll();
    // Proxies that learn the usage last report it here.
    if (last !== undefined) report(last);
    done = true;
    events.push({ type: "end" });
  };

  const collect = (work: () => void): readonly ReplyEvent[] => {
    if (done) return [];
    events = [];
    work();
    return events;
  };
  return {
    read: (data, name) =>
      collect(() => {
        const type = stringIn(data["type"]) ?? name;
        switch (type) {
          case "message_start":
            return start(objectOr(data["message"]));
          case "content_block_start":
          case "content_block_delta":
          case "content_block_stop":
            return route(data);
          case "message_delta":
            return finish(data);
          case "message_stop":
            return end(data);
          case "error":
            return fail(inBandError(data));
          default:
            // Pings, and types newer than this file. A proxy's error may have no type.
            if (type === undefined && isErrorBody(data)) {
              fail(inBandError(data));
            }
        }
      }),
    end: () => collect(() => finished ? end() : fail(cutStream())),
    fail: (error) => collect(() => fail(error)),
  };
}
