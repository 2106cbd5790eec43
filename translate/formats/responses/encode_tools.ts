/**
 * Encodes neutral tools, tool choice and output format as fields of an upstream request.
 */
import type { Capabilities } from "../../model/capabilities.ts";
import { compact } from "../../bytes/compact.ts";
import type { JsonObject } from "../../bytes/json.ts";
import { wireToolName } from "../../turns/names.ts";
import { objectSchema } from "../../turns/object_schema.ts";
import type {
  FunctionTool,
  GenerationRequest,
  OpaqueTool,
  OutputFormat,
  ToolChoice,
} from "../../model/request.ts";
import {
  DEFAULT_SCHEMA_NAME,
  type EncodedTools,
  offeredTools,
  toolFields,
} from "../../families/chat/tools.ts";
import { loseBounds, translatedSearch } from "../../turns/web_search.ts";
import { isStrict } from "../../families/chat/strict_tools.ts";
import type { DroppedFields } from "../../model/dropped_fields.ts";

const SCHEMA_NAME_CHARS = 64;
/**
 * Encodes `tools`, `tool_choice`, `parallel_tool_calls` and `text`.
 *
 * @throws {ApiError} `invalid_request` if the only tools, or the chosen tool, belong to another
 * format
 */
export function encodeTools(
  request: GenerationRequest,
  can: Capabilities,
  dropped: DroppedFields,
): EncodedTools {
  const { kept, toolNames, freeText } = offeredTools(
    request,
    "responses",
    can,
    dropped,
  );
  const found = kept.find((tool) =>
    translatedSearch(tool, "responses", can) !== undefined
  );
  const search = found && translatedSearch(found, "responses", can);
  const tools = kept.flatMap((tool) =>
    tool.type === "function"
      ? [encodeTool(tool, can)]
      : translatedSearch(tool, "responses", can) === undefined
      ? [tool.value]
      : tool === found
      ? [searchTool(tool, dropped)]
      : []
  );
  const format = request.format === undefined
    ? undefined
    : encodeFormat(request.format, can);
  return {
    fields: compact({
      ...toolFields(
        request,
        tools,
        can,
        dropped,
        (choice) =>
          choice.type === "tool" && choice.name === found?.name
            ? { type: SEARCH }
            : encodeChoice(choice, freeText, can),
      ),
      max_tool_calls: search?.max_uses,
      include: search && [SOURCES],
      text: format === undefined ? undefined : { format },
    }),
    context: { toolNames },
  };
}

/** The format's search of the web, and what makes its replies list what was found. */
const SEARCH = "web_search";
const SOURCES = "web_search_call.action.sources";

/** @throws {ApiError} `invalid_request` for a bound that the format's search does not have */
function searchTool(
  { search = { others: [] }, path }: OpaqueTool,
  dropped: DroppedFields,
): JsonObject {
  loseBounds(search, path, ["blocked_domains"], dropped.path);
  const { allowed_domains, user_location } = search;
  return compact({
    type: SEARCH,
    filters: allowed_domains && { allowed_domains },
    user_location,
  });
}

function encodeTool(tool: FunctionTool, can: Capabilities): JsonObject {
  const name = wireToolName(tool.name, can.maxToolName);
  const { freeText } = tool;
  if (freeText !== undefined && can.customTools) {
    return compact({
      type: "custom",
      name,
      description: freeText.description,
      format: freeText.grammar === undefined
        ? undefined
        : { type: "grammar", ...freeText.grammar },
    });
  }
  return compact({
    type: "function",
    name,
    description: tool.description,
    parameters: objectSchema(tool.parameters),
    // An absent `strict` means true in this format and false in the format of the client's
    // request.
    strict: tool.strict ?? false,
  });
}

function encodeChoice(
  choice: ToolChoice,
  freeText: ReadonlySet<string>,
  can: Capabilities,
): unknown {
  const choiceOf = (name: string): JsonObject => ({
    type: freeText.has(name) ? "custom" : "function",
    name: wireToolName(name, can.maxToolName),
  });
  switch (choice.type) {
    case "auto":
    case "required":
    case "none":
      return choice.type;
    case "tool":
      return choiceOf(choice.name);
    case "allowed":
      return {
        type: "allowed_tools",
        mode: choice.required ? "required" : "auto",
        tools: choice.names.map(choiceOf),
      };
  }
}

function encodeFormat(
  format: OutputFormat,
  can: Capabilities,
): JsonObject | undefined {
  switch (format.type) {
    case "text":
      return undefined;
    case "json":
      return { type: "json_object" };
    case "schema":
      return compact({
        type: "json_schema",
        name: wireToolName(
          format.name ?? DEFAULT_SCHEMA_NAME,
          Math.min(can.maxToolName, SCHEMA_NAME_CHARS),
        ),
        description: format.description,
        schema: format.schema,
        strict: format.strict ?? isStrict(format.schema),
      });
  }
}
