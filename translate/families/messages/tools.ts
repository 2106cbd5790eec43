/**
 * Tools as the messages and the Converse formats take them.
 */
import { droppedToolPath } from "../../model/dropped_fields.ts";
import { invalidField } from "../../model/error.ts";
import type {
  DialectName,
  FunctionTool,
  GenerationRequest,
  OutputFormat,
  Tool,
} from "../../model/request.ts";
import type { Drop } from "./turns.ts";

const FORMAT_TOOL = "structured_output";

/**
 * The tools that the format can express, limited to the allowed ones where the choice lists some.
 *
 * @throws {ApiError} `invalid_request` where all tools, or the required one, belong to another
 * format
 */
export function offeredTools(
  request: GenerationRequest,
  format: DialectName,
  drop: Drop,
): readonly Tool[] {
  const { toolChoice: choice, fieldNames: words, tools = [] } = request;
  const offered: Tool[] = [];
  for (const tool of tools) {
    if (tool.type === "function" || tool.from === format) {
      offered.push(tool);
      continue;
    }
    if (choice?.type === "tool" && choice.name === tool.name) {
      throw invalidField(
        words.toolChoice,
        `the tool ${tool.name} is not available with this model`,
      );
    }
    drop(droppedToolPath(tool));
  }
  const [first] = tools;
  if (first?.type === "opaque" && offered.length === 0) {
    throw invalidField(
      first.path,
      `a tool of type "${first.kind}" is not available with this model`,
    );
  }
  if (choice?.type !== "allowed") return offered;
  const allowed = offered.filter(({ name }) =>
    name !== undefined && choice.names.includes(name)
  );
  return allowed.length === 0 ? offered : allowed;
}

/**
 * The tool whose arguments are the reply, where the model has no schemas of replies.
 *
 * @param taken the names of other tools
 * @throws {ApiError} `invalid_request` for a schema of something else than an object
 */
export function formatTool(
  form: OutputFormat & { readonly type: "schema" },
  taken: Iterable<string | undefined>,
  { fieldNames: words }: GenerationRequest,
): FunctionTool {
  const type = form.schema["type"];
  if (type !== undefined && type !== "object") {
    throw invalidField(
      words.format,
      "this model can bind its reply to a schema of type object only",
    );
  }
  const names = new Set(taken);
  let name = FORMAT_TOOL;
  while (names.has(name)) name += "_";
  return {
    type: "function",
    name,
    description: form.description ??
      "Give the final answer by calling this tool.",
    parameters: form.schema,
  };
}
