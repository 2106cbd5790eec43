/**
 * The field that carries signatures of reasoning: `reasoning_details` (the shape that OpenRouter
 * uses). It is read from hosts' replies and from clients' requests, and written for clients and for
 * the hosts that take it back. `turns/carried_signature.ts` has the field of Google's hosts.
 */
import {
  arrayOr,
  countIn,
  isObject,
  type JsonObject,
  objectOr,
  parseJson,
  textIn,
} from "../../bytes/json.ts";
import type { Capabilities } from "../../model/capabilities.ts";
import type { ReasoningPart, Signature } from "../../model/request.ts";
import { isTagged, taggedValue, untag } from "../../turns/signature_tags.ts";

/** The `format` of entries with a signature of the messages format. */
const MESSAGES_FORMAT = "anthropic-claude-v1";

/**
 * The `format` of entries with a signature of the Responses format. Its data is tagged, because
 * vendors of this format also send such entries.
 */
const RESPONSES_FORMAT = "openai-responses-v1";

/** One entry of `reasoning_details`, decoded. */
interface ReasoningDetail {
  /** A fragment of the reasoning, possibly empty. */
  readonly text: string;
  /** The signature that the entry carries. */
  readonly signature?: Signature;
  /** Entries with the same index belong to the same block. */
  readonly index?: number;
  /** What precedes the block in the message. Absent in an entry that the gateway did not write. */
  readonly position?: Position;
}

/**
 * How much of an assistant message precedes a block of reasoning. Recorded because the format
 * keeps reasoning apart from text and calls.
 */
export interface Position {
  /** Length of the preceding `content` in UTF-16 code units. */
  readonly content: number;
  /** Number of preceding entries of `tool_calls`. */
  readonly calls: number;
}

/**
 * All entries of a streamed message once more, as its `extra_content`: of the lists of a stream the
 * official library keeps the last one, while other clients join them.
 */
export function writeDetails(details: readonly JsonObject[]): JsonObject {
  return { gateway: { reasoning_details: details } };
}

/** The `reasoning_details` that {@linkcode writeDetails} put into a message. */
export function allDetails(message: object): unknown {
  const extra = "extra_content" in message ? message.extra_content : undefined;
  return objectOr(objectOr(extra)["gateway"])["reasoning_details"];
}

/**
 * Reads lists of `reasoning_details`, in order. Entries that a host sealed are joined with the
 * unsealed one before them: their signature holds all members of both but the text.
 */
export function detailReader(): (value: unknown) => readonly ReasoningDetail[] {
  /** An entry with text whose seal may follow, without its text. */
  let before: JsonObject | undefined;
  const signatureOf = (
    entry: JsonObject,
    text: string,
  ): Signature | undefined => {
    const known = readSignature(entry);
    if (known !== undefined || isTaggedDetail(entry)) {
      before = undefined;
      return known;
    }
    const { text: _, summary: __, position: ___, ...members } = entry;
    const isSealed = textIn(entry["signature"]) !== undefined ||
      textIn(entry["data"]) !== undefined;
    if (!isSealed) {
      before = members;
      return undefined;
    }
    const same = before?.["type"] === entry["type"] &&
      before?.["index"] === entry["index"];
    const sealed = before === undefined
      ? [members]
      : same
      ? [{ ...before, ...members }]
      : [before, members];
    const isAlone = before === undefined && text === "";
    before = undefined;
    return {
      from: "chat_completions",
      value: JSON.stringify(sealed),
      ...(isAlone ? { redacted: true } : {}),
    };
  };
  return (value) => {
    const details: ReasoningDetail[] = [];
    for (const entry of arrayOr(value)) {
      if (!isObject(entry)) continue;
      const text = textIn(entry["text"]) ?? textIn(entry["summary"]) ?? "";
      const signature = signatureOf(entry, text);
      if (text === "" && signature === undefined) continue;
      const index = entry["index"];
      const position = isOwnDetail(entry)
        ? readPosition(entry["position"])
        : undefined;
      details.push({
        text,
        ...(signature === undefined ? {} : { signature }),
        ...(typeof index === "number" ? { index } : {}),
        ...(position === undefined ? {} : { position }),
      });
    }
    return details;
  };
}

function readSignature(entry: JsonObject): Signature | undefined {
  if (isTaggedDetail(entry)) {
    const tagged = untag(entry.data);
    return tagged === undefined ? undefined : { ...tagged, redacted: true };
  }
  if (entry["format"] !== MESSAGES_FORMAT) return undefined;
  const value = textIn(entry["signature"]) ?? textIn(entry["data"]);
  if (value === undefined) return undefined;
  return {
    from: "messages",
    value,
    ...(entry["type"] === "reasoning.encrypted" ? { redacted: true } : {}),
  };
}

