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
import type { Mutant } from "../../reference_gateway/mutant.ts";

/** Changes the request as the reference gateway understood it. */
export function changeRequest(
  change: (ask: ModelRequest) => Partial<ModelRequest>,
): Hooks {
  return { modelRequest: (request) => ({ ...request, ...change(request) }) };
}

function tools(change: (tool: Tool) => Partial<Tool>): Hooks {
  return changeRequest((request) => ({
    tools: request.tools.map((tool) => ({ ...tool, ...change(tool) })),
  }));
}

/** Changes every schema inside a schema, including itself. */
function schemas(change: (schema: JsonObject) => JsonObject): Hooks {
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

function choice(change: (choice: string | undefined) => string | undefined) {
  return changeRequest((request) => ({ choice: change(request.choice) }));
}

/** The text with a question mark for each non-ASCII character. */
export function ascii(text: string): string {
  return text.replaceAll(/[^ -~]/g, "?");
}

/** Part of `TOOLS_MUTANTS`. */
export const TOOL_REQUEST_MUTANTS: readonly Mutant[] = [
  {
    name: "tool-definitions-lost",
    about: "No tool is offered upstream",
    hooks: changeRequest(() => ({ tools: [] })),
  },
  {
    name: "tool-definitions-capped",
    about: "At most 16 tools are offered upstream",
    hooks: changeRequest((request) => ({ tools: request.tools.slice(0, 16) })),
  },
  {
    name: "tool-definitions-turned",
    about: "Tools are offered in another order",
    hooks: changeRequest((request) => ({ tools: request.tools.toReversed() })),
  },
  {
    name: "tool-definitions-renamed",
    about: "Dashes in tool names become underscores",
    hooks: tools(({ name }) => ({ name: name.replaceAll("-", "_") })),
  },
  {
    name: "tool-descriptions-lost",
    about: "Tool descriptions are lost",
    hooks: tools(() => ({ about: undefined })),
  },
  {
    name: "tool-descriptions-ascii",
    about: "Tool descriptions lose non-ASCII characters",
    hooks: tools(({ about }) => ({
      about: about === undefined ? undefined : ascii(about),
    })),
  },
  {
    name: "tool-schemas-emptied",
    about: "Tool schemas are empty",
    hooks: tools(() => ({ schema: { type: "object", properties: {} } })),
  },
  {
    name: "tool-schema-required-lost",
    about: "Schemas lose `required`",
    hooks: schemas(({ required: _, ...rest }) => rest),
  },
  {
    name: "tool-schema-enum-lost",
    about: "Schemas lose their enums",
    hooks: schemas(({ enum: _, ...rest }) => rest),
  },
  {
    name: "tool-schema-items-lost",
    about: "Schemas lose the schemas of list items",
    hooks: schemas(({ items: _, ...rest }) => rest),
  },
  {
    name: "tool-schema-additional-lost",
    about: "Schemas lose additionalProperties",
    hooks: schemas(({ additionalProperties: _, ...rest }) => rest),
  },
  {
    name: "tool-schema-nested-lost",
    about: "Objects inside schemas lose their properties",
    hooks: tools(({ schema }) => ({
      schema: isObject(schema) && isObject(schema["properties"])
        ? {
          ...schema,
          properties: Object.fromEntries(
            Object.entries(schema["properties"]).map(([key, value]) => [
              key,
              isObject(value) ? { ...value, properties: undefined } : value,
            ]),
          ),
        }
        : schema,
    })),
  },
  {
    name: "tool-schema-keywords-as-properties-lost",
    about: "Properties with the names of keywords are removed",
    hooks: tools(({ schema }) => ({
      schema: isObject(schema) && isObject(schema["properties"])
        ? {
          ...schema,
          properties: { ...schema["properties"], title: undefined },
        }
        : schema,
    })),
  },
  {
    name: "tool-schema-types-changed",
    about: "Integers become numbers",
    hooks: schemas((schema) =>
      schema["type"] === "integer" ? { ...schema, type: "number" } : schema
    ),
  },
  {
    name: "tool-choice-lost",
    about: "The tool choice does not reach the upstream",
    hooks: choice(() => undefined),
  },
  {
    name: "tool-choice-named-as-any",
    about: "A tool that is forced by name becomes any tool",
    hooks: choice((wanted) => wanted?.startsWith("tool:") ? "any" : wanted),
  },
  {
    name: "tool-choice-any-as-auto",
    about: "The demand for any tool becomes a free choice",
    hooks: choice((wanted) => wanted === "any" ? "auto" : wanted),
  },
  {
    name: "tool-choice-wrong-name",
    about: "Another tool is forced",
    hooks: choice((wanted) =>
      wanted?.startsWith("tool:") ? "tool:get_weather" : wanted
    ),
  },
  {
    name: "tool-choice-none-as-auto",
    about: "A ban of calls becomes a free choice",
    hooks: choice((wanted) => wanted === "none" ? "auto" : wanted),
  },
  {
    name: "tool-choice-auto-as-any",
    about: "A free choice becomes a forced call",
    hooks: choice((wanted) => wanted === "auto" ? "any" : wanted),
  },
  {
    name: "tool-choice-unset-as-none",
    about: "Without a tool choice, calls are banned",
    hooks: choice((wanted) => wanted ?? "none"),
  },
  {
    name: "tool-parallel-flag-lost",
    about: "A ban of parallel calls does not reach the upstream",
    hooks: changeRequest(() => ({ parallel: true })),
  },
  {
    name: "tool-parallel-flag-turned",
    about: "Parallel calls are forbidden where they are allowed",
    hooks: changeRequest((request) => ({ parallel: !request.parallel })),
  },
  {
    name: "tool-parallel-never",
    about: "Parallel calls are always forbidden",
    hooks: changeRequest(() => ({ parallel: false })),
  },
];
