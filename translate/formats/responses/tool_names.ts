/**
 * Gives each tool a single name. Other formats have neither groups of tools nor free-text tools,
 * so a grouped tool is offered as `group__name` and a free-text tool as a function. Of two tools
 * that get the same name so, the later one's is extended by a hash. Replies use the client's own
 * names.
 */
import {
  arrayOr,
  type JsonObject,
  objectOr,
  stringIn,
  textIn,
} from "../../bytes/json.ts";
import { sha256 } from "../../turns/names.ts";
import { broughtTools, isClientSearch, TOOL_SEARCH } from "./client_tools.ts";

/** A tool as the client defined it. */
export interface CalledTool {
  /** Unique within its group. */
  readonly name: string;
  /** The group of the tool; absent if it is in none. */
  readonly namespace?: string;
  /** True if its input is free text. */
  readonly freeText: boolean;
  /** True for the search that the client runs, whose calls are items of their own. */
  readonly isSearch?: true;
}

/** The names of one request's tools. */
export interface ToolNames {
  /**
   * The single name of a tool. Also works for tools that the request does not offer, since the
   * conversation may contain calls of them.
   */
  nameOf(tool: CalledTool): string;
  /** The tool with this single name; undefined if the request does not offer it. */
  tool(name: string): CalledTool | undefined;
}

/** Names the tools of a request: the tools of `tools`, then those in input items. */
export function toolNames(body: JsonObject): ToolNames {
  const byName = new Map<string, CalledTool>();
  const byTool = new Map<string, string>();
  const add = (tool: CalledTool): void => {
    const key = keyOf(tool);
    if (byTool.has(key)) return;
    const plain = plainName(tool.name, tool.namespace);
    const name = byName.has(plain)
      ? `${plain}_${sha256(key).slice(0, 8)}`
      : plain;
    byTool.set(key, name);
    byName.set(name, tool);
  };
  const all = [
    ...arrayOr(body["tools"]),
    ...additionalTools(body),
  ].map(objectOr);
  // Tools without a group keep their names, so these are reserved first.
  for (const tool of all) {
    if (tool["type"] !== "namespace") addNamed(tool, undefined, add);
  }
  for (const group of all) {
    if (group["type"] !== "namespace") continue;
    for (const tool of arrayOr(group["tools"])) {
      addNamed(objectOr(tool), textIn(group["name"]), add);
    }
  }
  return {
    nameOf: (tool) =>
      byTool.get(keyOf(tool)) ??
        // A call that was made before the tool changed its kind.
        byTool.get(keyOf({ ...tool, freeText: !tool.freeText })) ??
        plainName(tool.name, tool.namespace),
    tool: (name) => byName.get(name),
  };
}

/** The tools in items of the input. */
function additionalTools(body: JsonObject): readonly unknown[] {
  // `echoOf()` keeps these tools in a field of their own.
  const kept = body["additional_tools"];
  if (body["input"] === undefined && Array.isArray(kept)) return kept;
  return arrayOr(body["input"]).flatMap(broughtTools);
}

/**
 * The part of a request that is needed to write its reply: everything except the conversation, of
 * which only the tools remain.
 */
export function echoOf(body: JsonObject): JsonObject {
  const { input, ...rest } = body;
  return { ...rest, additional_tools: additionalTools({ input }) };
}

function addNamed(
  tool: JsonObject,
  namespace: string | undefined,
  add: (tool: CalledTool) => void,
): void {
  if (isClientSearch(tool)) {
    return add({ name: TOOL_SEARCH, freeText: false, isSearch: true });
  }
  const name = stringIn(tool["name"]);
  const isTool = tool["type"] === "custom" || tool["type"] === "function";
  if (name !== undefined && isTool) {
    add(calledTool(name, namespace, tool["type"]));
  }
}

/** The tool that a definition, a call or a choice of this `type` means. */
export function calledTool(
  name: string,
  namespace: string | undefined,
  type: unknown,
): CalledTool {
  const freeText = type === "custom" || type === "custom_tool_call";
  return { name, freeText, ...(namespace === undefined ? {} : { namespace }) };
}

/** The name of a tool before collisions are resolved. */
export function plainName(name: string, namespace: string | undefined): string {
  return namespace === undefined || namespace === ""
    ? name
    : `${namespace}__${name}`;
}

function keyOf({ name, namespace, freeText }: CalledTool): string {
  return `${namespace ?? ""}\n${name}${freeText ? "\n" : ""}`;
}
