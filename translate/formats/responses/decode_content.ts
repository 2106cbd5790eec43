/**
 * Decodes the content of a client's messages and tool outputs into neutral parts. Items and turns
 * are decoded in `decode_messages.ts`.
 */
import { invalidField } from "../../model/error.ts";
import { textIn } from "../../bytes/json.ts";
import type {
  AudioPart,
  DocumentPart,
  ImagePart,
  OpaquePart,
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
import { noteUnknown, type UnknownFields } from "../../model/unknown_fields.ts";
import { isKnownPart, type ItemContent, type WirePart } from "./wire.ts";

/** A neutral part that content can decode to. */
export type DecodedPart =
  | TextPart
  | ImagePart
  | DocumentPart
  | AudioPart
  | RefusalPart
  | OpaquePart;

const FORMAT = "responses";
const PREFIX = "input[].content[].";

/** Annotations and probabilities of earlier replies are accepted and ignored. */
const PART_FIELDS: Readonly<Record<WirePart["type"], ReadonlySet<string>>> = {
  input_text: new Set(["type", "text"]),
  text: new Set(["type", "text"]),
  output_text: new Set(["type", "text", "annotations", "logprobs"]),
  input_image: new Set(["type", "image_url", "file_id"]),
  input_file: new Set([
    "type",
    "file_data",
    "file_url",
    "file_id",
    "filename",
  ]),
  input_audio: new Set(["type", "input_audio"]),
  refusal: new Set(["type", "refusal"]),
};
/** `detail: "auto"` means the same as no `detail`, so only then it is not reported as dropped. */
const AUTO_IMAGE_FIELDS: ReadonlySet<string> = new Set([
  ...PART_FIELDS.input_image,
  "detail",
]);

/**
 * Decodes the content of one message or tool output.
 *
 * @param cacheOptions `prompt_cache_options` of the request
 * @throws {ApiError} `invalid_request` naming the field with a malformed URL or malformed base64
 */
export function decodeContent(
  content: ItemContent,
  path: string,
  cacheOptions: unknown,
  unknown: UnknownFields,
): readonly DecodedPart[] {
  if (typeof content === "string") {
    return content === "" ? [] : [{ type: "text", text: content }];
  }
  return content.map((part, index) => {
    const at = `${path}[${index}]`;
    if (!isKnownPart(part)) return opaquePart(FORMAT, part.type, at, part);
    const known = part.type === "input_image" && part.detail === "auto"
      ? AUTO_IMAGE_FIELDS
      : PART_FIELDS[part.type];
    noteUnknown(part, known, PREFIX, unknown);
    return withBreakpoint(decodePart(part, at), part, cacheOptions);
  });
}

function decodePart(part: WirePart, path: string): DecodedPart {
  switch (part.type) {
    case "input_text":
    case "output_text":
    case "text":
      return { type: "text", text: part.text };
    case "refusal":
      return { type: "refusal", text: part.refusal };
    case "input_audio":
      return decodeAudio(part.input_audio, path);
    case "input_image": {
      const url = textIn(part.image_url);
      if (url !== undefined) {
        return {
          type: "image",
          source: decodeAddress(url, `${path}.image_url`),
          at: path,
        };
      }
      if (textIn(part.file_id) !== undefined) {
        return opaquePart(FORMAT, "input_image", `${path}.file_id`, {
          ...part,
        });
      }
      throw invalidField(path, "image_url or file_id is required");
    }
    case "input_file":
      return decodeFile(part, path);
  }
}

function decodeFile(
  part: WirePart & { readonly type: "input_file" },
  path: string,
): DocumentPart | OpaquePart {
  const fields = documentFields(part.filename, path);
  const data = textIn(part.file_data);
  if (data !== undefined) {
    const source = decodeFileData(data, `${path}.file_data`);
    return { type: "document", source, ...fields };
  }
  const url = textIn(part.file_url);
  if (url !== undefined) {
    return {
      type: "document",
      source: decodeAddress(url, `${path}.file_url`),
      ...fields,
    };
  }
  if (textIn(part.file_id) !== undefined) {
    return opaquePart(FORMAT, "input_file", `${path}.file_id`, { ...part });
  }
  throw invalidField(path, "file_data, file_url or file_id is required");
}
