/** Faults of a gateway that makes embeddings. */
import { changeReplies } from "../../faults/change_hooks.ts";
import { mapValues } from "@model-gateway/replay/map_values";
import { listAt } from "../../evidence/json_path.ts";
import {
  isObject,
  type Json,
  type JsonObject,
  objectOf,
  parseJson,
} from "@model-gateway/replay/json";
import { withAt } from "../../faults/change_reply.ts";
import { type Place, valueOf } from "../../faults/field.ts";
import type { Hooks } from "../../reference_gateway/hooks.ts";
import { vectorOf } from "./vectors.ts";

export function inReply(
  change: (body: JsonObject, x: Vectors) => JsonObject,
): Hooks {
  return changeReplies(
    { endpoint: "embeddings", status: 200 },
    (reply, { request }) => ({
      body: change(reply.body, { asked: parseJson(request.body) }),
    }),
  );
}

/** What a fault may look at. */
interface Vectors {
  readonly asked: Json | undefined;
}

/** Changes each entry of a reply; undefined removes one. */
export function inEntries(
  change: (entry: JsonObject, index: number) => JsonObject | undefined,
): Hooks {
  return inReply((body) => ({
    ...body,
    data: listAt(body, "data").flatMap((entry, index): Json[] => {
      const changed = change(objectOf(entry), index);
      return changed === undefined ? [] : [changed];
    }),
  }));
}

export const BODY: Place = {
  objects: ({ json }) => [{ json }],
  put: (path, value) =>
    inReply((body) => withAt(body, path, valueOf(value, body))),
};

export const ENTRIES: Place = {
  objects: ({ json }) => listAt(json, "data").map((entry) => ({ json: entry })),
  put: (path, value) =>
    inEntries((entry) => withAt(entry, path, valueOf(value, entry))),
};

export function status(from: number, to: number): Hooks {
  return changeReplies({ endpoint: "embeddings", status: from }, {
    status: to,
  });
}

/** Writes the floats of base64 vectors in another way. */
export function encodedAs(
  write: (view: DataView, at: number, value: number) => void,
): Hooks {
  return inEntries((entry) => {
    if (typeof entry["embedding"] !== "string") return entry;
    const vector = vectorOf(entry);
    const view = new DataView(new ArrayBuffer(vector.length * 4));
    vector.forEach((value, at) => write(view, at, value));
    return {
      ...entry,
      embedding: new Uint8Array(view.buffer).toBase64(),
    };
  });
}

export function inUpstream(change: (text: string) => string): Hooks {
  const texts = (value: Json): Json =>
    typeof value === "string"
      ? change(value)
      : Array.isArray(value)
      ? value.map(texts)
      : isObject(value)
      ? mapValues(value, (inner, name) =>
        name === "text" || typeof inner !== "string"
          ? texts(inner ?? null)
          : inner)
      : value;
  return {
    upstream: (call, { endpoint }) =>
      endpoint === "embeddings"
        ? {
          ...call,
          body: {
            ...call.body,
            ...(call.body["input"] === undefined
              ? {}
              : { input: texts(call.body["input"]) }),
            ...(call.body["requests"] === undefined
              ? {}
              : { requests: texts(call.body["requests"]) }),
          },
        }
        : call,
  };
}
