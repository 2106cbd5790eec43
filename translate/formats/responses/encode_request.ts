/**
 * Encodes the neutral request for an upstream of this format. Only the model's capabilities
 * decide what is sent, never the name of a model or vendor.
 *
 * @module
 */
import type { Capabilities } from "../../model/capabilities.ts";
import type { EncodedRequest } from "../../dialect.ts";
import { invalidField } from "../../model/error.ts";
import { withoutTakenMarks } from "../../model/cache_marks.ts";
import { promptCacheOptions } from "../../model/prompt_cache.ts";
import { compact } from "../../bytes/json.ts";
import { sha256 } from "../../model/names.ts";
import type { GenerationRequest } from "../../model/request.ts";
import { droppedFieldsOf } from "../../model/dropped_fields.ts";
import { encodeConfig } from "./encode_config.ts";
import { encodeMessages } from "./encode_messages.ts";
import { encodeReasoning } from "./encode_reasoning.ts";
import { encodeTools } from "./encode_tools.ts";
import { ENCRYPTED_REASONING } from "./clean_request.ts";

/** The maximum length of a user id in this format. */
const MAX_USER_ID = 64;

/**
 * Encodes a request for an upstream. It asks the upstream to store nothing, so it also asks for
 * the signatures of reasoning, which a later request needs instead of the stored state.
 *
 * @throws {ApiError} `invalid_request` naming, by the caller's name for it, a field that this
 * format cannot express and that must not be dropped
 */
export function encodeRequest(
  request: GenerationRequest,
  can: Capabilities,
): EncodedRequest {
  const demand = request.essential[0];
  if (demand !== undefined) {
    throw invalidField(demand, "not supported for this model");
  }
  const losses = droppedFieldsOf(request, withoutTakenMarks(request, can));
  if ((request.candidates ?? 1) > 1) {
    throw losses.refusal("candidates", "only one answer can be asked for");
  }
  const messages = encodeMessages(request, can, losses);
  const { fields, context } = encodeTools(request, can, losses);
  const body = compact({
    model: request.model,
    ...messages,
    ...fields,
    ...encodeConfig(request, can, losses),
    reasoning: encodeReasoning(request.reasoning, can, losses),
    safety_identifier: request.user === undefined
      ? undefined
      : userId(request.user),
    service_tier: request.serviceTier,
    prompt_cache_options: promptCacheOptions(request, can, losses, true),
    store: false,
    include: can.encryptedReasoning ? [ENCRYPTED_REASONING] : undefined,
    stream: request.stream ? true : undefined,
  });
  return { body, headers: {}, dropped: losses.all(), context };
}

/** Hashes an id that is too long; the same user always gets the same hash. */
function userId(user: string): string {
  return user.length <= MAX_USER_ID ? user : sha256(user);
}