function readPosition(value: unknown): Position | undefined {
  if (!isObject(value)) return undefined;
  const content = countIn(value["content"]);
  const calls = countIn(value["tool_calls"]);
  return content === undefined || calls === undefined
    ? undefined
    : { content, calls };
}

/**
 * Whether the gateway wrote this entry of `reasoning_details`. Hosts use the same format for models
 * of their own, but only the gateway writes a position.
 */
export function isOwnDetail(entry: unknown): boolean {
  return isObject(entry) &&
    (isTaggedDetail(entry) || entry["format"] === MESSAGES_FORMAT &&
        readPosition(entry["position"]) !== undefined);
}

function isTaggedDetail(
  entry: JsonObject,
): entry is JsonObject & { readonly data: string } {
  return entry["format"] === RESPONSES_FORMAT && isTagged(entry["data"]);
}

/**
 * Encodes one block of reasoning as an entry of `reasoning_details`. `index` counts all preceding
 * blocks of the message, including texts and calls, so that a gap shows that the block was not
 * first even if a client removes `position`.
 */
function writeDetail(
  text: string,
  signature: Signature | undefined,
  index: number,
  position: Position,
): JsonObject {
  const place = {
    index,
    position: { content: position.content, tool_calls: position.calls },
  };
  if (signature !== undefined && signature.from !== "messages") {
    const { redacted: _, ...proof } = signature;
    return {
      type: "reasoning.encrypted",
      data: taggedValue(proof),
      format: RESPONSES_FORMAT,
      ...place,
    };
  }
  return messagesDetail(text, signature, place);
}

function messagesDetail(
  text: string,
  signature: Signature | undefined,
  place: JsonObject,
): JsonObject {
  return signature?.redacted === true
    ? {
      type: "reasoning.encrypted",
      data: signature.value,
      format: MESSAGES_FORMAT,
      ...place,
    }
    : {
      type: "reasoning.text",
      text,
      ...(signature === undefined ? {} : { signature: signature.value }),
      format: MESSAGES_FORMAT,
      ...place,
    };
}

/** Counts the blocks of a reply, so that each entry of reasoning can record its position. */
export function detailWriter(): {
  /** Records that a text, refusal or call begins. */
  began(kind: "text" | "refusal" | "tool"): void;
  /** Records more text of the open text block. */
  text(text: string): void;
  /** Encodes a block of reasoning. */
  detail(text: string, signature: Signature | undefined): JsonObject;
} {
  let blocks = 0;
  let content = 0;
  let calls = 0;
  return {
    began(kind) {
      blocks++;
      if (kind === "tool") calls++;
    },
    text: (text) => void (content += text.length),
    detail: (text, signature) =>
      writeDetail(
        text,
        signature,
        blocks++,
        { content, calls },
      ),
  };
}

/** The `reasoning_details` of an assistant turn that its host takes back, possibly none. */
export function returnedDetails(
  reasoning: readonly ReasoningPart[],
  { proofFields }: Capabilities,
): readonly JsonObject[] {
  if (proofFields !== "passed" && proofFields !== "details") return [];
  return reasoning.flatMap(({ text, signature }, index) => {
    if (signature?.from === "chat_completions") {
      return readSealed(signature.value, text);
    }
    return signature?.from !== "messages" || proofFields !== "details"
      ? []
      : [messagesDetail(text, signature, { index })];
  });
}

/** The host's own entries, the text in the first that has a place for it. */
function readSealed(value: string, text: string): readonly JsonObject[] {
  let left = text;
  return arrayOr(parseJson(value)).filter(isObject).flatMap((entry) => {
    const field = TEXT_FIELDS.get(textIn(entry["type"]) ?? "");
    if (field === undefined || left === "") {
      const isSealed = "data" in entry || "signature" in entry;
      return isSealed ? [entry] : [];
    }
    const written = { ...entry, [field]: left };
    left = "";
    return [written];
  });
}

const TEXT_FIELDS: ReadonlyMap<string, string> = new Map([
  ["reasoning.text", "text"],
  ["reasoning.summary", "summary"],
]);

/** The `extra_content` of calls of other models, where the vendor demands a signature. */
export const UNSIGNED_CALL: JsonObject = {
  google: { thought_signature: "skip_thought_signature_validator" },
};
