/**
 * Mutants for the checks of the area `models` about pages and entries: the reference gateway offers
 * them, with a mistake.
 */
import { at } from "../../evidence/json_path.ts";
import { modelList } from "../../reference_gateway/models.ts";
import type { Context, Hooks } from "../../reference_gateway/hooks.ts";
import {
  arrayOf,
  type Json,
  type JsonObject,
} from "@model-gateway/replay/json";
import type { Mutant } from "../../reference_gateway/mutant.ts";

const ALL: readonly Json[] = arrayOf(modelList()["data"]);

function idOf(entry: Json | undefined): Json {
  return at(entry, "id") ?? null;
}

/** A page of the list. */
function page(query: URLSearchParams): JsonObject {
  const find = (name: string): number =>
    ALL.findIndex((entry) => idOf(entry) === query.get(name));
  const after = find("after_id");
  const before = find("before_id");
  const within = ALL.slice(after + 1, before === -1 ? undefined : before);
  const limit = Number(query.get("limit") ?? "1000");
  const data = before === -1 ? within.slice(0, limit) : within.slice(-limit);
  return {
    object: "list",
    data: [...data],
    has_more: data.length < within.length,
    first_id: idOf(data[0]),
    last_id: idOf(data.at(-1)),
  };
}

/** Adds pages to the model list, with changed queries and lists. */
function pages(
  change: (body: JsonObject, query: URLSearchParams) => JsonObject,
  changeQuery: (query: URLSearchParams) => void = () => {},
): Hooks {
  return {
    reply: (reply, { endpoint, request }) => {
      if (endpoint !== "models" || reply.status !== 200) return reply;
      const query = new URLSearchParams(request.path.split("?")[1] ?? "");
      changeQuery(query);
      return { ...reply, body: change(page(query), query) };
    },
  };
}

/** Adds pages, and changes a field of the first entry. */
function entryField(name: string, value: Json): Hooks {
  return pages((body) => ({
    ...body,
    data: arrayOf(body["data"]).map((entry, n) =>
      n === 0 && typeof entry === "object" && entry !== null &&
        !Array.isArray(entry)
        ? { ...entry, [name]: value }
        : entry
    ),
  }));
}

/** Serves single entries. */
function entry(
  answer: (
    x: Context,
  ) => { readonly status: number; readonly body: JsonObject },
): Hooks {
  return {
    reply: (reply, x) =>
      x.path.startsWith("/v1/models/") ? { ...reply, ...answer(x) } : reply,
  };
}

/** Part of `MODELS_MUTANTS`. */
export const MODEL_PAGE_MUTANTS: readonly Mutant[] = [
  {
    name: "has_more-text",
    about: "has_more is a string",
    hooks: pages((body) => ({ ...body, has_more: "false" })),
  },
  {
    name: "has_more-always",
    about: "has_more is true for the complete list",
    hooks: pages((body) => ({ ...body, has_more: true })),
  },
  {
    name: "first_id-wrong",
    about: "first_id is the last entry's",
    hooks: pages((body) => ({ ...body, first_id: body["last_id"] ?? null })),
  },
  {
    name: "last_id-null",
    about: "last_id is null",
    hooks: pages((body) => ({ ...body, last_id: null })),
  },
  {
    name: "page-limit-ignored",
    about: "The limit is ignored",
    hooks: pages((body) => body, (query) => query.delete("limit")),
  },
  {
    name: "page-after-ignored",
    about: "after_id is ignored",
    hooks: pages((body) => body, (query) => query.delete("after_id")),
  },
  {
    name: "page-has_more-wrong",
    about: "has_more is always false",
    hooks: pages((body) => ({ ...body, has_more: false })),
  },
  {
    name: "entry-type-engine",
    about: "An entry has another type",
    hooks: entryField("type", "engine"),
  },
  {
    name: "display_name-null",
    about: "An entry's display name is null",
    hooks: entryField("display_name", null),
  },
  {
    name: "created_at-number",
    about: "An entry's time is a number",
    hooks: entryField("created_at", 1_780_000_000),
  },
  {
    name: "retrieve-wrong-id",
    about: "A single entry is always the last one",
    hooks: entry(() => ({
      status: 200,
      body: { id: idOf(ALL.at(-1)), object: "model", owned_by: "vendora" },
    })),
  },
  {
    name: "retrieve-unknown-200",
    about: "An unlisted entry is invented",
    hooks: entry(({ path }) => ({
      status: 200,
      body: {
        id: path.split("/").at(-1) ?? "",
        object: "model",
        owned_by: "vendora",
      },
    })),
  },
  {
    name: "retrieve-without-key",
    about: "A single entry is returned without a valid key",
    hooks: entry(({ path }) => {
      const id = path.split("/").at(-1) ?? "";
      return id.startsWith("no-such")
        ? {
          status: 404,
          body: {
            type: "error",
            error: { type: "not_found_error", message: "no such model" },
          },
        }
        : { status: 200, body: { id, object: "model", owned_by: "vendora" } };
    }),
  },
  {
    name: "retrieve-500",
    about: "A single entry causes a server error",
    hooks: entry(() => ({
      status: 500,
      body: { type: "error", error: { type: "api_error", message: "failed" } },
    })),
  },
];
