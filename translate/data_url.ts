/**
 * `data:` addresses, the chat format's way of carrying bytes (RFC 2397).
 *
 * @module
 */

/** The bytes of a `data:` address: media type in lower case without parameters, bytes as base64. */
export interface DataUrl {
  /** `text/plain` where the address names none. */
  readonly mediaType: string;
  /** Base64, not checked where the address held base64 already. */
  readonly data: string;
}

/** Reads a `data:` address, base64 or percent-encoded; undefined where the text is none. */
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

/** Writes a base64 `data:` address. */
export function dataUrl(mediaType: string, data: string): string {
  return `data:${mediaType};base64,${data}`;
}

/** The text that base64 bytes spell in UTF-8. */
export function base64Text(data: string): string {
  try {
    return new TextDecoder().decode(
      Uint8Array.from(atob(data), (char) => char.charCodeAt(0)),
    );
  } catch {
    return data;
  }
}
