/** The tools that a request of any dialect offers, and its tool choice. */
import type { DialectName } from "@model-gateway/replay/parse_request";
import { isObject, type Json } from "@model-gateway/replay/json";
import { at, listAt, sameJson, textAt } from "./json_path.ts";

export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  readonly schema: Json | undefined;
}

/** A tool choice: `auto`, `any`, `none`, `tool:NAME`, or `unset`. */
interface ToolChoice {
  readonly choice: string;
  /** Whether parallel calls are allowed; undefined when the request has no such member. */
  readonly parallel: boolean | undefined;
}

/** The offered tools, in order. */
export function offeredTools(
  dialect: DialectName,
  body: Json | undefined,
): readonly OfferedTool[] {
  const tools = listAt(body, "tools");
  if (dialect === "messages") {
    return tools.map((tool) => offered(tool, at(tool, "input_schema")));
  }
  if (dialect === "responses") return tools.flatMap(responsesTools);
  if (dialect === "chat_completions") {
    return tools.map((tool) =>
      offered(at(tool, "function"), at(tool, "function.parameters"))
    );
  }
  return tools.flatMap((tool) => [
    ...listAt(tool, "functionDeclarations"),
    ...listAt(tool, "function_declarations"),
  ]).map((tool) =>
    offered(tool, at(tool, "parametersJsonSchema") ?? at(tool, "parameters"))
  );
}

/** The tools that clients run; those of a group under the names of the group and of the tool. */
function responsesTools(tool: Json): readonly OfferedTool[] {
  switch (at(tool, "type")) {
    case "namespace":
      return listAt(tool, "tools").flatMap(responsesTools).map((each) => ({
        ...each,
        name: `${textAt(tool, "name")}.${each.name}`,
      }));
    case "function":
    case "custom":
      return [offered(tool, at(tool, "parameters"))];
  }
  return [];
}

function offered(
  tool: Json | undefined,
  schema: Json | undefined,
): OfferedTool {
  return {
    name: textAt(tool, "name"),
    description: textAt(tool, "description"),
    schema,
  };
}

export function toolChoiceIn(
  dialect: DialectName,
  body: Json | undefined,
): ToolChoice {
  const choice = at(body, "tool_choice");
  if (dialect === "messages") {
    const type = textAt(choice, "type") || "unset";
    const single = at(choice, "disable_parallel_tool_use");
    return {
      choice: type === "tool" ? `tool:${textAt(choice, "name")}` : type,
      parallel: typeof single === "boolean" ? !single : undefined,
    };
  }
  if (dialect === "chat_completions" || dialect === "responses") {
    const parallel = at(body, "parallel_tool_calls");
    return {
      choice: typeof choice === "string"
        ? choice === "required" ? "any" : choice
        : textAt(choice, "type") === "allowed_tools"
        ? "allowed_tools"
        : isObject(choice)
        ? `tool:${textAt(choice, "function.name") || textAt(choice, "name")}`
        : "unset",
      parallel: typeof parallel === "boolean" ? parallel : undefined,
    };
  }
  const config = at(body, "toolConfig") ?? at(body, "tool_config");
  const calling = at(config, "functionCallingConfig") ??
    at(config, "function_calling_config");
  const word = textAt(calling, "mode").toLowerCase() || "unset";
  // A free choice among functions whose schemas bind the calls.
  const mode = word === "validated" ? "auto" : word;
  const names = listAt(calling, "allowedFunctionNames").concat(
    listAt(calling, "allowed_function_names"),
  );
  return {
    choice: mode === "any" && names.length === 1
      ? `tool:${String(names[0])}`
      : mode,
    parallel: undefined,
  };
}

/** Schema keywords that the dialect with its own kind of schema may express in another way. */
const NOT_IN_OWN_KIND = new Set(["additionalProperties", "$schema", "default"]);

/** True when a schema keeps everything that another one states; it may state more. */
export function keepsSchema(
  sent: Json | undefined,
  found: Json | undefined,
  ownKind: boolean,
): boolean {
  if (Array.isArray(sent)) {
    return Array.isArray(found) && found.length === sent.length &&
      sent.every((item: Json, index) =>
        keepsSchema(item, found[index], ownKind)
      );
  }
  if (!isObject(sent)) {
    return sameJson(sent, found) ||
      (ownKind && typeof sent === "string" && typeof found === "string" &&
        sent.toLowerCase() === found.toLowerCase());
  }
  return isObject(found) &&
    Object.entries(sent).every(([key, value]) =>
      (ownKind && NOT_IN_OWN_KIND.has(key) && found[key] === undefined) ||
      keepsSchema(value, found[key], ownKind)
    );
}
