/**
 * `data:` URLs (RFC 2397), the chat format's way to carry bytes.
 */

/** The content of a `data:` URL: media type in lower case without parameters, bytes as base64. */
interface DataUrl {
  /** `text/plain` where the URL has none. */
  readonly mediaType: string;
  /** Base64; not validated where the URL contained base64. */
  readonly data: string;
}

/** Parses a `data:` URL, base64 or percent-encoded; undefined for any other text. */
export function parseDataUrl(url: string): DataUrl | undefined {
  if (!/^data:/i.test(url)) return undefined;
  const comma = url.indexOf(",");
  if (comma < 0) return undefined;
  const [type = "", ...parameters] = url.slice(5, comma).split(";");
  const mediaType = type.trim().toLowerCase() || "text/plain";
  const payload = url.slice(comma + 1);
  if (
    parameters.some((parameter) => parameter.trim().toLowerCase() === "base64")
  ) {
    return {
      mediaType: mediaType === "image/jpg" ? "image/jpeg" : mediaType,
      data: payload,
    };
  }
  try {
    const bytes = new TextEncoder().encode(decodeURIComponent(payload));
    let binary = "";
    for (const byte of bytes) binary += String.fromCharCode(byte);
    return { mediaType, data: btoa(binary) };
  } catch {
    return undefined;
  }
}

/** Makes a base64 `data:` URL. */
export function dataUrl(mediaType: string, data: string): string {
  return `data:${mediaType};base64,${data}`;
}

/** Decodes base64 of UTF-8 text. */
export function base64Text(data: string): string {
  try {
    return new TextDecoder().decode(
      Uint8Array.from(atob(data), (char) => char.charCodeAt(0)),
    );
  } catch {
    return data;
  }
}
