/**
 * Encodes the neutral request for an upstream of this format. Only the model's capabilities
 * decide what is sent, never the name of a model or vendor.
 */
import type { Capabilities } from "../../model/capabilities.ts";
import type { EncodedRequest } from "../../dialect.ts";
import { withoutTakenMarks } from "../../turns/cache_marks.ts";
import { compact } from "../../bytes/compact.ts";
import type { GenerationRequest } from "../../model/request.ts";
import { encodeMessages } from "./encode_messages.ts";
import { encodeReasoning } from "./encode_reasoning.ts";
import { encodeTools } from "./encode_tools.ts";
import { schemaInstruction, writesSchema } from "./host_forms.ts";
import {
  type DroppedFields,
  droppedFieldsOf,
  refuseEssential,
} from "../../model/dropped_fields.ts";
import { encodeSettings } from "../../model/settings_table.ts";
import { SETTINGS } from "./settings.ts";
import { type Steps } from "../../steps.ts";

/**
 * Encodes a request for an upstream.
 *
 * @throws {ApiError} `invalid_request` naming, by the client's name for it, a field that this
 * format cannot express and that must not be dropped
 */
export function* encodeRequest(
  request: GenerationRequest,
  can: Capabilities,
): Steps<EncodedRequest> {
  refuseEssential(request);
  const dropped = droppedFieldsOf(request, withoutTakenMarks(request, can));
  const asked = withSchemaWritten(request, can, dropped);
  const messages = yield* encodeMessages(asked, can, dropped);
  const { fields, context } = encodeTools(asked, can, dropped);
  const body = compact({
    model: request.model,
    messages,
    ...fields,
    ...encodeSettings(SETTINGS, request, can, dropped, undefined),
    reasoning_effort: encodeReasoning(request.reasoning, can, dropped),
    stream: request.stream ? true : undefined,
    stream_options: request.stream && can.includeUsage
      ? { include_usage: true }
      : undefined,
  });
  return { body, headers: {}, dropped: dropped.all(), context };
}

/** The request with its schema as an instruction, where the host can be bound to JSON alone. */
function withSchemaWritten(
  request: GenerationRequest,
  can: Capabilities,
  dropped: DroppedFields,
): GenerationRequest {
  const { format } = request;
  if (format?.type !== "schema" || !writesSchema(can)) return request;
  dropped.field("format");
  const text = schemaInstruction(format.schema);
  return {
    ...request,
    system: [...request.system, { type: "text", text }],
    format: { type: "json" },
  };
}
