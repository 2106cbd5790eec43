/**
 * Encodes neutral events as the items of a reply and as the frames that report them, in one pass,
 * so that a stream and a whole reply cannot differ. `encode_stream.ts` sends the frames;
 * `encode_reply.ts` reads the reply at the end.
 */
import type { EncodeContext } from "../../dialect.ts";
import type { ApiError } from "../../model/error.ts";
import type { JsonObject } from "../../bytes/json.ts";
import { encodeLogprobs } from "../../families/chat/logprobs.ts";
import { type Citation, urlCitation } from "../../model/citation.ts";
import { replyCallIds } from "../../turns/call_ids.ts";
import {
  type BlockKind,
  mergeUsage,
  type ReplyEvent,
  type StopReason,
  type Usage,
} from "../../model/reply.ts";
import type { Signature } from "../../model/request.ts";
import { FAILED_STATE, replyConfig } from "./reply_config.ts";
import { streamError } from "./error.ts";
import { freeTextReader } from "../../turns/free_text.ts";
import { writeSignature } from "./signatures.ts";
import { encodeIncomplete } from "./stop_reason.ts";
import { toolNames } from "./tool_names.ts";
import { encodeUsage } from "./usage.ts";
import { codeFrames, codeItem } from "./ran_code.ts";
import {
  contentDone,
  itemOf,
  type ItemStatus,
  type OpenItem,
  partOf,
  setDelta,
} from "./open_item.ts";

/** The maximum length of a call id that clients may send back. */
const MAX_CALL_ID = 64;

interface ReplyWriter {
  /** The frames of an event, possibly none. */
  push(event: ReplyEvent): string;
  /** The frames of content that was held back for a signature. */
  flush(): string;
  /** A keep-alive frame. Before the first frames of the reply, those frames instead. */
  ping(): string;
  /** The reply so far; complete after `end`. */
  reply(): JsonObject;
}

/**
 * @param hasFrames false: only the reply is read, and every frame is an empty text
 */
