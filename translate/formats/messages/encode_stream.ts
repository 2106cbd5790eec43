/**
 * Encodes streams in the messages format for a client. `decode_stream.ts` is the inverse;
 * `encode_reply.ts` handles whole replies.
 */
import type { EncodeContext, StreamEncoder } from "../../dialect.ts";
import type { JsonObject } from "../../bytes/json.ts";
import { replyCallIds } from "../../turns/call_ids.ts";
import {
  type BlockKind,
  mergeUsage,
  type ReplyEvent,
  settleStop,
  type Usage,
} from "../../model/reply.ts";
import { ranCodeId } from "../../turns/ran_code.ts";
import type { Signature } from "../../model/request.ts";
import { namedFrame } from "../../stream/sse.ts";
import { encodeCitation } from "./citations.ts";
import { errorBody } from "./error.ts";
import {
  callBlock,
  codeBlocks,
  searchBlocks,
  textBlock,
} from "./encode_reply.ts";
import { BETA_END, endFields, replyConfig } from "./reply_config.ts";
import { SEARCH_ID } from "./search_blocks.ts";
import { thinkingSignature } from "./signatures.ts";
import { WIRE_STOP_REASONS } from "./stop_reason.ts";
import { encodeFinalUsage, encodeUsage } from "./usage.ts";

const PING = 'event: ping\ndata: {"type": "ping"}\n\n';

/**
 * The open block. `written` is false while its first frame is held back, until its content is
 * known.
 */
interface OpenBlock {
  readonly kind: "text" | "reasoning" | "tool";
  readonly call?: { readonly id: string; readonly name: string };
  /** The start of every delta's frame; the text follows as a JSON string. */
  prefix: string;
  written: boolean;
  /** Whether there has been any content. */
  fed: boolean;
  /** The first arguments of a call, or blank text, held back with the block's first frame. */
  held: string;
  signature?: Signature;
}

const DELTA_FIELDS: Readonly<Record<OpenBlock["kind"], string>> = {
  text: '"type":"text_delta","text":',
  reasoning: '"type":"thinking_delta","estimated_tokens":null,"thinking":',
  tool: '"type":"input_json_delta","partial_json":',
};

