/**
 * Encodes images and documents for the Converse format, and refuses what it does not support.
 */
import { base64Text } from "../../bytes/data_url.ts";
import type { JsonObject } from "../../bytes/json.ts";
import { PICTURES, refusedMedia } from "../../families/messages/media.ts";
import type {
  AudioPart,
  DocumentPart,
  ImagePart,
} from "../../model/request.ts";
import type { FieldNames } from "../../model/field_names.ts";

/** Media types → words of the format. */
const DOCUMENT_FORMATS: ReadonlyMap<string, string> = new Map([
  ["application/msword", "doc"],
  ["application/pdf", "pdf"],
  ["application/vnd.ms-excel", "xls"],
  [
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "xlsx",
  ],
  [
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "docx",
  ],
  ["text/csv", "csv"],
  ["text/html", "html"],
  ["text/markdown", "md"],
  ["text/plain", "txt"],
]);

/**
 * The blocks of an image or a document. `words` are the client's field names.
 *
 * @param number the document's number in the request: the names of documents must differ
 * @throws {ApiError} `invalid_request` for media that the format does not support
 */
export function mediaBlocks(
  part: ImagePart | DocumentPart | AudioPart,
  words: FieldNames,
  number: number,
): readonly JsonObject[] {
  if (part.type === "audio") throw refusedMedia(part, words, "sound");
  const { source } = part;
  if (source.type === "url") throw refusedMedia(part, words, "address");
  if (part.type === "image") {
    if (source.type !== "base64" || !PICTURES.includes(source.mediaType)) {
      throw refusedMedia(part, words, "picture");
    }
    const format = source.mediaType.replace("image/", "");
    return [{ image: { format, source: { bytes: source.data } } }];
  }
  const texts = (...lines: readonly (string | undefined)[]) =>
    lines.flatMap((text) =>
      text === undefined || text.trim() === "" ? [] : [{ text }]
    );
  if (source.type === "text") {
    return texts(part.title, part.context, source.text);
  }
  const format = DOCUMENT_FORMATS.get(source.mediaType);
  if (format !== undefined) {
    return [...texts(part.context), {
      document: {
        format,
        name: documentName(part.title, number),
        source: { bytes: source.data },
      },
    }];
  }
  if (source.mediaType.startsWith("text/")) {
    return texts(part.title, part.context, base64Text(source.data));
  }
  throw refusedMedia(part, words, "office");
}

/** Letters, digits, single blanks, hyphens, parentheses and brackets only. */
function documentName(title: string | undefined, number: number): string {
  const name = (title ?? "").replaceAll(/[^A-Za-z0-9()[\] -]+/g, " ")
    .replaceAll(/ +/g, " ").trim().slice(0, 100).trim();
  return `${name === "" ? "document" : name} ${number}`;
}
