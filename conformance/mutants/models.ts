/** Mutants for the checks of the area `models`. */
import {
  arrayOf,
  type Json,
  type JsonObject,
  objectOf,
} from "../replay/json.ts";
import { dialectOf } from "../golden/models.ts";
import { problemOf } from "../golden/problems.ts";
import type { Context, Hooks } from "../golden/hooks.ts";
import type { Mutant } from "./mutant.ts";
import { MODEL_PAGE_MUTANTS } from "./models_pages.ts";

/** The golden gateway whose model list is changed. */
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

/** The golden gateway that makes another id of the one asked for. */
function renamed(change: (model: string) => string): Hooks {
  return { ask: (ask) => ({ ...ask, model: change(ask.model) }) };
}

const LISTED = "vendora-opus-4-8";

/** The golden gateway that does not serve a model on an endpoint. */
function unserved(test: (x: Context) => boolean): Hooks {
  return {
    accept: (problem, _, x) =>
      test(x) ? problemOf(404, "There is no such model here") : problem,
  };
}

let lists = 0;

/** The mutants. */
export const MODELS_MUTANTS: readonly Mutant[] = [
  {
    name: "models-without-object",
    about: "The list has no object",
    hooks: list(({ data }) => ({ data })),
  },
  {
    name: "models-object-models",
    about: "The list calls itself models",
    hooks: list((body) => ({ ...body, object: "models" })),
  },
  {
    name: "model-entry-object",
    about: "Entries call themselves engines",
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
    about: "Entries lack the owner",
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
    about: "Times are milliseconds",
    hooks: entries((entry) => ({ ...entry, created: 1_780_000_000_000 })),
  },
  {
    name: "model-created-text",
    about: "Times are texts",
    hooks: entries((entry) => ({ ...entry, created: "2026-01-01" })),
  },
  {
    name: "models-empty",
    about: "The list is empty",
    hooks: list((body) => ({ ...body, data: [] })),
  },
  {
    name: "models-null",
    about: "There is null in place of the list",
    hooks: list((body) => ({ ...body, data: null })),
  },
  {
    name: "models-as-map",
    about: "The list is an object by id",
    hooks: list((body) => ({
      ...body,
      data: Object.fromEntries(
        arrayOf(body["data"]).map((entry, at) => [`model${at}`, entry]),
      ),
    })),
  },
  {
    name: "models-as-ids",
    about: "The list holds plain ids",
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
    about: "Every list has another order",
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
    about: "The message endpoint takes the first vendor's ids only",
    hooks: unserved(({ endpoint, model }) =>
      endpoint === "messages" && model.startsWith("vendorb")
    ),
  },
  {
    name: "vendora-not-on-chat",
    about: "The chat endpoint does not take the first vendor's ids",
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
    about: "Blanks around a model id are dropped",
    hooks: renamed((model) => model.trim()),
  },
  {
    name: "model-id-any-case",
    about: "Letters of a model id are compared without their case",
    hooks: renamed((model) => model.toLowerCase()),
  },
  {
    name: "model-id-by-prefix",
    about: "An id that begins with a listed one is served",
    hooks: renamed((model) => model.startsWith(LISTED) ? LISTED : model),
  },
  {
    name: "model-id-vendor-dropped",
    about: "What stands before a slash is dropped",
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
    about: "The refusal of a model calls itself an event stream",
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
    about: "An unlisted model is refused when another one has answered",
    hooks: {
      ask: (ask, { state }) => {
        if (dialectOf(ask.model) !== undefined) return ask;
        state.set("unlisted", true);
        return { ...ask, model: LISTED, stream: false };
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
];
