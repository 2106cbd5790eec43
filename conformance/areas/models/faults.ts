/** Mutants for the checks of the area `models`. */
import {
  arrayOf,
  type Json,
  type JsonObject,
  objectOf,
} from "@model-gateway/replay/json";
import { dialectOf } from "../../reference_gateway/models.ts";
import { problemOf } from "../../reference_gateway/problems.ts";
import type { Context, Hooks } from "../../reference_gateway/hooks.ts";
import type { Mutant } from "../../reference_gateway/mutant.ts";
import { MODEL_FORMAT_MUTANTS } from "./faults_formats.ts";
import { MODEL_PAGE_MUTANTS } from "./faults_pages.ts";

/** Changes the model list. */
function list(change: (body: JsonObject, x: Context) => JsonObject): Hooks {
  return {
    reply: (reply, x) =>
      x.endpoint === "models" && reply.status === 200
        ? { ...reply, body: change(reply.body, x) }
        : reply,
  };
}

function entries(
  change: (entry: JsonObject, at: number) => Json,
): Hooks {
  return list((body) => ({
    ...body,
    data: arrayOf(body["data"]).map(objectOf).map(change),
  }));
}

function fewer(test: (x: Context) => boolean): Hooks {
  return list((body, x) =>
    test(x) ? { ...body, data: arrayOf(body["data"]).slice(1) } : body
  );
}

/** Replaces the requested model id by another. */
function renamed(change: (model: string) => string): Hooks {
  return {
    modelRequest: (modelRequest) => ({
      ...modelRequest,
      model: change(modelRequest.model),
    }),
  };
}

const LISTED = "vendora-opus-4-8";

/** Refuses to serve the model of requests that satisfy the test. */
function unserved(test: (x: Context) => boolean): Hooks {
  return {
    accept: (problem, _, x) =>
      test(x) ? problemOf(404, "There is no such model here") : problem,
  };
}

let lists = 0;

