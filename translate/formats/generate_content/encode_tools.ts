/**
 * Encodes tools and the tool choice as `tools` and `toolConfig`. `encode_messages.ts` encodes calls
 * and results in the history.
 */
import type { Capabilities } from "../../model/capabilities.ts";
import { droppedToolPath } from "../../model/dropped_fields.ts";
import { invalidField } from "../../model/error.ts";
import { arrayOr, isObject, type JsonObject } from "../../bytes/json.ts";
import { objectSchema } from "../../turns/object_schema.ts";
import type {
  FunctionTool,
  GenerationRequest,
  OpaqueTool,
  OutputFormat,
} from "../../model/request.ts";
import type { Drop } from "./encode_messages.ts";
import { functionName } from "./function_names.ts";
import { loseBounds, translatedSearch } from "../../turns/web_search.ts";
import { openapiSchema } from "./openapi_schema.ts";

/** The tool fields of a request. */
interface EncodedTools {
  /** Absent where no tool is left. */
  readonly tools?: readonly JsonObject[];
  /** Absent where the choice is the wire's default. */
  readonly toolConfig?: JsonObject;
}

/** A function that replaces structured output: its arguments are the reply. */
export interface FormatTool {
  /** Its name on the wire; no tool of the client has this name. */
  readonly name: string;
  /** The required form of its arguments. */
  readonly format: OutputFormat & { readonly type: "schema" };
}

/**
 * Encodes the tools and the tool choice.
 *
 * @throws {ApiError} `invalid_request` where only tools of other dialects are given, or the choice
 * is not among the tools
 */
export function encodeTools(
  request: GenerationRequest,
  formatTool: FormatTool | undefined,
  can: Capabilities,
  drop: Drop,
): EncodedTools {
  const { fieldNames: words, toolChoice } = request;
  const given = request.tools ?? [];
  const functions = given.filter((tool) => tool.type === "function");
  const own = given.filter((tool) =>
    tool.type === "opaque" && tool.from === "generate_content"
  );
  // The vendor's models take their search beside functions only with settings of their own.
  const found = functions.length > 0
    ? undefined
    : given.find((tool): tool is OpaqueTool =>
      translatedSearch(tool, "generate_content", can) !== undefined
    );
  const foreign = given.filter((tool): tool is OpaqueTool =>
    tool.type === "opaque" && tool.from !== "generate_content" && tool !== found
  );
  const [unknown] = foreign;
  if (
    unknown !== undefined && found === undefined &&
    functions.length + own.length === 0
  ) {
    throw invalidField(
      unknown.path,
      `this model's upstream has no tool of type "${unknown.kind}"`,
    );
  }
  for (const tool of foreign) drop(droppedToolPath(tool));
  if (request.parallelTools === false && functions.length > 0) {
    drop(words.parallelTools);
  }

  const offered = allowedFunctions(functions, toolChoice);
  const declarations = offered.map((tool) => declaration(tool, can));
  if (formatTool !== undefined) {
    declarations.push(formatDeclaration(formatTool, can));
  }
  const tools = [
    ...(declarations.length > 0
      ? [{ functionDeclarations: declarations }]
      : []),
    ...own.flatMap((tool) => tool.type === "opaque" ? [tool.value] : []),
    ...(found === undefined ? [] : [searchTool(found, drop)]),
  ];
  const isSearchChosen = found !== undefined &&
    (toolChoice?.type === "required" || toolChoice?.type === "tool");
  // A search cannot be forced.
  if (isSearchChosen) drop(words.toolChoice);
  const plain = isSearchChosen
    ? undefined
    : callingConfig(request, functions, formatTool, can);
  const config = isValidated(offered, plain, can)
    ? { ...plain, mode: "VALIDATED" }
    : plain;
  const isFree = config === undefined || config["mode"] === "AUTO";
  if (isFree && offered.some((tool) => tool.strict === true)) {
    drop(`${words.tools}[].strict`);
  }
  return {
    ...(tools.length > 0 ? { tools } : {}),
    ...(config === undefined
      ? {}
      : { toolConfig: { functionCallingConfig: config } }),
  };
}

/** @throws {ApiError} `invalid_request` for a bound that the format's search does not have */
function searchTool(
  { search = { others: [] }, path }: OpaqueTool,
  drop: Drop,
): JsonObject {
  loseBounds(search, path, [
    "allowed_domains",
    "blocked_domains",
    "max_uses",
    "user_location",
  ], drop);
  return { googleSearch: {} };
}