export function streamEncoder(context: EncodeContext): StreamEncoder {
  let started = false;
  let done = false;
  let index = -1;
  const callId = replyCallIds("toolu_", context.idSeed, Infinity);
  const searchId = replyCallIds(SEARCH_ID, context.idSeed);
  const kinds = new Set<BlockKind>();
  let open: OpenBlock | undefined;
  /** Blank text that waits for the next text. */
  let blanks = "";
  let usage: Usage = {};
  let stop: (ReplyEvent & { type: "stop" }) | undefined;

  const frame = (type: string, fields: JsonObject): string =>
    namedFrame(type, JSON.stringify({ type, ...fields }));
  const start = (id?: string): string => {
    if (started) return "";
    started = true;
    // Some clients add the start's output to the end's, so it is 0 whatever the upstream reported.
    const { output: _, reasoning: __, ...prompt } = usage;
    return frame("message_start", {
      message: {
        ...replyConfig(id, context),
        usage: encodeUsage(prompt, context),
      },
    });
  };
  const blockStart = (block: OpenBlock, content_block: JsonObject): string => {
    block.written = true;
    index++;
    block.prefix =
      `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":{${
        DELTA_FIELDS[block.kind]
      }`;
    return frame("content_block_start", { index, content_block });
  };
  const more = (block: OpenBlock, text: string): string =>
    text === "" ? "" : `${block.prefix}${JSON.stringify(text)}}}\n\n`;
  /** Writes the held-back frames of the open block, if there are any. */
  const release = (): string => {
    if (open === undefined || open.written) return "";
    if (open.call !== undefined) {
      const { id, name } = open.call;
      return blockStart(open, callBlock(id, name, {}, open.signature)) +
        more(open, open.held);
    }
    return open.kind === "text"
      ? blockStart(open, textBlock("")) + more(open, open.held)
      : blockStart(open, { type: "thinking", thinking: "", signature: "" });
  };
  const close = (): string => {
    if (open === undefined) return "";
    const block = open;
    const own = block.kind === "reasoning"
      ? thinkingSignature(block.signature)
      : undefined;
    let out = "";
    if (!block.written) {
      if (block.kind === "text") blanks += block.held;
      else if (block.kind === "tool") out += release();
      else if (own?.redacted === true) {
        out += blockStart(block, {
          type: "redacted_thinking",
          data: own.value,
        });
      } else if (own !== undefined) out += release();
    }
    open = undefined;
    if (!block.written) return out;
    if (own !== undefined && own.redacted !== true) {
      out += frame("content_block_delta", {
        index,
        delta: { type: "signature_delta", signature: own.value },
      });
    }
    return out + frame("content_block_stop", { index });
  };

  const openBlock = (event: ReplyEvent & { type: "open" }): string => {
    const out = close();
    kinds.add(event.kind);
    const kind = event.kind === "refusal" ? "text" : event.kind;
    open = {
      kind,
      ...(event.kind === "tool"
        ? { call: { id: callId(event.id), name: event.name } }
        : {}),
      prefix: "",
      written: false,
      fed: false,
      held: kind === "text" ? blanks : "",
    };
    if (kind !== "reasoning") blanks = "";
    // A call is held back until its second delta: a signature may follow, and only the first frame
    // has a field for it. Reasoning is held back until there is text: without any, the block may be
    // redacted or empty. Text is held back while it is blank: vendors refuse a block of nothing else
    // in the next request.
    return out;
  };
  const addText = (given: string): string => {
    if (open === undefined) return "";
    // Clients parse what they receive as JSON, and blank text is not JSON.
    const text = open.kind === "tool" && !open.fed ? given.trimStart() : given;
    if (text === "") return "";
    open.fed = true;
    if (!open.written) {
      const isHeld = open.kind === "tool"
        ? open.held === ""
        : open.kind === "text" && text.trim() === "";
      if (isHeld) {
        open.held += text;
        return "";
      }
    }
    return release() + more(open, text);
  };
  /** A call that the server ran, and its result; the input comes in deltas, as other calls'. */
  const writeRun = (
    [use, result]: readonly [use: JsonObject, result: JsonObject],
  ): string => {
    const block = (content_block: JsonObject, delta?: JsonObject): string =>
      frame("content_block_start", { index: ++index, content_block }) +
      (delta === undefined
        ? ""
        : frame("content_block_delta", { index, delta })) +
      frame("content_block_stop", { index });
    return block({ ...use, input: {} }, {
      type: "input_json_delta",
      partial_json: JSON.stringify(use["input"]),
    }) + block(result);
  };
  const end = (): string => {
    const reason = settleStop(stop?.reason ?? "end", kinds);
    return start() + close() + frame("message_delta", {
      delta: endFields(WIRE_STOP_REASONS[reason], stop?.sequence ?? null),
      ...BETA_END,
      usage: encodeFinalUsage(usage),
    }) + frame("message_stop", {});
  };

  return {
    push(event) {
      if (done) return "";
      switch (event.type) {
        case "start":
          usage = mergeUsage(usage, event.usage ?? {});
          return start(event.id);
        case "open":
          return start() + openBlock(event);
        case "delta":
          return addText(event.text);
        case "sign":
          if (open === undefined) return "";
          open.signature = event.signature;
          return open.kind === "tool" ? release() : "";
        case "cite":
          return open?.kind === "text"
            ? frame("content_block_delta", {
              index,
              delta: {
                type: "citations_delta",
                citation: encodeCitation(event.citation),
              },
            })
            : "";
        case "code":
          return start() + close() + writeRun(
            codeBlocks(event, ranCodeId("srvtoolu", context.idSeed, index + 1)),
          );
        case "probabilities":
        case "lost":
          return "";
        case "close":
          return close();
        case "search":
          return start() + close() +
            writeRun(searchBlocks(searchId(undefined), event));
        case "usage":
          usage = mergeUsage(usage, event.usage);
          return "";
        case "stop":
          stop = event;
          return "";
        case "end":
          done = true;
          return end();
        case "error":
          done = true;
          return namedFrame(
            "error",
            JSON.stringify(errorBody(event.error, context.requestId)),
          );
      }
    },
    flush: () => open?.kind === "tool" ? release() : "",
    ping() {
      if (!started || done) return "";
      return open?.kind === "tool" ? release() + PING : PING;
    },
  };
}
