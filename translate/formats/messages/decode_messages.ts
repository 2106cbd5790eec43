/**
 * Decodes the turns of a request in the messages format: blocks → parts. `decode_request.ts`
 * decodes the rest of the request; `encode_messages.ts` is the inverse.
 */
import { objectOr, textIn } from "../../bytes/json.ts";
import { markOf } from "./cache_marks.ts";
import type {
  DocumentPart,
  Media,
  OpaquePart,
  Part,
  ResultPart,
  Signature,
  TextPart,
  Turn,
} from "../../model/request.ts";
import { isRanCode } from "../../turns/ran_code.ts";
import { signedBy } from "../../turns/carried_signature.ts";
import { isTagged, untag } from "../../turns/signature_tags.ts";
import { noteUnknown, type UnknownFields } from "../../model/unknown_fields.ts";
import {
  isKnownBlock,
  isKnownResultBlock,
  isToolChange,
  type WireBase64,
  type WireBlock,
  type WireDocument,
  type WireImage,
  type WireMessage,
  type WireOther,
  type WireResultBlock,
  type WireSearchResult,
  type WireToolResult,
} from "./wire.ts";
import { isOwnSearch } from "./search_blocks.ts";
import { mapEach, type Steps } from "../../steps.ts";

const MESSAGE_FIELDS: ReadonlySet<string> = new Set(["role", "content"]);
const EXPIRING_FIELDS: ReadonlySet<string> = new Set([
  ...MESSAGE_FIELDS,
  "clear_at",
]);
const CHANGE_FIELDS: ReadonlySet<string> = new Set(["type", "tool"]);
const BLOCK_FIELDS: Readonly<Record<WireBlock["type"], ReadonlySet<string>>> = {
  text: new Set(["type", "text", "extra_content"]),
  image: new Set(["type", "source"]),
  document: new Set(["type", "source", "title", "context"]),
  search_result: new Set(["type", "title", "source", "content"]),
  thinking: new Set(["type", "thinking", "signature"]),
  redacted_thinking: new Set(["type", "data"]),
  tool_use: new Set(["type", "id", "name", "input", "extra_content"]),
  tool_result: new Set(["type", "tool_use_id", "content", "is_error"]),
};
const REFERENCE_FIELDS: ReadonlySet<string> = new Set(["type", "tool_name"]);
const BLOCK_PREFIX = "messages[].content[].";
const RESULT_PREFIX = "messages[].content[].content[].";

/**
 * The decoded block types that each role may contain; in another role's turn they have no neutral
 * meaning.
 */
const BLOCKS_OF: Readonly<
  Record<WireMessage["role"], ReadonlySet<WireBlock["type"]>>
> = {
  user: new Set(["text", "image", "document", "search_result", "tool_result"]),
  assistant: new Set([
    "text",
    "image",
    "document",
    "search_result",
    "thinking",
    "redacted_thinking",
    "tool_use",
  ]),
  system: new Set(["text"]),
};

/** Opaque assistant blocks that another dialect must not drop. */
const ESSENTIAL_IN_ASSISTANT: ReadonlySet<string> = new Set([
  // Replaces the whole conversation before it.
  "compaction",
  "container_upload",
]);

