/**
 * Decodes bytes and files of a client's parts into neutral parts. A URL is passed on and never
 * fetched.
 */
import { base64Text } from "../../bytes/data_url.ts";
import { objectOr, textIn } from "../../bytes/json.ts";
import { isTextType, soundFormat } from "../../bytes/media_types.ts";
import type {
  AudioPart,
  DocumentPart,
  ImagePart,
  OpaquePart,
} from "../../model/request.ts";
import { typeByExtension } from "./encode_media.ts";
import type { OneSpelling } from "./key_names.ts";
import { standardBase64 } from "./signatures.ts";
import type { WireBlob, WireFile } from "./wire.ts";

/** A neutral part that bytes or a file can become. */
type MediaOrOpaque = ImagePart | DocumentPart | AudioPart | OpaquePart;

/** Files that the vendor stores, and videos: only upstreams of this format can read them. */
const VENDOR_FILE =
  /^(?:gs:|https:\/\/generativelanguage\.googleapis\.com\/|https:\/\/(?:www\.)?(?:youtube\.com|youtu\.be)\/)/i;

/** Decodes the bytes of the part at `path`. */
export function decodeBlob(
  blob: WireBlob,
  path: string,
  written: OneSpelling["written"],
): MediaOrOpaque {
  const at = written(path);
  const [type = ""] = blob.mimeType.toLowerCase().split(";");
  const mediaType = type.trim() === "image/jpg" ? "image/jpeg" : type.trim();
  const data = standardBase64(blob.data);
  const title = textIn(blob.displayName);
  const named = { ...(title === undefined ? {} : { title }), at };
  const [kind, subtype = ""] = mediaType.split("/");
  switch (kind) {
    case "image":
      return { type: "image", source: { type: "base64", mediaType, data }, at };
    case "audio":
      return { type: "audio", format: soundFormat(subtype), data, at };
    case "text":
    case "application":
      return {
        type: "document",
        source: isTextType(mediaType)
          ? { type: "text", text: base64Text(data) }
          : { type: "base64", mediaType, data },
        ...named,
      };
  }
  return opaque(written("inlineData"), at, { inlineData: blob });
}

/** Decodes the address of a file, of the part at `path`. */
export function decodeFile(
  file: WireFile,
  path: string,
  written: OneSpelling["written"],
): MediaOrOpaque {
  const at = written(path);
  const url = file.fileUri;
  const mediaType = textIn(file.mimeType)?.toLowerCase() ??
    typeByExtension(url);
  const isWeb = /^https?:/i.test(url) && !VENDOR_FILE.test(url);
  if (isWeb && mediaType !== undefined) {
    const source = { type: "url" as const, url, mediaType };
    if (mediaType.startsWith("image/")) return { type: "image", source, at };
    if (/^(?:application|text)\//.test(mediaType)) {
      return { type: "document", source, at };
    }
  }
  return opaque(written("fileData"), at, { fileData: file });
}

/** A part that only upstreams of this format can read; its kind and path in the client's spelling. */
export function opaque(
  kind: string,
  path: string,
  value: object,
  essential = true,
): OpaquePart {
  return {
    type: "opaque",
    from: "generate_content",
    kind,
    path,
    value: objectOr(value),
    essential,
  };
}
