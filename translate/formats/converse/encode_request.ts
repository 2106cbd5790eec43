/**
 * Encodes a request for an upstream of the Converse format. The model id and the choice of
 * streaming are in the address.
 */
import type { EncodedRequest } from "../../dialect.ts";
import type { Capabilities } from "../../model/capabilities.ts";
import { type Drop, opening } from "../../families/messages/turns.ts";
import type { GenerationRequest } from "../../model/request.ts";
import { withoutTakenMarks } from "../../turns/cache_marks.ts";
import {
  droppedFieldsOf,
  refuseEssential,
} from "../../model/dropped_fields.ts";
import { encodeSettings } from "../../model/settings_table.ts";
import { cachePoint } from "./cache_marks.ts";
import { arrangedTurns, encodeMessages } from "./encode_messages.ts";
import { encodeTools } from "./encode_tools.ts";
import { SETTINGS } from "./settings.ts";
import { type Steps } from "../../steps.ts";

/**
 * @throws {ApiError} `invalid_request` with the client's path of a field that can be neither
 * dropped nor expressed
 */
export function* encodeRequest(
  request: GenerationRequest,
  can: Capabilities,
): Steps<EncodedRequest> {
  const { fieldNames: words, reasoning } = request;
  refuseEssential(request);
  const dropped = droppedFieldsOf(request, withoutTakenMarks(request, can));
  const drop: Drop = dropped.path;
  // Reasoning is a setting of each model family, with no form in common.
  if (reasoning?.mode === "on" || reasoning?.effort !== undefined) {
    dropped.field("reasoning");
  }
  const { turns, system, hints } = opening(
    request,
    arrangedTurns(request, drop),
  );
  yield;
  const tools = encodeTools(request, can, drop);
  if (request.format?.type === "json") drop(words.format);
  const systemBlocks = [
    ...system.flatMap((part) => [
      { text: part.text },
      ...cachePoint(part, "system", request, can, drop),
    ]),
    ...hints.map((text) => ({ text })),
  ];
  return {
    body: {
      ...(systemBlocks.length === 0 ? {} : { system: systemBlocks }),
      messages: yield* encodeMessages(turns, request, can, drop),
      ...(tools.toolConfig === undefined
        ? {}
        : { toolConfig: tools.toolConfig }),
      ...encodeSettings(SETTINGS, request, can, dropped, undefined),
    },
    headers: {},
    dropped: dropped.all(),
    context: {
      toolNames: tools.toolNames,
      ...(tools.formatTool === undefined
        ? {}
        : { formatTool: tools.formatTool }),
    },
  };
}
