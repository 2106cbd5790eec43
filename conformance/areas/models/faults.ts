/** Mutants for the checks of the area `models`. */
import {
  arrayOf,
  type Json,
  type JsonObject,
  objectOf,
} from "@model-gateway/replay/json";
import { problemOf } from "../../reference_gateway/problems.ts";
import type { Context, Hooks } from "../../reference_gateway/hooks.ts";

/** Changes the model list. */
export function list(
  change: (body: JsonObject, x: Context) => JsonObject,
): Hooks {
  return {
    reply: (reply, x) =>
      x.endpoint === "models" && reply.status === 200
        ? { ...reply, body: change(reply.body, x) }
        : reply,
  };
}

export function entries(
  change: (entry: JsonObject, at: number) => Json,
): Hooks {
  return list((body) => ({
    ...body,
    data: arrayOf(body["data"]).map(objectOf).map(change),
  }));
}

export function fewer(test: (x: Context) => boolean): Hooks {
  return list((body, x) =>
    test(x) ? { ...body, data: arrayOf(body["data"]).slice(1) } : body
  );
}

/** Replaces the requested model id by another. */
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

/** Each list is in another order. */
export const modelsChange: Hooks = list((body) => {
  const data = arrayOf(body["data"]);
  const at = ++lists % data.length;
  return { ...body, data: [...data.slice(at), ...data.slice(0, at)] };
});
