/**
 * Encodes `generationConfig`: the settings, the output format and reasoning.
 */
import type { Capabilities } from "../../model/capabilities.ts";
import type { DroppedFields } from "../../model/dropped_fields.ts";
import { type JsonObject, objectOr } from "../../bytes/json.ts";
import type { GenerationRequest, OutputFormat } from "../../model/request.ts";
import { encodeSettings } from "../../model/settings_table.ts";
import { openapiSchema } from "./openapi_schema.ts";
import { encodeReasoning } from "./encode_reasoning.ts";
import { SETTINGS } from "./settings.ts";

/**
 * Encodes the config; undefined where the client set none of its fields. `format` is absent where a
 * tool replaces it.
 *
 * @throws {ApiError} `invalid_request` for a setting that can be neither sent nor dropped
 */
export function encodeConfig(
  request: GenerationRequest,
  format: OutputFormat | undefined,
  can: Capabilities,
  dropped: DroppedFields,
): JsonObject | undefined {
  const thinking = encodeReasoning(request.reasoning, can);
  if (thinking.dropped) dropped.field("reasoning");
  const settings = encodeSettings(SETTINGS, request, can, dropped, undefined);
  const config = {
    ...objectOr(settings["generationConfig"]),
    ...formatFields(format, can),
    ...(thinking.config === undefined
      ? {}
      : { thinkingConfig: thinking.config }),
  };
  return Object.keys(config).length > 0 ? config : undefined;
}

function formatFields(
  format: OutputFormat | undefined,
  can: Capabilities,
): JsonObject {
  switch (format?.type) {
    case undefined:
    case "text":
      return {};
    case "json":
      return { responseMimeType: "application/json" };
    case "schema":
      return {
        responseMimeType: "application/json",
        ...(can.schema === "openapi"
          ? { responseSchema: openapiSchema(format.schema) }
          : { responseJsonSchema: format.schema }),
      };
  }
}
