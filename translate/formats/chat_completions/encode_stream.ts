/**
 * Encodes events as frames for a client. The finish reason, the usage chunk and `[DONE]` are
 * written only at `end`. An error is the last frame, without a `[DONE]` after it.
 */
import type { EncodeContext, StreamEncoder } from "../../dialect.ts";
import { compact } from "../../bytes/compact.ts";
import type { JsonObject } from "../../bytes/json.ts";
import { type FreeTextReader, freeTextReader } from "../../turns/free_text.ts";
import { replyCallIds } from "../../turns/call_ids.ts";
import {
  type BlockKind,
  mergeUsage,
  type ReplyEvent,
  settleStop,
  type StopReason,
  type Usage,
} from "../../model/reply.ts";
import type { Signature } from "../../model/request.ts";
import type { TokenProbability } from "../../model/token_probability.ts";
import { dataFrame } from "../../stream/sse.ts";
import { extraContent } from "../../turns/carried_signature.ts";
import { detailWriter, writeDetails } from "./signatures.ts";
import { streamError } from "./error.ts";
import type { Citation } from "../../model/citation.ts";
import { annotation, replyId } from "./encode_reply.ts";
import { encodeLogprobs } from "../../families/chat/logprobs.ts";
import { encodeFinishReason } from "./stop_reason.ts";
import { encodeUsage } from "./usage.ts";

/** The field of a delta that holds each kind of text block. */
const PROSE_FIELDS: Readonly<Record<Exclude<BlockKind, "tool">, string>> = {
  text: "content",
  reasoning: "reasoning_content",
  refusal: "refusal",
};

type OpenBlock =
  | { readonly kind: "text" | "refusal" }
  | {
    readonly kind: "reasoning";
    readonly texts: string[];
  }
  | {
    readonly kind: "tool";
    readonly index: number;
    readonly id: string;
    readonly name: string;
    /**
     * False while the start of the call is held back for a signature that may follow immediately.
     */
    started: boolean;
    /** Whether any argument text has been written. */
    fed: boolean;
    /** Extracts the text from the arguments of a free-text call. */
    readonly freeText?: FreeTextReader;
  };

type OpenTool = OpenBlock & { readonly kind: "tool" };