/**
 * Whether calls that the model may make are bound to the schemas. The format can bind all functions
 * or none, and a call that must be made is always bound.
 */
function isValidated(
  offered: readonly FunctionTool[],
  config: JsonObject | undefined,
  can: Capabilities,
): boolean {
  return (config === undefined || config["mode"] === "AUTO") &&
    can.strictTools && can.schema !== "openapi" && offered.length > 0 &&
    offered.every((tool) => tool.strict === true);
}

/**
 * For a choice of "any or none of these", the other tools are left out: the format can limit the
 * choice by name only where a call is forced.
 */
function allowedFunctions(
  functions: readonly FunctionTool[],
  choice: GenerationRequest["toolChoice"],
): readonly FunctionTool[] {
  if (choice?.type !== "allowed" || choice.required) return functions;
  const allowed = functions.filter((tool) => choice.names.includes(tool.name));
  return allowed.length > 0 ? allowed : functions;
}

function declaration(tool: FunctionTool, can: Capabilities): JsonObject {
  return {
    name: functionName(tool.name, can.maxToolName),
    ...(tool.description === undefined
      ? {}
      : { description: tool.description }),
    ...parametersField(tool.parameters, can),
  };
}

function formatDeclaration(
  { name, format }: FormatTool,
  can: Capabilities,
): JsonObject {
  return {
    name,
    description: format.description ??
      "Gives the final answer. Call it once, with the whole answer.",
    ...parametersField(format.schema, can),
  };
}

/**
 * The field is absent for a function without arguments: older models refuse an object schema
 * without properties.
 */
function parametersField(
  given: JsonObject | undefined,
  can: Capabilities,
): JsonObject {
  if (given === undefined || isEmptyObjectSchema(given)) return {};
  const schema = hasProperties(given) ? objectSchema(given) : given;
  if (can.schema !== "openapi") return { parametersJsonSchema: schema };
  const parameters = openapiSchema(schema);
  return parameters["type"] === "object" && !hasProperties(parameters)
    ? {}
    : { parameters };
}

/** Keywords that do not allow any argument. */
const EMPTY_KEYWORDS: ReadonlySet<string> = new Set([
  "$schema",
  "additionalProperties",
  "description",
  "properties",
  "required",
  "title",
  "type",
]);

function isEmptyObjectSchema(schema: JsonObject): boolean {
  const additional = schema["additionalProperties"];
  return (additional === undefined || additional === false) &&
    arrayOr(schema["required"]).length === 0 && !hasProperties(schema) &&
    (schema["type"] === undefined || schema["type"] === "object") &&
    Object.keys(schema).every((keyword) => EMPTY_KEYWORDS.has(keyword));
}

function hasProperties(schema: JsonObject): boolean {
  return isObject(schema["properties"]) &&
    Object.keys(schema["properties"]).length > 0;
}

function callingConfig(
  request: GenerationRequest,
  functions: readonly FunctionTool[],
  formatTool: FormatTool | undefined,
  can: Capabilities,
): JsonObject | undefined {
  const { fieldNames: words, toolChoice: choice } = request;
  const only = (names: readonly string[]): JsonObject => {
    const known = functions.filter((tool) => names.includes(tool.name));
    if (known.length === 0) {
      throw invalidField(words.toolChoice, "names no function among the tools");
    }
    return {
      mode: "ANY",
      allowedFunctionNames: known.map((tool) =>
        functionName(tool.name, can.maxToolName)
      ),
    };
  };
  switch (choice?.type) {
    case "tool":
      return only([choice.name]);
    case "required":
      if (functions.length === 0) {
        throw invalidField(words.toolChoice, "no tools are given to call");
      }
      return {
        mode: "ANY",
        ...(formatTool === undefined ? {} : {
          allowedFunctionNames: functions.map((tool) =>
            functionName(tool.name, can.maxToolName)
          ),
        }),
      };
    case "allowed":
      if (choice.required) return only(choice.names);
      return formatTool !== undefined
        ? { mode: "ANY" }
        : functions.length === 0
        ? undefined
        : { mode: "AUTO" };
    case "none":
      if (formatTool !== undefined) {
        return { mode: "ANY", allowedFunctionNames: [formatTool.name] };
      }
      return functions.length === 0 ? undefined : { mode: "NONE" };
    case "auto":
      if (formatTool !== undefined) return { mode: "ANY" };
      return functions.length === 0 ? undefined : { mode: "AUTO" };
    case undefined:
      // With a format tool the answer itself is a call, so a call is always required.
      return formatTool === undefined ? undefined : { mode: "ANY" };
  }
}