/** All mutants of the area `models`. */
export const MODELS_MUTANTS: readonly Mutant[] = [
  {
    name: "models-without-object",
    about: "The list has no object",
    hooks: list(({ data }) => ({ data })),
  },
  {
    name: "models-object-models",
    about: "The object of the list is models",
    hooks: list((body) => ({ ...body, object: "models" })),
  },
  {
    name: "model-entry-object",
    about: "The object of entries is engine",
    hooks: entries((entry) => ({ ...entry, object: "engine" })),
  },
  {
    name: "model-entry-without-object",
    about: "Entries have no object",
    hooks: entries(({ object: _, ...entry }) => entry),
  },
  {
    name: "model-id-number",
    about: "Ids are numbers",
    hooks: entries((entry, at) => ({ ...entry, id: at })),
  },
  {
    name: "model-last-entry-broken",
    about: "The last entry has no id",
    hooks: list((body) => ({
      ...body,
      data: [...arrayOf(body["data"]), { object: "model", owned_by: "x" }],
    })),
  },
  {
    name: "model-owner-null",
    about: "Entries have no owner",
    hooks: entries((entry) => ({ ...entry, owned_by: null })),
  },
  {
    name: "model-owner-missing",
    about: "Entries have no owner",
    hooks: entries(({ owned_by: _, ...entry }) => entry),
  },
  {
    name: "model-owner-object",
    about: "The owner is an object",
    hooks: entries((entry) => ({ ...entry, owned_by: { name: "vendora" } })),
  },
  {
    name: "model-owner-empty",
    about: "The owner of one entry is empty",
    hooks: entries((entry, at) =>
      at === 1 ? { ...entry, owned_by: "" } : entry
    ),
  },
  {
    name: "model-created-ms",
    about: "Times are in milliseconds",
    hooks: entries((entry) => ({ ...entry, created: 1_780_000_000_000 })),
  },
  {
    name: "model-created-text",
    about: "Times are strings",
    hooks: entries((entry) => ({ ...entry, created: "2026-01-01" })),
  },
  {
    name: "models-empty",
    about: "The list is empty",
    hooks: list((body) => ({ ...body, data: [] })),
  },
  {
    name: "models-null",
    about: "The list is null",
    hooks: list((body) => ({ ...body, data: null })),
  },
  {
    name: "models-as-map",
    about: "The list is an object keyed by id",
    hooks: list((body) => ({
      ...body,
      data: Object.fromEntries(
        arrayOf(body["data"]).map((entry, at) => [`model${at}`, entry]),
      ),
    })),
  },
  {
    name: "models-as-ids",
    about: "The list contains plain ids",
    hooks: entries((entry) => entry["id"] ?? null),
  },
  {
    name: "model-listed-twice",
    about: "The first model is listed twice",
    hooks: list((body) => {
      const data = arrayOf(body["data"]);
      return { ...body, data: [...data, ...data.slice(0, 1)] };
    }),
  },
  {
    name: "models-change",
    about: "Each list is in another order",
    hooks: list((body) => {
      const data = arrayOf(body["data"]);
      const at = ++lists % data.length;
      return { ...body, data: [...data.slice(at), ...data.slice(0, at)] };
    }),
  },
  {
    name: "models-fewer-for-x-api-key",
    about: "With x-api-key one model is missing",
    hooks: fewer(({ request }) => request.headers["x-api-key"] !== undefined),
  },
  {
    name: "models-fewer-with-query",
    about: "With a query one model is missing",
    hooks: fewer(({ request }) => request.path.includes("limit=1000")),
  },
  {
    name: "models-list-more",
    about: "The gateway serves fewer models than it lists",
    hooks: unserved(({ model }) => model === "vendord-m3"),
  },
  {
    name: "vendorb-not-on-messages",
    about: "The message endpoint serves only the first vendor's ids",
    hooks: unserved(({ endpoint, model }) =>
      endpoint === "messages" && model.startsWith("vendorb")
    ),
  },
  {
    name: "vendora-not-on-chat",
    about: "The chat endpoint does not serve the first vendor's ids",
    hooks: unserved(({ endpoint, model }) =>
      endpoint === "chat" && model.startsWith("vendora")
    ),
  },
  {
    name: "streams-for-one",
    about: "One model cannot be streamed",
    hooks: unserved(({ stream, model }) =>
      stream && model === "vendora-haiku-4-5"
    ),
  },
  {
    name: "unknown-model-falls-back",
    about: "An unknown model is served by another one",
    hooks: renamed((model) => dialectOf(model) === undefined ? LISTED : model),
  },
  {
    name: "model-id-trimmed",
    about: "Whitespace around a model id is dropped",
    hooks: renamed((model) => model.trim()),
  },
  {
    name: "model-id-any-case",
    about: "Model ids are compared case-insensitively",
    hooks: renamed((model) => model.toLowerCase()),
  },
  {
    name: "model-id-by-prefix",
    about: "An id that begins with a listed one is served",
    hooks: renamed((model) => model.startsWith(LISTED) ? LISTED : model),
  },
  {
    name: "model-id-vendor-dropped",
    about: "The part of an id before a slash is dropped",
    hooks: renamed((model) => model.split("/").at(-1) ?? model),
  },
  {
    name: "unlisted-error-empty",
    about: "The refusal of a model has no message",
    hooks: {
      reply: (reply) =>
        reply.status === 404 ? { ...reply, body: { error: {} } } : reply,
    },
  },
  {
    name: "unlisted-error-as-stream",
    about: "The refusal of a model has the content type text/event-stream",
    hooks: {
      reply: (reply, { stream }) =>
        reply.status === 404 && stream
          ? {
            ...reply,
            headers: { ...reply.headers, "content-type": "text/event-stream" },
          }
          : reply,
    },
  },
  {
    name: "unlisted-refused-after-call",
    about: "An unlisted model is refused only after another one has answered",
    hooks: {
      modelRequest: (modelRequest, { state }) => {
        if (dialectOf(modelRequest.model) !== undefined) return modelRequest;
        state.set("unlisted", true);
        return { ...modelRequest, model: LISTED, stream: false };
      },
      reply: (reply, { state }) =>
        state.get("unlisted") === true
          ? {
            ...reply,
            status: 404,
            body: {
              type: "error",
              error: { type: "not_found_error", message: "no such model" },
            },
          }
          : reply,
    },
  },
  ...MODEL_PAGE_MUTANTS,
  ...MODEL_FORMAT_MUTANTS,
];