/** Decodes the turns of a request that has passed its schema. */
export function* decodeMessages(
  messages: readonly WireMessage[],
  unknown: UnknownFields,
): Steps<readonly Turn[]> {
  const lastUser = messages.findLastIndex(({ role }) => role === "user");
  const turns = yield* mapEach(messages, (message, index): readonly Turn[] => {
    const isExpired = clearsAt(message) === "next_user_message" &&
      index < lastUser;
    noteUnknown(
      message,
      clearsAt(message) === undefined ? MESSAGE_FIELDS : EXPIRING_FIELDS,
      "messages[].",
      unknown,
    );
    const { role, content } = message;
    if (typeof content === "string" || content === undefined) {
      return isExpired ? [] : [{ role, parts: textParts(content) }];
    }
    const parts = content.flatMap((block, at): readonly Part[] => {
      const path = `messages[${index}].content[${at}]`;
      if (role === "system" && isToolChange(block)) {
        // Decoded in `decode_tools.ts`.
        noteUnknown(block, CHANGE_FIELDS, BLOCK_PREFIX, unknown);
        return [];
      }
      if (isExpired && block.type === "text") return [];
      if (isRanCode(block)) return [];
      if (!isKnownBlock(block)) {
        if (isOwnSearch(block)) return [];
        const essential = role !== "assistant" ||
          ESSENTIAL_IN_ASSISTANT.has(block.type);
        return [opaque(block, path, essential)];
      }
      // The schema does not validate a block's fields in a role that may not contain it.
      return BLOCKS_OF[role].has(block.type)
        ? decodeBlock(block, path, unknown)
        : [opaque(block, path, true)];
    });
    return role === "system" && parts.length === 0 ? [] : [{ role, parts }];
  });
  return turns.flat();
}

/** When the text of a system turn expires; undefined where the turn has no known word for it. */
function clearsAt(
  message: WireMessage,
): "next_user_message" | "never" | undefined {
  if (message.role !== "system") return undefined;
  const { clear_at } = message;
  return clear_at === "next_user_message" || clear_at === "never"
    ? clear_at
    : undefined;
}

function textParts(text: string | undefined): readonly TextPart[] {
  return text === undefined || text === "" ? [] : [{ type: "text", text }];
}

/**
 * Opaque client blocks are essential; opaque model blocks may be dropped where another dialect
 * cannot express them.
 */
function opaque(
  block: WireOther,
  path: string,
  essential: boolean,
): OpaquePart {
  return {
    type: "opaque",
    from: "messages",
    kind: block.type,
    path,
    value: objectOr(block),
    essential,
  };
}

function decodeBlock(
  block: WireBlock,
  path: string,
  unknown: UnknownFields,
): readonly Part[] {
  noteUnknown(block, BLOCK_FIELDS[block.type], BLOCK_PREFIX, unknown);
  const parts = partsOf(block, path, unknown);
  const last = parts.at(-1);
  return last === undefined || last.type === "opaque" ||
      last.type === "reasoning" || last.type === "refusal" ||
      last.type === "audio"
    ? parts
    : [...parts.slice(0, -1), { ...last, ...markOf(block) }];
}

function partsOf(
  block: WireBlock,
  path: string,
  unknown: UnknownFields,
): readonly Part[] {
  switch (block.type) {
    case "text":
    case "image":
    case "document":
    case "search_result":
      return contentParts(block, path);
    case "thinking":
      return [{
        type: "reasoning",
        text: block.thinking,
        ...signatureOf(textIn(block.signature)),
      }];
    case "redacted_thinking":
      return [{
        type: "reasoning",
        text: "",
        ...signatureOf(block.data, true),
      }];
    case "tool_use":
      return [{
        type: "tool_call",
        id: block.id,
        name: block.name,
        arguments: block.input === undefined ? "" : JSON.stringify(block.input),
        ...signedBy(block),
        at: `${path}.id`,
      }];
    case "tool_result":
      return [{
        type: "tool_result",
        id: block.tool_use_id,
        content: resultParts(block, path, unknown),
        ...(block.is_error === true ? { failed: true } : {}),
        at: `${path}.tool_use_id`,
      }];
  }
}

/** A signature of this dialect's own models, or a tagged one of another dialect's. */
function signatureOf(
  value: string | undefined,
  redacted = false,
): { signature?: Signature } {
  if (value === undefined) return {};
  const signature: Signature | undefined = isTagged(value)
    ? untag(value)
    : { from: "messages", value };
  if (signature === undefined) return {};
  return { signature: redacted ? { ...signature, redacted } : signature };
}

