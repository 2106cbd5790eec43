/**
 * Encodes the neutral request for an upstream of this format. Only the model's capabilities
 * decide what is sent, never the name of a model or vendor.
 */
import type { Capabilities } from "../../model/capabilities.ts";
import type { EncodedRequest } from "../../dialect.ts";
import { withoutTakenMarks } from "../../turns/cache_marks.ts";
import { compact } from "../../bytes/compact.ts";
import { arrayOr, objectOr } from "../../bytes/json.ts";
import type { GenerationRequest } from "../../model/request.ts";
import {
  droppedFieldsOf,
  refuseEssential,
} from "../../model/dropped_fields.ts";
import { encodeSettings } from "../../model/settings_table.ts";
import { encodeMessages } from "./encode_messages.ts";
import { encodeReasoning } from "./encode_reasoning.ts";
import { encodeTools } from "./encode_tools.ts";
import { ENCRYPTED_REASONING } from "./clean_request.ts";
import { SETTINGS } from "./settings.ts";
import { type Steps } from "../../steps.ts";

/**
 * Encodes a request for an upstream. It asks the upstream to store nothing, so it also asks for
 * the signatures of reasoning, which a later request needs instead of the stored state.
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
  const messages = yield* encodeMessages(request, can, dropped);
  const { fields, context } = encodeTools(request, can, dropped);
  const settings = encodeSettings(SETTINGS, request, can, dropped, undefined);
  const included = [
    ...(can.encryptedReasoning ? [ENCRYPTED_REASONING] : []),
    ...arrayOr(fields["include"]),
    ...arrayOr(settings["include"]),
  ];
  const body = compact({
    model: request.model,
    ...messages,
    ...fields,
    ...settings,
    text: fields["text"] === undefined && settings["text"] === undefined
      ? undefined
      : { ...objectOr(fields["text"]), ...objectOr(settings["text"]) },
    reasoning: encodeReasoning(request.reasoning, can, dropped),
    store: false,
    include: included.length === 0 ? undefined : included,
    stream: request.stream ? true : undefined,
  });
  return { body, headers: {}, dropped: dropped.all(), context };
}
