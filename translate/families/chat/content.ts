/**
 * The content of messages and results as the chat and the Responses formats have it: bytes are
 * `data:` URLs, and an http(s) URL is passed on and never fetched.
 */
import { base64Text, dataUrl, parseDataUrl } from "../../bytes/data_url.ts";
import { type JsonObject, textIn } from "../../bytes/json.ts";
import { isTextType } from "../../bytes/media_types.ts";
import { takesMarks } from "../../turns/cache_marks.ts";
import type { Capabilities } from "../../model/capabilities.ts";
import type { DroppedFields } from "../../model/dropped_fields.ts";
import { invalidField } from "../../model/error.ts";
import type {
  AudioPart,
  CacheMark,
  DialectName,
  DocumentPart,
  ImagePart,
  Media,
  OpaquePart,
  Part,
  TextPart,
} from "../../model/request.ts";
import type { UnknownFields } from "../../model/unknown_fields.ts";
import { breakpointField } from "./prompt_cache.ts";

/** The filename of a document without a title, since the formats require one. */
export const DEFAULT_FILENAME = "document.pdf";

/**
 * The media at an address. @throws {ApiError} `invalid_request` for other than data:, http: and
 * https:
 */
export function decodeAddress(url: string, at: string): Media {
  const bytes = parseDataUrl(url);
  if (bytes !== undefined) return { type: "base64", ...bytes };
  if (/^data:/i.test(url)) {
    throw invalidField(at, "could not read the data: address");
  }
  if (!/^https?:\/\//i.test(url)) {
    throw invalidField(at, "expected a data:, http: or https: address");
  }
  return { type: "url", url };
}

/**
 * The source of a document from its bytes. @throws {ApiError} `invalid_request` for other than a
 * data: address or base64
 */
export function decodeFileData(
  data: string,
  at: string,
): DocumentPart["source"] {
  const bytes = parseDataUrl(data);
  if (bytes !== undefined && isTextType(bytes.mediaType)) {
    return { type: "text", text: base64Text(bytes.data) };
  }
  if (bytes !== undefined) return { type: "base64", ...bytes };
  if (!/^[A-Za-z0-9+/_=\s-]+$/.test(data)) {
    throw invalidField(at, "expected a data: address or base64");
  }
  // Bare base64 declares no media type; the formats allow it for PDF only.
  return { type: "base64", mediaType: "application/pdf", data };
}

/** The fields of a document beside its source. */
export function documentFields(
  filename: unknown,
  at: string,
): Omit<DocumentPart, "type" | "source"> {
  const title = textIn(filename);
  return { ...(title === undefined ? {} : { title }), at };
}

export function decodeAudio(
  { format, data }: { readonly format: string; readonly data: string },
  at: string,
): AudioPart {
  return { type: "audio", format: format.toLowerCase(), data, at };
}

/** A part that only upstreams of its own format can read. */
export function opaquePart(
  from: DialectName,
  kind: string,
  path: string,
  value: JsonObject,
): OpaquePart {
  return { type: "opaque", from, kind, path, value, essential: true };
}

/**
 * Instructions are text. Other parts cannot be expressed in another format, so they are recorded
 * as essential.
 */
export function instructions(
  parts: readonly Part[],
  path: string,
  unknown: UnknownFields,
): readonly TextPart[] {
  const texts: TextPart[] = [];
  parts.forEach((part, index) => {
    if (part.type === "text") texts.push(part);
    else unknown.essential.add(`${path}.content[${index}]`);
  });
  return texts;
}

/**
 * The address of media, or their bytes as one.
 *
 * @throws {ApiError} `invalid_request` for an address that the model does not take
 */
export function encodeAddress(
  part: ImagePart | DocumentPart,
  source: Media,
  takesUrls: boolean,
  dropped: DroppedFields,
): string {
  if (source.type === "base64") return dataUrl(source.mediaType, source.data);
  if (takesUrls) return source.url;
  throw dropped.partRefusal(
    part,
    "cannot be sent to this model by its address; send its bytes",
  );
}

/** The text of a document, after its title and context; undefined for a document of bytes. */
export function documentText(
  { title, context, source }: DocumentPart,
): string | undefined {
  return source.type === "text"
    ? [title, context, source.text].filter((text) =>
      text !== undefined && text !== ""
    ).join("\n")
    : undefined;
}

/** The mark of a part or a result as a field; empty where the model takes none. */
export function markField(
  { cacheMark }: { readonly cacheMark?: CacheMark },
  can: Capabilities,
): JsonObject {
  const isTaken = takesMarks("turns", can);
  return can.cacheWord === "cache_control"
    ? isTaken ? cacheControl(cacheMark) : {}
    : breakpointField(cacheMark, isTaken);
}

/** The mark as the messages format has it, for hosts that pass it on to such models. */
function cacheControl(mark: CacheMark | undefined): JsonObject {
  return mark === undefined ? {} : {
    cache_control: {
      type: "ephemeral",
      ...(mark === "5m" ? {} : { ttl: mark }),
    },
  };
}

/** Reports media in a message of the assistant, which no upstream of these formats accepts. */
export function dropMedia(
  { at }: ImagePart | DocumentPart | AudioPart,
  dropped: DroppedFields,
): void {
  if (at === undefined) dropped.field("messages");
  else dropped.path(at);
}
