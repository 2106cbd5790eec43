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

export const ALL: readonly Json[] = arrayOf(modelList()["data"]);

export function idOf(entry: Json | undefined): Json {
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
export function pages(
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
export function entryField(name: string, value: Json): Hooks {
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
export function entry(
  answer: (
    x: Context,
  ) => { readonly status: number; readonly body: JsonObject },
): Hooks {
  return {
    reply: (reply, x) =>
      x.path.startsWith("/v1/models/") ? { ...reply, ...answer(x) } : reply,
  };
}
