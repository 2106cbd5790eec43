/**
 * The usage chunk of streams that pass through. The gateway always requests it, because billing
 * needs it, and removes it again if the client did not ask for it.
 */
import type { Capabilities } from "../../model/capabilities.ts";
import type { EncodeContext } from "../../dialect.ts";
import {
  isObject,
  type JsonObject,
  objectOr,
  parseJson,
} from "../../bytes/json.ts";
import type { Frame } from "../../stream/sse.ts";

/** A cheap test that avoids parsing: nearly every frame has a choice, the usage chunk has none. */
const NO_CHOICES = /"choices"\s*:\s*\[\s*\]/;

/** The `stream_options` to set if the client streams without asking for usage. */
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

/** Whether the frame is a usage chunk that the client did not ask for. */
export function isUnrequestedUsage(
  frame: Frame,
  context: EncodeContext,
): boolean {
  if (context.wantUsage || !NO_CHOICES.test(frame.data)) return false;
  const chunk = objectOr(parseJson(frame.data));
  return Array.isArray(chunk["choices"]) && chunk["choices"].length === 0 &&
    isObject(chunk["usage"]);
}
