/**
 * Parts of a reply's content, and what stands beside them, as hosts of this format send them.
 */
import {
  arrayOr,
  isObject,
  objectOr,
  stringIn,
  textIn,
} from "../../bytes/json.ts";
import { type Citation, readUrlCitation } from "../../model/citation.ts";

/** Types of parts that are read, and of those that only contain the places of sources. */
export const KNOWN_PARTS: ReadonlySet<string> = new Set([
  "output_text",
  "reasoning",
  "reference",
  "refusal",
  "text",
  "thinking",
  "tool_reference",
]);

/** A source in a list beside the choices: a search result, or an address alone. */
export function readSource(source: unknown): Citation | undefined {
  const { url = source, title, snippet } = objectOr(source);
  return readUrlCitation({ url, title, content: snippet });
}

/** Whether a part of the content is a picture or a sound. */
export function isMedia(part: unknown): boolean {
  const { image_url: image, audio } = objectOr(part);
  return isObject(image) || textIn(image) !== undefined || isSound(audio);
}

/** Whether a value is a sound with its bytes. */
export function isSound(audio: unknown): boolean {
  return textIn(objectOr(audio)["data"]) !== undefined;
}

/** The text of a `thinking` part. */
export function thinkingText(value: unknown): string {
  if (typeof value === "string") return value;
  return arrayOr(value).map((part) => stringIn(objectOr(part)["text"]) ?? "")
    .join("");
}
