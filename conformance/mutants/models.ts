/** Mutants for the checks of the area `models`. */
import {
  arrayOf,
  type Json,
  type JsonObject,
  objectOf,
} from "../replay/json.ts";
import type { Hooks } from "../golden/hooks.ts";
import type { Mutant } from "./mutant.ts";

/** The golden gateway whose model list is changed. */
function list(change: (body: JsonObject) => JsonObject): Hooks {
  return {
    reply: (reply, { endpoint }) =>
      endpoint === "models" && reply.status === 200
        ? { ...reply, body: change(reply.body) }
        : reply,
  };
}

function entries(change: (entry: JsonObject) => Json): Hooks {
  return list((body) => ({
    ...body,
    data: arrayOf(body["data"]).map(objectOf).map(change),
  }));
}

/** The mutants. */
export const MODELS_MUTANTS: readonly Mutant[] = [
  {
    name: "models-without-object",
    about: "The list has no object",
    hooks: list(({ data }) => ({ data })),
  },
  {
    name: "model-entry-object",
    about: "Entries call themselves engines",
    hooks: entries((entry) => ({ ...entry, object: "engine" })),
  },
  {
    name: "model-owner-null",
    about: "Entries have no owner",
    hooks: entries((entry) => ({ ...entry, owned_by: null })),
  },
  {
    name: "models-empty",
    about: "The list is empty",
    hooks: list((body) => ({ ...body, data: [] })),
  },
  {
    name: "model-listed-twice",
    about: "The first model is listed twice",
    hooks: list((body) => {
      const data = arrayOf(body["data"]);
      return { ...body, data: [...data, ...data.slice(0, 1)] };
    }),
  },
];
