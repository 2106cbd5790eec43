/**
 * Reads the constraints that a request puts on its reply: token limit, stop strings, forced tool,
 * JSON schema.
 */
import { compact } from "../compact.ts";
import type { ParsedRequest } from "../parse_request.ts";
import {
  arrayOf,
  type Json,
  type JsonObject,
  numberOf,
  objectOf,
  stringOf,
} from "../json.ts";

interface OfferedTool {
  /** Name of the tool, as calls of it repeat it. */
  readonly name: string;
  /** The description; "" when there is none. */
  readonly about: string;
  /** JSON schema of the arguments; undefined when there is none. */
  readonly schema: Json | undefined;
  /** Responses: its group. */
  readonly namespace?: string;
  /** Responses: true when its input is free text. */
  readonly freeText?: boolean;
}

interface ReplyConstraints {
  /** Infinity when there is no limit. */
  readonly maxTokens: number;
  /** Stop strings; none when empty. */
  readonly stops: readonly string[];
  /** The tool that must be called; absent when the model may choose. */
  readonly forcedTool?: OfferedTool;
  /** Present when the reply must be JSON; without a schema any object will do. */
  readonly json?: { readonly schema: Json | undefined };
}

export function readConstraints(call: ParsedRequest): ReplyConstraints {
  const body = objectOf(call.body);
  const config = objectOf(
    body["generationConfig"] ?? body["generation_config"],
  );
  const limit = body["max_tokens"] ?? body["max_completion_tokens"] ??
    body["max_output_tokens"] ??
    config["maxOutputTokens"] ??
    config["max_output_tokens"];
  const stop = body["stop_sequences"] ?? body["stop"] ??
    config["stopSequences"] ?? config["stop_sequences"];
  const forcedTool = toolForcedBy(call, body);
  const json = jsonConstraint(body, config);
  return {
    maxTokens: numberOf(limit) ?? Infinity,
    stops: (typeof stop === "string" ? [stop] : arrayOf(stop)).map(stringOf)
      .filter((text) => text !== undefined && text !== "").map(String),
    ...compact({ forcedTool, json }),
  };
}

export function toolsOf(call: ParsedRequest): OfferedTool[] {
  const body = objectOf(call.body);
  const later = arrayOf(body["input"]).map(objectOf).filter(({ type }) =>
    type === "additional_tools"
  ).flatMap(({ tools }) => arrayOf(tools));
  return [...arrayOf(body["tools"]), ...later].map(objectOf).flatMap((tool) => {
    if (tool["type"] === "namespace") {
      return arrayOf(tool["tools"]).map(objectOf).map((each) => ({
        ...offered(each),
        namespace: stringOf(tool["name"]) ?? "",
      }));
    }
    const declarations = tool["functionDeclarations"] ??
      tool["function_declarations"];
    if (declarations !== undefined) {
      return arrayOf(declarations).map(objectOf).map(offered);
    }
    return [
      offered(
        tool["function"] === undefined ? tool : objectOf(tool["function"]),
      ),
    ];
  });
}

function offered(tool: JsonObject): OfferedTool {
  return {
    name: stringOf(tool["name"]) ?? "",
    about: stringOf(tool["description"]) ?? "",
    schema: tool["input_schema"] ?? tool["parameters"] ??
      tool["parametersJsonSchema"],
    ...(tool["type"] === "custom" ? { freeText: true } : {}),
  };
}

function toolForcedBy(
  call: ParsedRequest,
  body: JsonObject,
): OfferedTool | undefined {
  const tools = toolsOf(call).filter(({ name }) => name !== "");
  const choice = body["tool_choice"];
  if (choice === "required") return tools[0];
  const { type, name, namespace, function: chosen } = objectOf(choice);
  if (type === "allowed_tools") {
    return allowedTool(tools, objectOf(choice));
  }
  if (type === "any") return tools[0];
  const wanted = type === "function"
    ? objectOf(chosen)["name"] ?? name
    : type === "tool" || type === "custom"
    ? name
    : undefined;
  if (wanted !== undefined) {
    return tools.find((tool) =>
      tool.name === wanted && (namespace ?? tool.namespace) === tool.namespace
    );
  }
  const config = objectOf(body["toolConfig"] ?? body["tool_config"]);
  const calling = objectOf(
    config["functionCallingConfig"] ?? config["function_calling_config"],
  );
  if (calling["mode"] !== "ANY") return undefined;
  const names = arrayOf(
    calling["allowedFunctionNames"] ?? calling["allowed_function_names"],
  );
  return tools.find((tool) => names.length === 0 || names.includes(tool.name));
}

/** The first allowed tool, when one is required; the chat dialect has one more level. */
function allowedTool(
  tools: readonly OfferedTool[],
  choice: JsonObject,
): OfferedTool | undefined {
  const { mode, tools: allowed } = objectOf(choice["allowed_tools"] ?? choice);
  const names = arrayOf(allowed).map(objectOf).map((tool) =>
    objectOf(tool["function"] ?? tool)["name"]
  );
  return mode === "required"
    ? tools.find(({ name }) => names.includes(name))
    : undefined;
}

function jsonConstraint(
  body: JsonObject,
  config: JsonObject,
): ReplyConstraints["json"] {
  const chat = objectOf(body["response_format"]);
  if (chat["type"] === "json_object") return { schema: undefined };
  if (chat["type"] === "json_schema") {
    return { schema: objectOf(chat["json_schema"])["schema"] };
  }
  const format = objectOf(
    objectOf(body["output_config"])["format"] ?? body["output_format"] ??
      objectOf(body["text"])["format"],
  );
  if (format["type"] === "json_object") return { schema: undefined };
  if (format["type"] === "json_schema") return { schema: format["schema"] };
  if (config["responseMimeType"] !== "application/json") return undefined;
  return { schema: config["responseJsonSchema"] ?? config["responseSchema"] };
}
