/**
 * The changes to requests and whole replies that pass through unchanged otherwise. The upstream
 * never stores anything, whatever the client requests, and therefore has to send the signatures
 * of reasoning. Streams are handled in `stream_ending.ts`.
 */
import type { Capabilities } from "../../model/capabilities.ts";
import type { CleanRequest, EncodeContext } from "../../dialect.ts";
import { type CallIds, idsInstead } from "../../turns/call_ids.ts";
import {
  arrayOr,
  isObject,
  type JsonObject,
  objectOr,
  textIn,
} from "../../bytes/json.ts";
import { replyId, storedState } from "./reply_config.ts";
import { carriedValue, withoutCarried } from "../../turns/carried_signature.ts";
import { isRanCode } from "../../turns/ran_code.ts";
import { isTagged } from "../../turns/signature_tags.ts";

/** The value of `include` that requests the signatures of reasoning. */
export const ENCRYPTED_REASONING = "reasoning.encrypted_content";

/** The longest id of an item; a few upstreams send longer ones, and others then refuse them. */
const MAX_ITEM_ID = 64;

/** Names a reply by the gateway's id of it, which no upstream knows. */
const COMPARISON = "comparison_response_id";

/**
 * A copy of the input without reasoning of other formats and code that ran there, without unsigned
 * reasoning where
 * the upstream signs its own, elsewhere without its ids, since no upstream stores the items, without
 * ids that are too long and texts' signatures of another format, and with an id of its own for each
 * call; and the cache options without a reply to compare with. Undefined if the request has none of
 * them.
 */
export function cleanRequest(
  body: JsonObject,
  can: Capabilities,
): CleanRequest | undefined {
  const input = cleanInput(body["input"], can);
  const { [COMPARISON]: compared, ...options } = objectOr(
    body["prompt_cache_options"],
  );
  const isCompared = textIn(compared) !== undefined;
  if (input === undefined && !isCompared) return undefined;
  return {
    fields: {
      ...(input === undefined ? {} : { input }),
      ...(isCompared ? { prompt_cache_options: options } : {}),
    },
    removed: isCompared ? [`prompt_cache_options.${COMPARISON}`] : [],
  };
}

function cleanInput(
  input: unknown,
  { encryptedReasoning }: Capabilities,
): readonly unknown[] | undefined {
  if (!Array.isArray(input)) return undefined;
  const isForeign = (item: unknown): boolean =>
    isForeignItem(item) || (encryptedReasoning && isUnproven(item));
  const ids = idsInstead(callsIn(input));
  if (
    ids === undefined &&
    !input.some((item) =>
      isForeign(item) || hasUselessId(item) || carriedValue(item) !== undefined
    )
  ) return undefined;
  const kept = input.filter((item) => !isForeign(item)).map(withoutId).map(
    withoutCarried,
  );
  return ids === undefined ? kept : kept.map((item) => renameIds(item, ids));
}

function* callsIn(input: readonly unknown[]): Generator<string> {
  for (const item of input) {
    const id = callIdOf(item);
    if (id !== undefined && !isOutput(item)) yield id;
  }
}

function callIdOf(item: unknown): string | undefined {
  return isObject(item) ? textIn(item["call_id"]) : undefined;
}

function isOutput(item: unknown): boolean {
  return textIn(objectOr(item)["type"])?.endsWith("_output") === true;
}

function renameIds(item: unknown, ids: CallIds): unknown {
  const id = callIdOf(item);
  if (!isObject(item) || id === undefined) return item;
  return {
    ...item,
    call_id: isOutput(item) ? ids.ofResult(id) : ids.ofCall(id),
  };
}

function isForeignItem(item: unknown): boolean {
  return isRanCode(item) ||
    (isObject(item) && item["type"] === "reasoning" &&
      isTagged(item["encrypted_content"]));
}

/** Reasoning that its model did not sign: another one's, or the client's. */
function isUnproven(item: unknown): boolean {
  return isObject(item) && item["type"] === "reasoning" &&
    textIn(item["encrypted_content"]) === undefined;
}

/** Whether no upstream can use the item's id. */
function hasUselessId(item: unknown): item is JsonObject {
  if (!isObject(item) || item["id"] === undefined) return false;
  return isUnproven(item) || (textIn(item["id"])?.length ?? 0) > MAX_ITEM_ID;
}

function withoutId(item: unknown): unknown {
  if (!hasUselessId(item)) return item;
  const { id: _, ...rest } = item;
  return rest;
}

/**
 * A copy of the input without signed reasoning and without item ids. An item with an id would be
 * refused if the reasoning before it is missing.
 */
export function withoutProofs(body: JsonObject): JsonObject {
  const input = body["input"];
  if (!Array.isArray(input)) return {};
  const kept = input.filter((item) =>
    !isObject(item) || item["type"] !== "reasoning" ||
    textIn(item["encrypted_content"]) === undefined
  );
  return {
    input: kept.map((item: unknown) => {
      if (!isObject(item)) return item;
      const { id: _, ...rest } = item;
      return rest;
    }),
  };
}

/** Top-level fields to set in the client's request beside `model`. */
export function passThroughFields(
  body: JsonObject,
  can: Capabilities,
): Readonly<Record<string, unknown>> {
  const include = arrayOr(body["include"]);
  const isAsked = !can.encryptedReasoning ||
    include.includes(ENCRYPTED_REASONING);
  return {
    ...(body["store"] === false ? {} : { store: false }),
    ...(isAsked ? {} : { include: [...include, ENCRYPTED_REASONING] }),
  };
}

/** Fields of a reply that the gateway replaces. */
export function replyFields(
  context: EncodeContext,
): Readonly<Record<string, unknown>> {
  return {
    id: replyId(context),
    model: context.model,
    ...storedState(context),
  };
}
