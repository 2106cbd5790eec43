/** Mutants for the checks of the area `tools`: what of definitions and demands reaches the upstream. */
import type { Hooks } from "../golden/hooks.ts";
import type { Ask, Tool } from "../golden/part.ts";
import { isObject, type Json, type JsonObject } from "../replay/json.ts";
import type { Mutant } from "./mutant.ts";

/** Changes what a request was understood to ask. */
export function ask(change: (ask: Ask) => Partial<Ask>): Hooks {
  return { ask: (asked) => ({ ...asked, ...change(asked) }) };
}

function tools(change: (tool: Tool) => Partial<Tool>): Hooks {
  return ask((asked) => ({
    tools: asked.tools.map((tool) => ({ ...tool, ...change(tool) })),
  }));
}

/** Changes every schema inside a schema, itself included. */
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
  return ask((asked) => ({ choice: change(asked.choice) }));
}

/** A text with a question mark for what is not ASCII. */
export function ascii(text: string): string {
  return text.replaceAll(/[^ -~]/g, "?");
}

/** The mutants. */
export const TOOL_REQUEST_MUTANTS: readonly Mutant[] = [
  {
    name: "tool-definitions-lost",
    about: "No tool is offered upstream",
    hooks: ask(() => ({ tools: [] })),
  },
  {
    name: "tool-definitions-capped",
    about: "At most 16 tools are offered upstream",
    hooks: ask((asked) => ({ tools: asked.tools.slice(0, 16) })),
  },
  {
    name: "tool-definitions-turned",
    about: "Tools are offered in another order",
    hooks: ask((asked) => ({ tools: asked.tools.toReversed() })),
  },
  {
    name: "tool-definitions-renamed",
    about: "Dashes in the names of tools become underscores",
    hooks: tools(({ name }) => ({ name: name.replaceAll("-", "_") })),
  },
  {
    name: "tool-descriptions-lost",
    about: "Descriptions of tools are lost",
    hooks: tools(() => ({ about: undefined })),
  },
  {
    name: "tool-descriptions-ascii",
    about: "Descriptions of tools lose what is not ASCII",
    hooks: tools(({ about }) => ({
      about: about === undefined ? undefined : ascii(about),
    })),
  },
  {
    name: "tool-schemas-emptied",
    about: "Schemas of tools are empty",
    hooks: tools(() => ({ schema: { type: "object", properties: {} } })),
  },
  {
    name: "tool-schema-required-lost",
    about: "Schemas lose what is required",
    hooks: schemas(({ required: _, ...rest }) => rest),
  },
  {
    name: "tool-schema-enum-lost",
    about: "Schemas lose their choices",
    hooks: schemas(({ enum: _, ...rest }) => rest),
  },
  {
    name: "tool-schema-items-lost",
    about: "Schemas lose what is in lists",
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
    about: "Properties that are named like keywords are cleaned away",
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
    about: "What is demanded of tools does not reach the upstream",
    hooks: choice(() => undefined),
  },
  {
    name: "tool-choice-named-as-any",
    about: "A tool that is demanded by name becomes any tool",
    hooks: choice((asked) => asked?.startsWith("tool:") ? "any" : asked),
  },
  {
    name: "tool-choice-any-as-auto",
    about: "Any tool that must be called becomes a free choice",
    hooks: choice((asked) => asked === "any" ? "auto" : asked),
  },
  {
    name: "tool-choice-wrong-name",
    about: "Another tool is demanded",
    hooks: choice((asked) =>
      asked?.startsWith("tool:") ? "tool:get_weather" : asked
    ),
  },
  {
    name: "tool-choice-none-as-auto",
    about: "A ban of calls becomes a free choice",
    hooks: choice((asked) => asked === "none" ? "auto" : asked),
  },
  {
    name: "tool-choice-auto-as-any",
    about: "A free choice becomes a demand",
    hooks: choice((asked) => asked === "auto" ? "any" : asked),
  },
  {
    name: "tool-choice-unset-as-none",
    about: "Where nothing is said, calls are banned",
    hooks: choice((asked) => asked ?? "none"),
  },
  {
    name: "tool-parallel-flag-lost",
    about: "That calls may not be parallel does not reach the upstream",
    hooks: ask(() => ({ parallel: true })),
  },
  {
    name: "tool-parallel-flag-turned",
    about: "Parallel calls are forbidden where they are allowed",
    hooks: ask((asked) => ({ parallel: !asked.parallel })),
  },
  {
    name: "tool-parallel-never",
    about: "Parallel calls are always forbidden",
    hooks: ask(() => ({ parallel: false })),
  },
];
