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
  type Reply,
  type ReplyEvent,
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
import { signatureField, thinkingSignature } from "./signatures.ts";
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
  const content = withoutBlanks(inOrder(reply)).flatMap((block) =>
    "queries" in block
      ? searchBlocks(searchId(undefined), block)
      : block.kind === "tool"
      ? [callBlock(
        callId(block.id),
        block.name,
        callInput(block.text).input,
        block.signature,
      )]
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

/** Blocks and searches as the upstream made them. */
function inOrder(
  { blocks, searches = [] }: Reply,
): readonly (Block | WebSearched)[] {
  const kept: (Block | WebSearched)[] = [...blocks];
  for (const search of searches.toReversed()) {
    kept.splice(search.after, 0, search);
  }
  return kept;
}

function searchBlocks(id: string, search: WebSearched): readonly JsonObject[] {
  return [searchCall(id, searchInput(search)), searchResult(id, search)];
}

/**
 * The blocks without blank texts, which upstreams would refuse in the next request: they become the
 * beginning of the next text, if there is one before a call.
 */
function withoutBlanks(
  blocks: readonly (Block | WebSearched)[],
): readonly (Block | WebSearched)[] {
  const kept: (Block | WebSearched)[] = [];
  let blanks = "";
  for (const block of blocks) {
    if ("queries" in block) {
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
    return [textBlock(text, block.citations)];
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
    ...signatureField(signature),
  };
}
