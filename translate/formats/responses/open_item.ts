/**
 * The state of one item of a reply while `reply_writer.ts` writes it, and its JSON form in frames
 * and in the whole reply.
 */
import { type JsonObject, objectOr, parseJson } from "../../bytes/json.ts";
import type { BlockKind } from "../../model/reply.ts";
import type { Signature } from "../../model/request.ts";
import { extraField } from "../../turns/carried_signature.ts";
import type { FreeTextReader } from "../../turns/free_text.ts";
import { writeSignature } from "./signatures.ts";
import type { CalledTool } from "./tool_names.ts";

/** An item that is being written. */
export interface OpenItem {
  /** The kind of block that the item holds. */
  readonly kind: BlockKind;
  /** The item's id, made by the gateway. */
  readonly id: string;
  /** The `type` of the item. */
  readonly type:
    | "message"
    | "reasoning"
    | "function_call"
    | "custom_tool_call"
    | "tool_search_call";
  /** Its `output_index`. Assigned when the item begins, since an empty item is never written. */
  index: number;
  /** Whether its first frame was written. */
  begun: boolean;
  /** The text so far: text, reasoning summary, arguments or free-text input. */
  text: string;
  /** The beginning of each delta frame, up to the text as a JSON string. */
  prefix: string;
  /** The part of each delta frame between the text and the sequence number. */
  suffix: string;
  /**
   * A call's first delta, held back for a signature that may follow immediately: the signature is
   * written in an item before the call.
   */
  held: string;
  /** Whether a part of the reasoning item was written. */
  hasPart: boolean;
  /** The signature, written with the complete item. */
  signature?: Signature;
  /** The sources of a message's text. */
  readonly annotations: JsonObject[];
  /** The probabilities of a message's tokens, as they were written with its text. */
  readonly logprobs: JsonObject[];
  /** The `phase` of a message. */
  readonly phase?: string;
  /** The id that pairs a call with its output. */
  readonly callId?: string;
  readonly tool?: CalledTool;
  /** Extracts the text from the arguments of a free-text call. */
  readonly freeText?: FreeTextReader;
}

export type ItemStatus = "in_progress" | "completed" | "incomplete";

/** Sets the beginning and the end of the item's delta frames. */
export function setDelta(
  item: OpenItem,
  type: string,
  place: JsonObject,
  suffix: string,
): void {
  item.prefix = `event: ${type}\ndata: ${
    JSON.stringify({ type, ...place }).slice(0, -1)
  },"delta":`;
  item.suffix = suffix;
}

/** The single part of a message. */
export function partOf(
  kind: BlockKind,
  text: string,
  annotations: readonly JsonObject[],
  logprobs: readonly JsonObject[],
): JsonObject {
  return kind === "refusal"
    ? { type: "refusal", refusal: text }
    : { type: "output_text", text, annotations, logprobs };
}

/** The item as JSON, for frames and for the whole reply. */
export function itemOf(item: OpenItem, status: ItemStatus): JsonObject {
  const { id, type, text, tool } = item;
  switch (type) {
    case "message":
      return {
        id,
        type,
        status,
        role: "assistant",
        ...(item.phase === undefined ? {} : { phase: item.phase }),
        content: status === "in_progress"
          ? []
          : [partOf(item.kind, text, item.annotations, item.logprobs)],
        ...extraField(item.signature),
      };
    case "reasoning": {
      const value = item.signature === undefined
        ? undefined
        : writeSignature(item.signature);
      return {
        id,
        type,
        summary: text === "" ? [] : [{ type: "summary_text", text }],
        ...(value === undefined ? {} : { encrypted_content: value }),
      };
    }
    case "tool_search_call":
      return {
        id,
        type,
        status,
        call_id: item.callId,
        execution: "client",
        arguments: objectOr(parseJson(text)),
      };
    case "function_call":
    case "custom_tool_call":
      return {
        id,
        type,
        status,
        call_id: item.callId,
        name: tool?.name,
        ...(tool?.namespace === undefined ? {} : { namespace: tool.namespace }),
        ...(type === "function_call" ? { arguments: text } : { input: text }),
      };
  }
}

/** The frames that repeat the whole content of an item before the item's own last frame. */
export function contentDone(
  item: OpenItem,
  frame: (type: string, fields: JsonObject) => string,
): string {
  const place = { item_id: item.id, output_index: item.index };
  switch (item.type) {
    case "message": {
      const where = { ...place, content_index: 0 };
      const done = item.kind === "refusal"
        ? frame("response.refusal.done", { ...where, refusal: item.text })
        : frame("response.output_text.done", {
          ...where,
          text: item.text,
          logprobs: item.logprobs,
        });
      const part = partOf(
        item.kind,
        item.text,
        item.annotations,
        item.logprobs,
      );
      return done + frame("response.content_part.done", { ...where, part });
    }
    case "reasoning": {
      if (!item.hasPart) return "";
      const where = { ...place, summary_index: 0 };
      return frame("response.reasoning_summary_text.done", {
        ...where,
        text: item.text,
      }) + frame("response.reasoning_summary_part.done", {
        ...where,
        part: { type: "summary_text", text: item.text },
      });
    }
    case "function_call":
      return frame("response.function_call_arguments.done", {
        ...place,
        arguments: item.text,
      });
    case "custom_tool_call":
      return frame("response.custom_tool_call_input.done", {
        ...place,
        input: item.text,
      });
    case "tool_search_call":
      return "";
  }
}
