/**
 * The usage chunk of streams that pass through: the gateway asks for it, for it must bill, and takes it out again where the
 * caller did not ask.
 *
 * @module
 */
import type { Capabilities } from "../capabilities.ts";
import type { EncodeContext } from "../dialect.ts";
import { isObject, type JsonObject, objectOr, parseJson } from "../json.ts";
import type { Frame } from "../sse.ts";

/** Cheaper than parsing every frame: nearly all have a choice in them. */
const NO_CHOICES = /"choices"\s*:\s*\[\s*\]/;

/** The `stream_options` to set, where the caller streams and did not ask for usage itself. */
export function passThroughFields(
  body: JsonObject,
  can: Capabilities,
): Readonly<Record<string, unknown>> {
  if (body["stream"] !== true || !can.includeUsage) return {};
  const options = objectOr(body["stream_options"]);
  return options["include_usage"] === true
    ? {}
    : { stream_options: { ...options, include_usage: true } };
}

/** Whether a frame is the usage chunk and the caller did not ask for it. */
export function unasked(frame: Frame, context: EncodeContext): boolean {
  if (context.wantUsage || !NO_CHOICES.test(frame.data)) return false;
  const chunk = objectOr(parseJson(frame.data));
  return Array.isArray(chunk["choices"]) && chunk["choices"].length === 0 &&
    isObject(chunk["usage"]);
}