function base64Media(source: WireBase64): Media {
  const mediaType = source.media_type.toLowerCase();
  return {
    type: "base64",
    mediaType: mediaType === "image/jpg" ? "image/jpeg" : mediaType,
    data: source.data,
  };
}

function decodeImage(
  block: WireImage,
  path: string,
): Extract<ResultPart, { type: "image" | "opaque" }> {
  const { source } = block;
  switch (source.type) {
    case "base64":
      return { type: "image", source: base64Media(source), at: path };
    case "url":
      return {
        type: "image",
        source: { type: "url", url: source.url },
        at: path,
      };
    case "file":
      return opaque(block, `${path}.source.file_id`, true);
  }
}

function decodeDocument(
  block: WireDocument,
  path: string,
): readonly (
  | DocumentPart
  | Extract<ResultPart, { type: "image" | "opaque" }>
)[] {
  const { source } = block;
  const about = {
    ...(textIn(block.title) === undefined ? {} : { title: block.title ?? "" }),
    ...(textIn(block.context) === undefined
      ? {}
      : { context: block.context ?? "" }),
    at: path,
  };
  switch (source.type) {
    case "base64":
      return [{ type: "document", source: base64Media(source), ...about }];
    case "url":
      return [{
        type: "document",
        source: { type: "url", url: source.url },
        ...about,
      }];
    case "text":
      return [{
        type: "document",
        source: { type: "text", text: source.data },
        ...about,
      }];
    case "file":
      return [opaque(block, `${path}.source.file_id`, true)];
    case "content": {
      if (typeof source.content === "string") {
        return [{
          type: "document",
          source: { type: "text", text: source.content },
          ...about,
        }];
      }
      const parts: (DocumentPart | ReturnType<typeof decodeImage>)[] = [];
      let texts: string[] = [];
      const flush = (): void => {
        if (texts.length === 0) return;
        parts.push({
          type: "document",
          source: { type: "text", text: texts.join("\n") },
          ...about,
        });
        texts = [];
      };
      source.content.forEach((inner, at) => {
        if (inner.type === "text") texts.push(inner.text);
        else {
          flush();
          parts.push(decodeImage(inner, `${path}.source.content[${at}]`));
        }
      });
      flush();
      return parts;
    }
  }
}

function searchResultText(block: WireSearchResult): TextPart {
  const lines = [
    block.title,
    block.source,
    ...block.content.map((inner) => inner.text),
  ];
  return { type: "text", text: lines.filter((line) => line !== "").join("\n") };
}

function resultParts(
  block: WireToolResult,
  path: string,
  unknown: UnknownFields,
): readonly ResultPart[] {
  const { content } = block;
  if (typeof content === "string" || content === undefined) {
    return textParts(content);
  }
  return content.flatMap((inner, at) => {
    const innerPath = `${path}.content[${at}]`;
    return isKnownResultBlock(inner)
      ? resultPart(inner, innerPath, unknown)
      : [opaque(inner, innerPath, true)];
  });
}

function resultPart(
  block: WireResultBlock,
  path: string,
  unknown: UnknownFields,
): readonly ResultPart[] {
  const known: ReadonlySet<string> = block.type === "tool_reference"
    ? REFERENCE_FIELDS
    : BLOCK_FIELDS[block.type];
  noteUnknown(block, known, RESULT_PREFIX, unknown);
  return block.type === "tool_reference"
    ? [{ type: "text", text: `Loaded tool: ${block.tool_name}` }]
    : contentParts(block, path);
}

/** The parts of a block that turns and results of tools both may have. */
function contentParts(
  block: Exclude<WireResultBlock, { readonly type: "tool_reference" }>,
  path: string,
): readonly ResultPart[] {
  switch (block.type) {
    case "text":
      return [{ type: "text", text: block.text, ...signedBy(block) }];
    case "image":
      return [decodeImage(block, path)];
    case "document":
      return decodeDocument(block, path);
    case "search_result":
      return [searchResultText(block)];
  }
}
