/**
 * Decodes the content of a client's messages into neutral parts. Messages and calls are decoded in
 * `decode_messages.ts`.
 */
import type { UnknownObject } from "../../model/schema.ts";
import { invalidField } from "../../model/error.ts";
import { arrayOr, isObject, textIn } from "../../bytes/json.ts";
import type {
  AudioPart,
  DocumentPart,
  ImagePart,
  OpaquePart,
  ReasoningPart,
  RefusalPart,
  TextPart,
} from "../../model/request.ts";
import {
  decodeAddress,
  decodeAudio,
  decodeFileData,
  documentFields,
  opaquePart,
} from "../../families/chat/content.ts";
import { withBreakpoint } from "../../families/chat/prompt_cache.ts";
import {
  asJson,
  noteUnknown,
  type UnknownFields,
} from "../../model/unknown_fields.ts";
import { type ChatContent, type ChatPart, isKnownPart } from "./wire.ts";

/** A neutral part that content can decode to. */
export type DecodedPart =
  | TextPart
  | ImagePart
  | DocumentPart
  | AudioPart
  | OpaquePart
  | RefusalPart
  | ReasoningPart;

const FORMAT = "chat_completions";
const PREFIX = "messages[].content[].";

const PART_FIELDS: Readonly<Record<ChatPart["type"], ReadonlySet<string>>> = {
  text: new Set(["type", "text"]),
  image_url: new Set(["type", "image_url"]),
  input_audio: new Set(["type", "input_audio"]),
  file: new Set(["type", "file"]),
  refusal: new Set(["type", "refusal"]),
};
const IMAGE_FIELDS: ReadonlySet<string> = new Set(["url"]);
/** `detail: "auto"` means the same as no `detail`, so only then it is not reported as dropped. */
const AUTO_IMAGE_FIELDS: ReadonlySet<string> = new Set(["url", "detail"]);
const AUDIO_FIELDS: ReadonlySet<string> = new Set(["data", "format"]);
const FILE_FIELDS: ReadonlySet<string> = new Set([
  "file_data",
  "file_id",
  "filename",
]);

/**
 * Decodes the content of one message.
 *
 * @param cacheOptions `prompt_cache_options` of the request
 * @throws {ApiError} `invalid_request` naming the field with a malformed URL or malformed base64
 */
export function decodeContent(
  content: ChatContent | null | undefined,
  path: string,
  cacheOptions: unknown,
  unknown: UnknownFields,
): readonly DecodedPart[] {
  if (content === null || content === undefined) return [];
  if (typeof content === "string") {
    return content === "" ? [] : [{ type: "text", text: content }];
  }
  return content.map((part, index) => {
    const at = `${path}[${index}]`;
    if (!isKnownPart(part)) return decodeUnknown(part, at);
    noteUnknown(part, PART_FIELDS[part.type], PREFIX, unknown);
    return withBreakpoint(decodePart(part, at, unknown), part, cacheOptions);
  });
}

function decodePart(
  part: ChatPart,
  path: string,
  unknown: UnknownFields,
): DecodedPart {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text };
    case "refusal":
      return { type: "refusal", text: part.refusal };
    case "input_audio":
      noteUnknown(
        part.input_audio,
        AUDIO_FIELDS,
        `${PREFIX}input_audio.`,
        unknown,
      );
      return decodeAudio(part.input_audio, path);
    case "image_url": {
      const image = part.image_url;
      noteUnknown(
        image,
        image.detail === "auto" ? AUTO_IMAGE_FIELDS : IMAGE_FIELDS,
        `${PREFIX}image_url.`,
        unknown,
      );
      return {
        type: "image",
        source: decodeAddress(image.url, `${path}.image_url.url`),
        at: path,
      };
    }
    case "file":
      noteUnknown(part.file, FILE_FIELDS, `${PREFIX}file.`, unknown);
      return decodeFile(part, path);
  }
}

function decodeFile(
  part: ChatPart & { readonly type: "file" },
  path: string,
): DocumentPart | OpaquePart {
  const { file_data: data, file_id: id, filename } = part.file;
  if (typeof data === "string") {
    return {
      type: "document",
      source: decodeFileData(data, `${path}.file.file_data`),
      ...documentFields(filename, path),
    };
  }
  if (typeof id === "string") {
    return opaquePart(FORMAT, "file", `${path}.file.file_id`, asJson(part));
  }
  throw invalidField(`${path}.file`, "file_data or file_id is required");
}

function decodeUnknown(
  part: UnknownObject,
  path: string,
): OpaquePart | ReasoningPart {
  if (part.type !== "thinking") {
    return opaquePart(FORMAT, part.type, path, part);
  }
  // Mistral's reasoning models put their reasoning into the content, as a list of texts.
  const thoughts = part["thinking"];
  const text = typeof thoughts === "string"
    ? thoughts
    : arrayOr(thoughts).map((thought) =>
      isObject(thought) ? textIn(thought["text"]) ?? "" : ""
    ).join("");
  return { type: "reasoning", text };
}
