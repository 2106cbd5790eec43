/**
 * Encodes streams for a client: response objects, each with the parts that are new. Calls are
 * whole, as clients of the format expect. The last object has the finish reason, the sources and
 * the usage; the end of the body ends the stream. `decode_stream.ts` is the inverse.
 */
import type { EncodeContext, StreamEncoder } from "../../dialect.ts";
import type { JsonObject } from "../../bytes/json.ts";
import type { Citation } from "../../model/citation.ts";
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
import { dataFrame } from "../../stream/sse.ts";
import { callPart, codeParts, endFields, replyFields } from "./encode_reply.ts";
import { errorBody } from "./error.ts";
import { type CitedText, encodeGrounding } from "./grounding.ts";
import { encodeLogprobs } from "./logprobs.ts";
import { signatureField, thoughtField } from "./signatures.ts";
import { encodePromptUsage, encodeUsage } from "./usage.ts";

interface OpenBlock {
  readonly kind: BlockKind;
  readonly call?: { readonly id: string; readonly name: string };
  /** The arguments of a call, or the text that sources refer to. */
  readonly texts: string[];
  readonly citations: Citation[];
  signature?: Signature;
}

/**
 * Follows an error. `@google/generative-ai` and what is built on it take the frame of an error for
 * an empty one, so the reply looked complete; what is no frame fails them.
 */
const INCOMPLETE = ": the reply is incomplete\n\n";

const FRAME = 'data: {"candidates":[{"content":{"parts":[';

export function streamEncoder(context: EncodeContext): StreamEncoder {
  let id: string | undefined;
  let tail = "";
  let open: OpenBlock | undefined;
  const callId = replyCallIds("call_", context.idSeed);
  let parts = 0;
  const kinds = new Set<BlockKind>();
  /** For the last object: clients keep the `groundingMetadata` that comes last. */
  const cited: CitedText[] = [];
  let usage: Usage = {};
  let reason: StopReason = "end";
  let ended = false;

  const frame = (part: string, more = ""): string => {
    if (tail === "") {
      const fields = {
        usageMetadata: encodePromptUsage(usage, context.inputEstimate),
        ...replyFields(id, context),
      };
      tail = `,${JSON.stringify(fields).slice(1)}\n\n`;
    }
    return `${FRAME}${part}],"role":"model"},"index":0${more}}]${tail}`;
  };
  const addText = (text: string): string => {
    if (open === undefined || text === "") return "";
    if (open.kind === "reasoning" && context.hidesReasoning === true) return "";
    open.texts.push(text);
    switch (open.kind) {
      case "tool":
        return "";
      case "reasoning":
        return frame(`{"text":${JSON.stringify(text)},"thought":true}`);
      case "text":
      case "refusal":
        return frame(`{"text":${JSON.stringify(text)}}`);
    }
  };
  /** What is written at the end of a block: a call, a signature. */
  const close = (): string => {
    if (open === undefined) return "";
    const { kind, call, texts, citations, signature } = open;
    open = undefined;
    const at = parts;
    if (texts.length > 0 || kind === "tool") parts++;
    if (call !== undefined) {
      return frame(
        JSON.stringify(
          callPart(call.id, call.name, texts.join(""), signature),
        ),
      );
    }
    if (kind === "reasoning") {
      return signature === undefined && texts.length === 0 ? "" : frame(
        JSON.stringify({
          text: "",
          thought: true,
          ...thoughtField(signature),
        }),
      );
    }
    if (citations.length > 0) {
      cited.push({ text: texts.join(""), citations, part: at });
    }
    return signature === undefined
      ? ""
      : frame(JSON.stringify({ text: "", ...signatureField(signature) }));
  };
  const begun = (event: ReplyEvent & { type: "open" }): string => {
    const before = close();
    kinds.add(event.kind);
    open = {
      kind: event.kind,
      ...(event.kind === "tool"
        ? {
          call: {
            id: callId(event.id),
            name: event.name,
          },
        }
        : {}),
      texts: [],
      citations: [],
    };
    return before;
  };
  const end = (): string => {
    const before = close();
    const content: readonly JsonObject[] = kinds.size === 0
      ? []
      : [{ text: "" }];
    return before + dataFrame(JSON.stringify({
      ...endFields(settleStop(reason, kinds), content, encodeGrounding(cited)),
      usageMetadata: encodeUsage(usage, context.inputEstimate),
      ...replyFields(id, context),
    }));
  };
  return {
    push(event) {
      if (ended) return "";
      switch (event.type) {
        case "start":
          id = event.id;
          usage = mergeUsage(usage, event.usage ?? {});
          return "";
        case "open":
          return begun(event);
        case "delta":
          return addText(event.text);
        case "sign":
          if (open !== undefined) open.signature = event.signature;
          return "";
        case "cite":
          open?.citations.push(event.citation);
          return "";
        case "probabilities":
          return frame(
            '{"text":""}',
            `,"logprobsResult":${JSON.stringify(encodeLogprobs(event.tokens))}`,
          );
        case "code":
          return close() +
            codeParts(event).map((part) => frame(JSON.stringify(part)))
              .join("");
        case "search":
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
        case "end":
          ended = true;
          return end();
        case "error":
          ended = true;
          return dataFrame(
            JSON.stringify(errorBody(event.error, context.requestId)),
          ) + INCOMPLETE;
      }
    },
    // The format has no ping: `@google/generative-ai` fails on a comment, and clients refuse an
    // object without parts.
    ping: () => "",
  };
}
