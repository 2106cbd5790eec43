/**
 * Decodes a client's tools and tool choice. `encode_tools.ts` is the inverse.
 */
import { isObject, type JsonObject } from "../../bytes/json.ts";
import { invalidField } from "../../model/error.ts";
import type {
  FunctionTool,
  RequestSettings,
  Tool,
  ToolChoice,
} from "../../model/request.ts";
import { asJson } from "../../model/unknown_fields.ts";
import { note, type Reading } from "./decode_messages.ts";
import { jsonSchema } from "./json_schema.ts";
import type {
  GenerateContentRequest,
  WireCallingConfig,
  WireFunction,
  WireTool,
} from "./wire.ts";

const FUNCTION_FIELDS: ReadonlySet<string> = new Set([
  "name",
  "description",
  "parameters",
  "parametersJsonSchema",
]);
const CONFIG_FIELDS: ReadonlySet<string> = new Set(["functionCallingConfig"]);
const CALLING_FIELDS: ReadonlySet<string> = new Set([
  "mode",
  "allowedFunctionNames",
]);

/**
 * Decodes tools and tool choice. `VALIDATED` binds calls to the functions' schemas, so the
 * functions are strict.
 *
 * @throws {ApiError} `invalid_request` for an unknown mode
 */
export function decodeTools(
  request: GenerateContentRequest,
  reading: Reading,
): Pick<RequestSettings, "tools" | "toolChoice"> {
  const { tools, toolConfig } = request;
  const calling = toolConfig?.functionCallingConfig ?? undefined;
  note(toolConfig, CONFIG_FIELDS, "toolConfig.", reading);
  note(calling, CALLING_FIELDS, "toolConfig.functionCallingConfig.", reading);
  const mode = modeOf(calling, reading);
  const toolChoice = choiceOf(mode, calling?.allowedFunctionNames ?? []);
  return {
    ...(tools
      ? {
        tools: tools.flatMap((tool, at) =>
          decodeTool(tool, at, mode === "VALIDATED", reading)
        ),
      }
      : {}),
    ...(toolChoice === undefined ? {} : { toolChoice }),
  };
}

function decodeTool(
  tool: WireTool,
  index: number,
  strict: boolean,
  reading: Reading,
): readonly Tool[] {
  const { functionDeclarations: _, ...others } = asJson(tool);
  const functions = tool.functionDeclarations ?? [];
  return [
    ...functions.map((declared) => decodeFunction(declared, strict, reading)),
    ...Object.entries(others).flatMap(([kind, value]): readonly Tool[] =>
      value === null || value === undefined ? [] : [{
        type: "opaque",
        from: "generate_content",
        kind: reading.written(kind),
        path: reading.written(`tools[${index}].${kind}`),
        value: { [kind]: value },
      }]
    ),
  ];
}

function decodeFunction(
  declared: WireFunction,
  strict: boolean,
  reading: Reading,
): FunctionTool {
  note(
    declared,
    FUNCTION_FIELDS,
    "tools[].functionDeclarations[].",
    reading,
  );
  const { name, description } = declared;
  const parameters = parametersOf(declared);
  return {
    type: "function",
    name,
    ...(typeof description === "string" ? { description } : {}),
    ...(parameters === undefined ? {} : { parameters }),
    ...(strict ? { strict } : {}),
  };
}

function parametersOf(
  { parameters, parametersJsonSchema }: WireFunction,
): JsonObject | undefined {
  if (isObject(parametersJsonSchema)) return parametersJsonSchema;
  return parameters ? jsonSchema(parameters) : undefined;
}

const MODES: ReadonlySet<string> = new Set([
  "AUTO",
  "ANY",
  "NONE",
  "VALIDATED",
  "MODE_UNSPECIFIED",
]);

/** The vendor takes the mode in any case. */
function modeOf(
  calling: WireCallingConfig | undefined,
  { written }: Reading,
): string | undefined {
  const mode = calling?.mode?.toUpperCase();
  if (mode === undefined || MODES.has(mode)) return mode;
  throw invalidField(
    written("toolConfig.functionCallingConfig.mode"),
    "expected AUTO, ANY, NONE or VALIDATED",
  );
}

function choiceOf(
  mode: string | undefined,
  names: readonly string[],
): ToolChoice | undefined {
  const [only] = names.length === 1 ? names : [];
  switch (mode) {
    case "NONE":
      return { type: "none" };
    case "ANY":
      if (only !== undefined) return { type: "tool", name: only };
      return names.length > 0
        ? { type: "allowed", required: true, names }
        : { type: "required" };
    case "AUTO":
    case "VALIDATED":
      return names.length > 0
        ? { type: "allowed", required: false, names }
        : { type: "auto" };
  }
  return undefined;
}
