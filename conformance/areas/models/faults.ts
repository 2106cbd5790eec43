/** What the faults of the area `models` are built from, and those that several checks have. */
import { changeReplies } from "../../faults/change_hooks.ts";
import { type Place, valueOf } from "../../faults/field.ts";
import {
  arrayOf,
  type Json,
  type JsonObject,
  objectOf,
} from "@model-gateway/replay/json";
import { problemOf } from "../../reference_gateway/problems.ts";
import type { Context, Hooks } from "../../reference_gateway/hooks.ts";
import { at, listAt } from "../../evidence/json_path.ts";
import { withAt } from "../../faults/change_reply.ts";
import { modelList } from "../../reference_gateway/models.ts";

export function list(
  change: (body: JsonObject, x: Context) => JsonObject,
): Hooks {
  return changeReplies(
    { endpoint: "models", status: 200 },
    (reply, x) => ({ body: change(reply.body, x) }),
  );
}

export function entries(
  change: (entry: JsonObject, at: number) => Json,
): Hooks {
  return list((body) => ({
    ...body,
    data: arrayOf(body["data"]).map(objectOf).map(change),
  }));
}

/** Where a list has a field. */
export const LIST: Place = {
  objects: ({ json }) => [{ json }],
  put: (path, value) =>
    list((body) => withAt(body, path, valueOf(value, body))),
};

/** Where each entry has one; a list without entries cannot be judged. */
export const ENTRIES: Place = {
  objects: (x) => listAt(x.json, "data").map((json) => ({ json })),
  put: (path, value) =>
    entries((entry) => withAt(entry, path, valueOf(value, entry))),
};

export function fewer(test: (x: Context) => boolean): Hooks {
  return list((body, x) =>
    test(x) ? { ...body, data: arrayOf(body["data"]).slice(1) } : body
  );
}

export function renamed(change: (model: string) => string): Hooks {
  return {
    modelRequest: (modelRequest) => ({
      ...modelRequest,
      model: change(modelRequest.model),
    }),
  };
}

export const LISTED = "vendora-opus-4-8";

/** Refuses to serve the model of requests that satisfy the test. */
export function unserved(test: (x: Context) => boolean): Hooks {
  return {
    accept: (problem, _, x) =>
      test(x) ? problemOf(404, "There is no such model here") : problem,
  };
}

let lists = 0;

export const modelsChange: Hooks = list((body) => {
  const data = arrayOf(body["data"]);
  const at = ++lists % data.length;
  return { ...body, data: [...data.slice(at), ...data.slice(0, at)] };
});

/** Changes the JSON of whole replies and frames, for upstreams of one dialect. */
export function ofVendor(
  vendor: NonNullable<Context["via"]>,
  change: (body: JsonObject) => JsonObject | undefined,
): Hooks {
  return {
    reply: (reply, { via }) =>
      reply.status === 200 && via === vendor
        ? { ...reply, body: change(reply.body) ?? reply.body }
        : reply,
    frame: (frame, { via }) => {
      if (via !== vendor || typeof frame.data === "string") return [frame];
      const data = change(frame.data);
      return data === undefined ? [] : [{ ...frame, data }];
    },
  };
}

/** Puts a value at the first of these paths that exists. */
export function put(
  value: string | undefined,
  ...paths: readonly string[]
): (body: JsonObject) => JsonObject {
  return (body) => {
    const path = paths.find((one) => (at(body, one) ?? null) !== null);
    return path === undefined ? body : withAt(body, path, value);
  };
}

export const ALL: readonly Json[] = arrayOf(modelList()["data"]);

export function idOf(entry: Json | undefined): Json {
  return at(entry, "id") ?? null;
}

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
