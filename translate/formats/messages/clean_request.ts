/**
 * What is removed from a passed-through request: what the gateway's own replies added to its
 * conversation, because upstreams of the messages format refuse it, and what the model does not
 * take.
 */
import type { CleanRequest } from "../../dialect.ts";
import {
  arrayOr,
  isObject,
  type JsonObject,
  objectOr,
  stringIn,
} from "../../bytes/json.ts";
import { type CallIds, idsInstead } from "../../turns/call_ids.ts";
import { isOwnCitation } from "./citations.ts";
import { isOwnSearch } from "./search_blocks.ts";
import { carriedValue, withoutCarried } from "../../turns/carried_signature.ts";
import { isRanCode } from "../../turns/ran_code.ts";
import { fittedThinking } from "./encode_reasoning.ts";
import type { Capabilities } from "../../model/capabilities.ts";
import { isTagged } from "../../turns/signature_tags.ts";

/** The path that is reported for removed reasoning that the gateway did not mark. */
const THINKING = "messages[].content[].thinking";

/**
 * The messages without other dialects' signatures, citations and code that ran, without unsigned
 * reasoning and with an id of its own for each call; undefined where there is nothing to change. An empty
 * signature is the gateway's own mark; removed reasoning without any signature is reported, because
 * it may be the client's.
 */
export function cleanRequest(
  body: JsonObject,
  can: Capabilities,
): CleanRequest | undefined {
  const conversation = cleanConversation(body);
  const kept = conversation?.fields["messages"] ?? body["messages"];
  const fitted = fittedThinking(body, can);
  const removed = [...conversation?.removed ?? [], ...fitted.removed];
  const fields = { ...conversation?.fields, ...fitted.fields };
  if (mustNotThink({ ...body, ...fields }, arrayOr(kept))) {
    return {
      fields: { ...fields, thinking: { type: "disabled" } },
      removed: [...removed, "thinking"],
    };
  }
  return Object.keys(fields).length === 0 ? undefined : { fields, removed };
}

/**
 * Whether manual thinking is refused: the turn that the results answer does not begin with thoughts,
 * because another model made it.
 */
function mustNotThink(
  { thinking }: JsonObject,
  messages: readonly unknown[],
): boolean {
  if (objectOr(thinking)["type"] !== "enabled") return false;
  const [before, last] = messages.slice(-2).map((message) =>
    arrayOr(objectOr(message)["content"]).map(objectOr)
  );
  const isLoop = last?.some(({ type }) => type === "tool_result") === true &&
    before?.some(({ type }) => type === "tool_use") === true;
  const first = before?.[0]?.["type"];
  return isLoop && first !== "thinking" && first !== "redacted_thinking";
}

function cleanConversation(body: JsonObject): CleanRequest | undefined {
  const messages = body["messages"];
  if (!Array.isArray(messages)) return undefined;
  let changed = false;
  let unmarked = false;
  const cleaned: unknown[] = [];
  const ids = idsInstead(callsIn(messages));
  for (const message of messages) {
    const content = isObject(message) ? message["content"] : undefined;
    if (
      !isObject(message) || !Array.isArray(content) ||
      !content.some((block) =>
        isForeign(block) || carriedValue(block) !== undefined ||
        isCited(block) ||
        (ids !== undefined && idField(block) !== undefined)
      )
    ) {
      cleaned.push(message);
      continue;
    }
    changed = true;
    unmarked ||= content.some((block) => isUnsigned(block) && !isMarked(block));
    const kept = content.filter((block) => !isForeign(block)).map((block) =>
      withoutCitations(withoutCarried(block))
    ).map((block) => ids === undefined ? block : renameIds(block, ids));
    // A turn of nothing but such blocks is removed: the upstream would refuse an empty turn.
    if (kept.length > 0) cleaned.push({ ...message, content: kept });
  }
  return changed
    ? { fields: { messages: cleaned }, removed: unmarked ? [THINKING] : [] }
    : undefined;
}

/** Whether a block is what another dialect's upstream thought, ran or searched. */
function isForeign(block: unknown): boolean {
  return isUnsigned(block) || isRanCode(block) || isOwnSearch(block);
}

/** Whether a block is reasoning that another dialect's model made, see `encode_stream.ts`. */
function isUnsigned(block: unknown): block is JsonObject {
  return isMarked(block) ||
    (isObject(block) && block["type"] === "thinking" &&
      (block["signature"] ?? "") === "");
}

/** Whether the gateway's own replies wrote it so. */
function isMarked(block: unknown): boolean {
  if (!isObject(block)) return false;
  const { type, signature, data } = block;
  return (type === "thinking" && (signature === "" || isTagged(signature))) ||
    (type === "redacted_thinking" && isTagged(data));
}

/** Whether a text has citations that the gateway wrote: upstreams would look for their proofs. */
function isCited(block: unknown): block is JsonObject {
  return isObject(block) && block["type"] === "text" &&
    arrayOr(block["citations"]).some(isOwnCitation);
}

function withoutCitations(block: unknown): unknown {
  if (!isCited(block)) return block;
  const { citations, ...rest } = block;
  const left = arrayOr(citations).filter((one) => !isOwnCitation(one));
  return left.length > 0 ? { ...rest, citations: left } : rest;
}

function* callsIn(messages: readonly unknown[]): Generator<string> {
  for (const message of messages) {
    for (const block of arrayOr(objectOr(message)["content"])) {
      const { type, id } = objectOr(block);
      if (type === "tool_use" && typeof id === "string") yield id;
    }
  }
}

/** Where a block has the id of a call. */
function idField(block: unknown): "id" | "tool_use_id" | undefined {
  const { type } = objectOr(block);
  return type === "tool_use"
    ? "id"
    : type === "tool_result"
    ? "tool_use_id"
    : undefined;
}

function renameIds(block: unknown, ids: CallIds): unknown {
  const field = idField(block);
  if (!isObject(block) || field === undefined) return block;
  const id = stringIn(block[field]);
  if (id === undefined) return block;
  return {
    ...block,
    [field]: field === "id" ? ids.ofCall(id) : ids.ofResult(id),
  };
}

const TOOL_MARKS: readonly string[] = ["tools.cache_control"];
const PROMPT_MARKS: readonly string[] = [
  "cache_control",
  "system.cache_control",
  "content.cache_control",
];
const THREAD: readonly string[] = ["thread"];
const FORMAT: readonly string[] = ["output_config.format", "output_format"];

/** The keys that the model does not take, as `parent.key` or as a top-level `key`. */
export function refusedKeys(
  { cacheMarks, structuredOutput, threads }: Capabilities,
): readonly string[] {
  return [
    ...(cacheMarks === "all" ? [] : TOOL_MARKS),
    ...(cacheMarks === "none" ? PROMPT_MARKS : []),
    ...(structuredOutput ? [] : FORMAT),
    ...(threads ? [] : THREAD),
  ];
}
