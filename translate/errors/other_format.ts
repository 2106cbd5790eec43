/**
 * Detects requests written in the other client format: the client is set up for one endpoint and
 * calls the other. The schemas would only report a missing field; the errors here name the mistake.
 */
import { invalidField } from "../model/error.ts";
import { arrayOr, isObject, type JsonObject } from "../bytes/json.ts";

/** How one format's parts look to the other format's decoder. */
interface Signs {
  /** The format's name and its endpoint, for the error text. */
  readonly name: string;
  readonly endpoint: string;
  /** A description of the misplaced part; undefined where it is not in the other format's shape. */
  tool(tool: JsonObject): string | undefined;
  choice(choice: unknown): string | undefined;
  message(message: JsonObject): string | undefined;
  part(part: JsonObject): string | undefined;
}

const CHAT_SIGNS: Signs = {
  name: "chat-completion format",
  endpoint: "/v1/chat/completions",
  tool: ({ type, function: defined }) =>
    isObject(defined) && (type === undefined || type === "function")
      ? 'a tool is {"name": …, "description": …, "input_schema": {…}}'
      : undefined,
  choice: (choice) =>
    typeof choice === "string" ||
      (isObject(choice) && choice["type"] === "function")
      ? 'it is {"type": "auto"}, {"type": "any"}, {"type": "none"} or {"type": "tool", "name": …}'
      : undefined,
  message: ({ role, tool_call_id, tool_calls }) =>
    role === "tool" && typeof tool_call_id === "string"
      ? "a tool's result is a tool_result block in a user message"
      : arrayOr(tool_calls).length > 0
      ? "a call is a tool_use block in the message's content"
      : undefined,
  part: ({ type, image_url }) =>
    type === "image_url" && image_url !== undefined
      ? 'a picture is {"type": "image", "source": {…}}'
      : undefined,
};

const MESSAGES_SIGNS: Signs = {
  name: "message format",
  endpoint: "/v1/messages",
  tool: ({ name, input_schema, function: defined }) =>
    typeof name === "string" && isObject(input_schema) && defined === undefined
      ? 'a tool is {"type": "function", "function": {"name": …, "description": …, "parameters": {…}}}'
      : undefined,
  // The decoder accepts this form, so it is not refused.
  choice: () => undefined,
  message: () => undefined,
  part: ({ type, source, tool_use_id, input }) =>
    type === "image" && isObject(source)
      ? 'a picture is {"type": "image_url", "image_url": {"url": …}}'
      : type === "tool_result" && typeof tool_use_id === "string"
      ? 'a tool\'s result is a message with role "tool" and tool_call_id'
      : type === "tool_use" && isObject(input)
      ? "a call is in the assistant message's tool_calls"
      : undefined,
};

/**
 * Refuses parts in the chat-completion format's shape. @throws {ApiError} `invalid_request` with
 * the path of the first of them
 */
export function refuseChatShapes(body: unknown): void {
  refuseShapes(body, CHAT_SIGNS);
}

/**
 * Refuses parts in the message format's shape. @throws {ApiError} `invalid_request` with the path
 * of the first of them
 */
export function refuseMessageShapes(body: unknown): void {
  refuseShapes(body, MESSAGES_SIGNS);
}

function refuseShapes(body: unknown, signs: Signs): void {
  if (!isObject(body)) return;
  const look = (path: string, here: string | undefined): void => {
    if (here === undefined) return;
    throw invalidField(
      path,
      `is in the ${signs.name}'s shape; here ${here}. Requests in the ${signs.name} go to POST ${signs.endpoint}`,
    );
  };
  for (const [i, tool] of arrayOr(body["tools"]).entries()) {
    if (isObject(tool)) look(`tools[${i}]`, signs.tool(tool));
  }
  if (body["tool_choice"] !== undefined) {
    look("tool_choice", signs.choice(body["tool_choice"]));
  }
  for (const [i, message] of arrayOr(body["messages"]).entries()) {
    if (!isObject(message)) continue;
    look(`messages[${i}]`, signs.message(message));
    for (const [j, part] of arrayOr(message["content"]).entries()) {
      if (isObject(part)) {
        look(`messages[${i}].content[${j}]`, signs.part(part));
      }
    }
  }
}
