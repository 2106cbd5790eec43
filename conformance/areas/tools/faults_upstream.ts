/**
 * Mutants for the checks of the area `tools` about tool definitions and tool choices in requests
 * upstream.
 */
import type { Hooks } from "../../reference_gateway/hooks.ts";
import type { ModelRequest, Tool } from "../../reference_gateway/part.ts";
import {
  isObject,
  type Json,
  type JsonObject,
} from "@model-gateway/replay/json";

/** Changes the request as the reference gateway understood it. */
export function changeRequest(
  change: (ask: ModelRequest) => Partial<ModelRequest>,
): Hooks {
  return { modelRequest: (request) => ({ ...request, ...change(request) }) };
}

export function tools(change: (tool: Tool) => Partial<Tool>): Hooks {
  return changeRequest((request) => ({
    tools: request.tools.map((tool) => ({ ...tool, ...change(tool) })),
  }));
}

/** Changes every schema inside a schema, including itself. */
export function schemas(change: (schema: JsonObject) => JsonObject): Hooks {
  const inside = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(inside);
    if (!isObject(value)) return value;
    const changed = Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [key, inside(inner ?? null)]),
    );
    const schema = typeof value["type"] === "string";
    return schema ? change(changed) : changed;
  };
  return tools(({ schema }) => ({ schema: inside(schema) }));
}

export function choice(
  change: (choice: string | undefined) => string | undefined,
) {
  return changeRequest((request) => ({ choice: change(request.choice) }));
}

/** The text with a question mark for each non-ASCII character. */
export function ascii(text: string): string {
  return text.replaceAll(/[^ -~]/g, "?");
}

/** Tool descriptions are lost. */
export const toolDescriptionsLost: Hooks = tools(() => ({ about: undefined }));