export function replyWriter(
  context: EncodeContext,
  hasFrames = true,
): ReplyWriter {
  const names = toolNames(context.echo ?? {});
  const config = replyConfig(context);
  const output: JsonObject[] = [];
  const callId = replyCallIds("call_", context.idSeed, MAX_CALL_ID);
  let sequence = 0;
  let started = false;
  let done = false;
  let items = 0;
  const kinds = new Set<BlockKind>();
  let usage: Usage | undefined;
  let stop: StopReason | undefined;
  let open: OpenItem | undefined;
  /** The probabilities of tokens whose text has not come yet. */
  let tokens: readonly JsonObject[] = [];
  /**
   * True if the block of the open item has ended. The item stays open until the next event shows
   * whether it was cut short.
   */
  let isToClose = false;
  let result: JsonObject = config;

  const frame = (type: string, fields: JsonObject): string => {
    if (!hasFrames) return "";
    const data = JSON.stringify({ type, ...fields, sequence_number: sequence });
    sequence++;
    return `event: ${type}\ndata: ${data}\n\n`;
  };
  const start = (): string => {
    if (started) return "";
    started = true;
    // While no upstream had answered, another writer may have sent the first frames of this
    // reply.
    sequence = context.opened?.frames ?? 0;
    return sequence > 0 ? "" : opening();
  };
  const opening = (): string =>
    frame("response.created", { response: config }) +
    frame("response.in_progress", { response: config });

  const begin = (item: OpenItem): string => {
    if (item.begun) return "";
    item.begun = true;
    item.index = items++;
    const place = { item_id: item.id, output_index: item.index };
    const added = frame("response.output_item.added", {
      output_index: item.index,
      item: itemOf({ ...item, text: "" }, "in_progress"),
    });
    switch (item.type) {
      case "message": {
        const where = { ...place, content_index: 0 };
        setDelta(
          item,
          item.kind === "refusal"
            ? "response.refusal.delta"
            : "response.output_text.delta",
          where,
          item.kind === "refusal" ? "" : ',"logprobs":',
        );
        return added + frame("response.content_part.added", {
          ...where,
          part: partOf(item.kind, "", [], []),
        });
      }
      case "reasoning":
        setDelta(
          item,
          "response.reasoning_summary_text.delta",
          { ...place, summary_index: 0 },
          "",
        );
        return added;
      case "function_call":
        setDelta(item, "response.function_call_arguments.delta", place, "");
        return added;
      case "custom_tool_call":
        setDelta(item, "response.custom_tool_call_input.delta", place, "");
        return added;
      case "tool_search_call":
        return added;
    }
  };
  const delta = (item: OpenItem, fragment: string): string => {
    // Arguments of white space alone become an empty object, so leading white space is never sent.
    const text = item.type === "function_call" && item.text === ""
      ? fragment.trimStart()
      : fragment;
    if (text === "") return "";
    let before = begin(item);
    if (item.type === "reasoning" && !item.hasPart) {
      item.hasPart = true;
      before += frame("response.reasoning_summary_part.added", {
        item_id: item.id,
        output_index: item.index,
        summary_index: 0,
        part: { type: "summary_text", text: "" },
      });
    }
    item.text += text;
    // Its frames have no arguments before the last one.
    if (item.type === "tool_search_call") return before;
    const logprobs = item.kind === "text" ? takeTokens(item) : "";
    if (!hasFrames) return "";
    return `${before}${item.prefix}${
      JSON.stringify(text)
    }${item.suffix}${logprobs},"sequence_number":${sequence++}}\n\n`;
  };
  const takeTokens = (item: OpenItem): string => {
    if (tokens.length === 0) return "[]";
    item.logprobs.push(...tokens);
    const written = JSON.stringify(tokens);
    tokens = [];
    return written;
  };
  /** Adds arguments to a call. The first fragment is held back, see {@linkcode OpenItem.held}. */
  const callDelta = (item: OpenItem, text: string): string => {
    if (text === "") return "";
    if (!item.begun && item.held === "") {
      item.held = text;
      return "";
    }
    return release(item) + delta(item, text);
  };
  const release = (item: OpenItem): string => {
    const { held } = item;
    item.held = "";
    return begin(item) + delta(item, held);
  };
  const cite = (item: OpenItem, citation: Citation): string => {
    if (item.kind !== "text" || !item.begun) return "";
    const annotation = {
      type: "url_citation",
      ...urlCitation(citation, 0, item.text.length),
    };
    item.annotations.push(annotation);
    return frame("response.output_text.annotation.added", {
      item_id: item.id,
      output_index: item.index,
      content_index: 0,
      annotation_index: item.annotations.length - 1,
      annotation,
    });
  };
  const sign = (item: OpenItem, signature: Signature): string => {
    if (item.type === "reasoning") {
      item.signature = signature;
      return begin(item);
    }
    if (!item.begun && item.callId !== undefined) {
      return carrier(signature, "own") + release(item);
    }
    item.signature = signature;
    return "";
  };
  /** Writes an item that holds only a signature, for a call that cannot carry one itself. */
  const carrier = (
    signature: Signature,
    place: "own" | "call before",
  ): string => {
    const value = writeSignature(signature, place);
    if (signature.from === "responses") return "";
    const index = items++;
    const item = {
      id: itemId("rs", index),
      type: "reasoning",
      summary: [],
      encrypted_content: value,
    };
    output.push(item);
    return frame("response.output_item.added", { output_index: index, item }) +
      frame("response.output_item.done", { output_index: index, item });
  };
  const itemId = (prefix: string, n: number): string =>
    `${prefix}_${context.idSeed}${n.toString(36)}`;

  const close = (status: ItemStatus): string => {
    const item = open;
    open = undefined;
    isToClose = false;
    if (item === undefined) return "";
    const isCall = item.callId !== undefined;
    let frames = isCall ? release(item) : "";
    // Arguments that were cut short stay incomplete, so that no client runs a call that the model
    // did not finish.
    if (status === "completed") {
      if (item.freeText !== undefined) {
        frames += delta(item, item.freeText.end());
      } else if (item.type === "function_call" && item.text === "") {
        frames += delta(item, "{}");
      }
    }
    // A text without content and reasoning without text or signature produce no item.
    if (!item.begun) return frames;
    if (item.kind === "text") takeTokens(item);
    frames += contentDone(item, frame);
    const whole = itemOf(item, status);
    output.push(whole);
    frames += frame("response.output_item.done", {
      output_index: item.index,
      item: whole,
    });
    return isCall && item.signature !== undefined
      ? frames + carrier(item.signature, "call before")
      : frames;
  };
  const openItem = (event: ReplyEvent & { type: "open" }): OpenItem => {
    const n = items;
    kinds.add(event.kind);
    const common = {
      kind: event.kind,
      index: 0,
      begun: false,
      text: "",
      prefix: "",
      suffix: "",
      held: "",
      hasPart: false,
      annotations: [],
      logprobs: [],
    };
    switch (event.kind) {
      case "text":
      case "refusal":
        return {
          ...common,
          type: "message",
          id: itemId("msg", n),
          ...(event.phase === undefined ? {} : { phase: event.phase }),
        };
      case "reasoning":
        return { ...common, type: "reasoning", id: itemId("rs", n) };
      case "tool": {
        const tool = names.tool(event.name) ??
          { name: event.name, freeText: false };
        return {
          ...common,
          type: tool.isSearch === true
            ? "tool_search_call"
            : tool.freeText
            ? "custom_tool_call"
            : "function_call",
          id: itemId(
            tool.isSearch === true ? "tsc" : tool.freeText ? "ctc" : "fc",
            n,
          ),
          callId: callId(event.id),
          tool,
          ...(tool.freeText ? { freeText: freeTextReader() } : {}),
        };
      }
    }
  };
  /** The status of the item that was open when the model stopped. */
  const lastStatus = (): ItemStatus =>
    stop !== undefined && encodeIncomplete(stop, kinds) !== null
      ? "incomplete"
      : "completed";
  const end = (): string => {
    const before = start() + close(lastStatus());
    const reason = encodeIncomplete(stop ?? "end", kinds);
    result = {
      ...config,
      status: reason === null ? "completed" : "incomplete",
      completed_at: reason === null ? context.endedAt?.() ?? null : null,
      incomplete_details: reason === null ? null : { reason },
      output,
      usage: encodeUsage(usage ?? {}, context.inputEstimate),
    };
    const type = reason === null ? "response.completed" : "response.incomplete";
    return before + frame(type, { response: result });
  };
  const fail = (error: ApiError): string => {
    const before = start() + (isToClose ? close("completed") : "");
    // An item that was cut short gets no `done` frame: clients run a call as soon as they receive
    // one, whatever its status.
    const cut = open?.begun === true ? [itemOf(open, "incomplete")] : [];
    open = undefined;
    const { event, ofReply } = streamError(error, context.requestId);
    result = {
      ...config,
      ...FAILED_STATE,
      error: ofReply,
      output: [...output, ...cut],
      usage: usage === undefined
        ? null
        : encodeUsage(usage, context.inputEstimate),
    };
    return before + frame("error", event) +
      frame("response.failed", { response: result });
  };

  return {
    push(event) {
      if (done) return "";
      switch (event.type) {
        case "start":
          if (event.usage !== undefined) {
            usage = mergeUsage(usage ?? {}, event.usage);
          }
          return start();
        case "open": {
          const before = start() + close("completed");
          open = openItem(event);
          return before;
        }
        case "delta":
          if (open === undefined) return "";
          if (open.callId === undefined) return delta(open, event.text);
          return callDelta(open, open.freeText?.push(event.text) ?? event.text);
        case "sign":
          return open === undefined ? "" : sign(open, event.signature);
        case "cite":
          return open === undefined ? "" : cite(open, event.citation);
        case "probabilities":
          tokens = [...tokens, ...encodeLogprobs(event.tokens, [])];
          return "";
        case "code": {
          const before = start() + close("completed");
          const at = items++;
          const item = codeItem(event, context.idSeed, at);
          output.push(item);
          return before + codeFrames(item, at, frame);
        }
        case "search":
        case "lost":
          return "";
        case "close":
          isToClose = true;
          return "";
        case "usage":
          usage = mergeUsage(usage ?? {}, event.usage);
          return "";
        case "stop":
          stop = event.reason;
          return "";
        case "end":
          done = true;
          return end();
        case "error":
          done = true;
          return fail(event.error);
      }
    },
    flush: () => open?.callId === undefined ? "" : release(open),
    ping() {
      if (done) return "";
      if (started) {
        const held = open?.callId === undefined ? "" : release(open);
        return held + frame("keepalive", {});
      }
      // No upstream has answered yet, and the reply may be written by another writer.
      const { opened: shared } = context;
      sequence = shared?.frames ?? 0;
      const frames = sequence === 0 ? opening() : frame("keepalive", {});
      if (shared !== undefined) shared.frames = sequence;
      else started = true;
      return frames;
    },
    reply: () => result,
  };
}