export function streamEncoder(context: EncodeContext): StreamEncoder {
  const chunkTail = context.wantUsage ? `,"usage":null}` : "}";
  const tail = `,"logprobs":null,"finish_reason":null}]${chunkTail}`;
  let head = "";
  let open: OpenBlock | undefined;
  let tools = 0;
  const callId = replyCallIds("call_", context.idSeed);
  const kinds = new Set<BlockKind>();
  const details = detailWriter();
  /** Entries of `reasoning_details` so far. */
  const signed: JsonObject[] = [];
  /** Sent in one list before the end: the official library keeps the last list of a stream. */
  const annotations: JsonObject[] = [];
  /** The length of the text so far, and of that before the open block. */
  let contentLength = 0;
  let lengthBefore = 0;
  let usage: Usage = {};
  let reason: StopReason = "end";
  let ended = false;
  /** Sent before the end: the official library keeps the last `extra_content` of a stream. */
  let textSignature: Signature | undefined;

  /** Writes the first chunk. All chunks share its id, since clients merge chunks by id. */
  const begin = (id: string | undefined): string => {
    if (head !== "") return "";
    head = JSON.stringify({
      id: replyId(id, context),
      object: "chat.completion.chunk",
      created: context.created,
      model: context.model,
    }).slice(0, -1);
    return chunk('{"role":"assistant","content":""}');
  };
  const chunk = (delta: string): string =>
    `data: ${head},"choices":[{"index":0,"delta":${delta}${tail}\n\n`;
  const probabilities = (tokens: readonly TokenProbability[]): string => {
    const logprobs = JSON.stringify({
      content: encodeLogprobs(tokens, null),
      refusal: null,
    });
    return `data: ${head},"choices":[{"index":0,"delta":{"content":""},"logprobs":${logprobs},"finish_reason":null}]${chunkTail}\n\n`;
  };
  const toolChunk = (fields: JsonObject): string =>
    chunk(JSON.stringify({ tool_calls: [fields] }));
  const argumentsChunk = (tool: OpenTool, text: string): string => {
    if (tool.freeText !== undefined) {
      return text === ""
        ? ""
        : toolChunk({ index: tool.index, custom: { input: text } });
    }
    if (!context.legacyFunctions) {
      return chunk(
        `{"tool_calls":[{"index":${tool.index},"function":{"arguments":${
          JSON.stringify(text)
        }}}]}`,
      );
    }
    // The deprecated form allows one call per reply.
    return tool.index > 0
      ? ""
      : chunk(`{"function_call":{"arguments":${JSON.stringify(text)}}}`);
  };
  const startTool = (tool: OpenTool, signature?: Signature): string => {
    const extra = extraContent(signature, "tagged");
    const wasStarted = tool.started;
    tool.started = true;
    if (context.legacyFunctions) {
      return wasStarted || tool.index > 0 ? "" : chunk(
        JSON.stringify({ function_call: { name: tool.name, arguments: "" } }),
      );
    }
    // Strict clients require `function` in every delta of a call, including one that only carries
    // the signature.
    if (wasStarted) {
      return extra === undefined ? "" : toolChunk({
        index: tool.index,
        ...(tool.freeText === undefined
          ? { function: { arguments: "" } }
          : { custom: { input: "" } }),
        extra_content: extra,
      });
    }
    return toolChunk(compact({
      index: tool.index,
      id: tool.id,
      ...(tool.freeText === undefined
        ? {
          type: "function",
          function: { name: tool.name, arguments: "" },
        }
        : { type: "custom", custom: { name: tool.name, input: "" } }),
      extra_content: extra,
    }));
  };
  const delta = (text: string): string => {
    if (open === undefined || text === "") return "";
    if (open.kind !== "tool") {
      if (open.kind === "reasoning") open.texts.push(text);
      else if (open.kind === "text") {
        details.text(text);
        contentLength += text.length;
      }
      return chunk(`{"${PROSE_FIELDS[open.kind]}":${JSON.stringify(text)}}`);
    }
    open.fed ||= text.trim() !== "";
    return startTool(open) +
      argumentsChunk(open, open.freeText?.push(text) ?? text);
  };
  const sign = (signature: Signature): string => {
    if (open?.kind === "tool") return startTool(open, signature);
    if (open?.kind === "text") textSignature = signature;
    if (open?.kind !== "reasoning") return "";
    const detail = details.detail(open.texts.join(""), signature);
    signed.push(detail);
    return chunk(JSON.stringify({ reasoning_details: [detail] }));
  };
  const cite = (citation: Citation): void => {
    if (open?.kind !== "text") return;
    const length = contentLength - lengthBefore;
    annotations.push(annotation(citation, lengthBefore, length));
  };
  const lists = (): string => {
    const ofText = extraContent(textSignature, "tagged");
    const fields = compact({
      annotations: annotations.length > 0 ? annotations : undefined,
      extra_content: signed.length > 1 || ofText !== undefined
        ? { ...(signed.length > 1 ? writeDetails(signed) : {}), ...ofText }
        : undefined,
    });
    return Object.entries(fields).map(([name, value]) =>
      chunk(JSON.stringify({ [name]: value }))
    ).join("");
  };
  const close = (): string => {
    const block = open;
    open = undefined;
    if (block?.kind !== "tool") return "";
    const rest = block.freeText?.end() ?? (block.fed ? "" : "{}");
    return startTool(block) +
      (rest === "" ? "" : argumentsChunk(block, rest));
  };
  const openBlock = (
    event: ReplyEvent & { readonly type: "open" },
  ): OpenBlock => {
    kinds.add(event.kind);
    if (event.kind !== "reasoning") details.began(event.kind);
    lengthBefore = contentLength;
    switch (event.kind) {
      case "text":
      case "refusal":
        return { kind: event.kind };
      case "reasoning":
        return { kind: "reasoning", texts: [] };
      case "tool": {
        const index = tools++;
        const isFreeText = context.freeTextTools?.has(event.name) === true;
        return {
          kind: "tool",
          index,
          id: callId(event.id),
          name: event.name,
          started: false,
          fed: false,
          ...(isFreeText ? { freeText: freeTextReader() } : {}),
        };
      }
    }
  };
  const end = (): string => {
    const settled = settleStop(reason, kinds);
    const word = encodeFinishReason(settled, context.legacyFunctions);
    const last =
      `data: ${head},"choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"${word}"}]${chunkTail}\n\n`;
    const bill = context.wantUsage
      ? `data: ${head},"choices":[],"usage":${
        JSON.stringify(encodeUsage(usage, context.inputEstimate))
      }}\n\n`
      : "";
    return `${lists()}${last}${bill}${dataFrame("[DONE]")}`;
  };
  return {
    push(event) {
      if (ended) return "";
      switch (event.type) {
        case "start":
          usage = mergeUsage(usage, event.usage ?? {});
          return begin(event.id);
        case "open": {
          const before = begin(undefined) + close();
          open = openBlock(event);
          return before;
        }
        case "delta":
          return delta(event.text);
        case "sign":
          return sign(event.signature);
        case "cite":
          cite(event.citation);
          return "";
        case "probabilities":
          return begin(undefined) + probabilities(event.tokens);
        case "search":
        case "code":
        case "lost":
          return "";
        case "close":
          return close();
        case "usage":
          usage = mergeUsage(usage, event.usage);
          return "";
        case "stop":
          reason = event.reason;
          return "";
        case "end": {
          const before = begin(undefined) + close();
          ended = true;
          return before + end();
        }
        case "error":
          ended = true;
          return dataFrame(
            JSON.stringify(streamError(event.error, context.requestId)),
          );
      }
    },
    ping() {
      if (head === "" || ended) return "";
      const held = open?.kind === "tool" ? startTool(open) : "";
      return `${held}: keep-alive\n\n`;
    },
  };
}
