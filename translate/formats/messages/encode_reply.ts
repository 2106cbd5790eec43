/**
 * Encodes a whole reply by folding events.
 */
import type { EncodeContext } from "../../dialect.ts";
import { callInput } from "../../families/messages/turns.ts";
import type { JsonObject } from "../../bytes/json.ts";
import { replyCallIds } from "../../turns/call_ids.ts";
import {
  type Block,
  foldReply,
  kindsOf,
  type RanCode,
  type ReplyEvent,
  type ServerBlock,
  settleStop,
  type WebSearched,
} from "../../model/reply.ts";
import type { Signature } from "../../model/request.ts";
import { endFields, replyConfig } from "./reply_config.ts";
import type { Citation } from "../../model/citation.ts";
import { encodeCitation } from "./citations.ts";
import {
  SEARCH_ID,
  searchCall,
  searchInput,
  searchResult,
} from "./search_blocks.ts";
import { thinkingSignature } from "./signatures.ts";
import { ranCodeId } from "../../turns/ran_code.ts";
import { extraField } from "../../turns/carried_signature.ts";
import { WIRE_STOP_REASONS } from "./stop_reason.ts";
import { encodeUsage } from "./usage.ts";

/**
 * Encodes a whole reply.
 *
 * @throws {ApiError} the error that the events contain
 */
export function encodeReply(
  events: Iterable<ReplyEvent>,
  context: EncodeContext,
): JsonObject {
  const reply = foldReply(events);
  const callId = replyCallIds("toolu_", context.idSeed, Infinity);
  const searchId = replyCallIds(SEARCH_ID, context.idSeed);
  const content = withoutBlanks(reply.content ?? reply.blocks).flatMap((
    block,
    at,
  ) =>
    block.kind === "search"
      ? searchBlocks(searchId(undefined), block)
      : block.kind === "tool"
      ? [callBlock(
        callId(block.id),
        block.name,
        callInput(block.text).input,
        block.signature,
      )]
      : block.kind === "code"
      ? codeBlocks(block, ranCodeId("srvtoolu", context.idSeed, at))
      : proseBlock(block)
  );
  const reason = settleStop(
    reply.stop?.reason ?? "end",
    kindsOf(reply.blocks),
  );
  return {
    ...replyConfig(reply.id, context),
    content,
    ...endFields(WIRE_STOP_REASONS[reason], reply.stop?.sequence ?? null),
    usage: encodeUsage(reply.usage, context),
  };
}

/** A search that the upstream made, and what it found. */
export function searchBlocks(
  id: string,
  search: WebSearched,
): readonly [use: JsonObject, result: JsonObject] {
  return [searchCall(id, searchInput(search)), searchResult(id, search)];
}

/**
 * The blocks without blank texts, which upstreams would refuse in the next request: they become the
 * beginning of the next text, if there is one before a call.
 */
function withoutBlanks(
  blocks: readonly (Block | ServerBlock)[],
): readonly (Block | ServerBlock)[] {
  const kept: (Block | ServerBlock)[] = [];
  let blanks = "";
  for (const block of blocks) {
    if (block.kind === "code" || block.kind === "search") {
      kept.push(block);
      continue;
    }
    const isText = block.kind === "text" || block.kind === "refusal";
    if (isText && block.text.trim() === "") {
      blanks += block.text;
      continue;
    }
    kept.push(
      isText && blanks !== ""
        ? { ...block, text: `${blanks}${block.text}` }
        : block,
    );
    if (block.kind !== "reasoning") blanks = "";
  }
  return kept;
}

function proseBlock(block: Block): readonly JsonObject[] {
  if (block.kind === "tool") return [];
  const { text, signature } = block;
  if (block.kind !== "reasoning") {
    return [{ ...textBlock(text, block.citations), ...extraField(signature) }];
  }
  const own = thinkingSignature(signature);
  if (own?.redacted === true && text === "") {
    return [{ type: "redacted_thinking", data: own.value }];
  }
  if (text === "" && own === undefined) return [];
  return [{
    type: "thinking",
    thinking: text,
    signature: own === undefined || own.redacted === true ? "" : own.value,
  }];
}

/** A text block. Its citations are none rather than null, which clients of the AI SDK refuse. */
export function textBlock(
  text: string,
  citations: readonly Citation[] = [],
): JsonObject {
  return { type: "text", text, citations: citations.map(encodeCitation) };
}

/** Code that the upstream ran, and its output: as the vendor's own tool. */
export function codeBlocks(
  { code, output = "", failed }: RanCode,
  id: string,
): readonly [JsonObject, JsonObject] {
  const isFailed = failed === true;
  return [{
    type: "server_tool_use",
    id,
    name: "code_execution",
    input: { code },
    caller: { type: "direct" },
  }, {
    type: "code_execution_tool_result",
    tool_use_id: id,
    content: {
      type: "code_execution_result",
      stdout: isFailed ? "" : output,
      stderr: isFailed ? output : "",
      return_code: isFailed ? 1 : 0,
      content: [],
    },
  }];
}

/** A tool call, made by the model itself. */
export function callBlock(
  id: string,
  name: string,
  input: JsonObject,
  signature: Signature | undefined,
): JsonObject {
  return {
    type: "tool_use",
    id,
    name,
    input,
    caller: { type: "direct" },
    ...extraField(signature),
  };
}
