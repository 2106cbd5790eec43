/**
 * Items and tools of agents that their client runs itself, as the functions and turns that every
 * model knows: its search among deferred tools, and messages between its agents.
 */
import {
  arrayOr,
  isObject,
  type JsonObject,
  objectOr,
  stringIn,
  textIn,
} from "../../bytes/json.ts";

/** The function's name, and the type of the tool. */
export const TOOL_SEARCH = "tool_search";

/** Whether a tool is the search that the client runs; the vendor's own has another `execution`. */
export function isClientSearch(tool: JsonObject): boolean {
  return tool["type"] === TOOL_SEARCH && tool["execution"] === "client";
}

/** The tools that an item of the input brings. */
export function broughtTools(item: unknown): readonly unknown[] {
  const { type, tools } = objectOr(item);
  return type === "additional_tools" || type === "tool_search_output"
    ? arrayOr(tools)
    : [];
}

/**
 * The request with functions and messages in place of these tools and items; the same if it has
 * none. Items keep their places, so that their paths stay right.
 */
export function withClientTools(body: unknown): unknown {
  if (!isObject(body)) return body;
  const tools = arrayOr(body["tools"]);
  const input = arrayOr(body["input"]);
  const isSearching = tools.some((tool) => isClientSearch(objectOr(tool)));
  if (!isSearching && !input.some(isClients)) return body;
  const found = input.filter(isClients).flatMap(broughtTools);
  return {
    ...body,
    ...(isSearching ? { tools: tools.map(asFunction) } : {}),
    ...(Array.isArray(body["input"])
      ? {
        input: [
          ...input.map(asKnownItem),
          ...(found.length === 0
            ? []
            : [{ type: "additional_tools", tools: found }]),
        ],
      }
      : {}),
  };
}

const CLIENTS: ReadonlySet<unknown> = new Set([
  "agent_message",
  "tool_search_call",
  "tool_search_output",
]);

function isClients(item: unknown): boolean {
  return CLIENTS.has(objectOr(item)["type"]) &&
    objectOr(item)["execution"] !== "server";
}

function asFunction(tool: unknown): unknown {
  if (!isObject(tool) || !isClientSearch(tool)) return tool;
  const { description, parameters } = tool;
  return { type: "function", name: TOOL_SEARCH, description, parameters };
}

function asKnownItem(item: unknown): unknown {
  if (!isObject(item) || !isClients(item)) return item;
  const id = textIn(item["call_id"]) ?? textIn(item["id"]) ?? TOOL_SEARCH;
  switch (item["type"]) {
    case "tool_search_call":
      return {
        type: "function_call",
        call_id: id,
        name: TOOL_SEARCH,
        arguments: JSON.stringify(objectOr(item["arguments"])),
      };
    case "tool_search_output":
      return {
        type: "function_call_output",
        call_id: id,
        output: foundText(broughtTools(item).map(objectOr)),
      };
    default:
      return { type: "message", role: "user", content: messageText(item) };
  }
}

function foundText(tools: readonly JsonObject[]): string {
  return tools.length === 0
    ? "No tools were found."
    : `These tools can be called now:\n${tools.map(namesOf).join("\n")}`;
}

function namesOf({ type, name, description, tools }: JsonObject): string {
  const about = textIn(description) === undefined ? "" : `: ${description}`;
  return type === "namespace"
    ? arrayOr(tools).map((tool) => namesOf(objectOr(tool))).join("\n")
    : `${stringIn(name) ?? ""}${about}`;
}

/** The text of a message between agents. Clients leave it plain for models of other vendors. */
function messageText({ author, recipient, content }: JsonObject): string {
  const texts = arrayOr(content).map(objectOr).map((part) =>
    stringIn(part["text"]) ?? stringIn(part["encrypted_content"]) ?? ""
  );
  const from = textIn(author);
  const to = textIn(recipient);
  const head = from === undefined
    ? []
    : [`Message from ${from}${to === undefined ? "" : ` to ${to}`}:`];
  return [...head, ...texts].filter((text) => text !== "").join("\n");
}
