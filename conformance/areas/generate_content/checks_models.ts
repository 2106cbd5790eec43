/** Checks of the area `generate_content`: the list of models. */
import { admit } from "../../faults/change_hooks.ts";
import { at, listAt, sameJson, textAt } from "../../evidence/json_path.ts";
import { type Json, objectOf } from "@model-gateway/replay/json";
import {
  inList,
  inModels,
  status,
} from "../../faults/change_generate_content.ts";
import { withAt } from "../../faults/change_reply.ts";
import {
  fieldsOf,
  type Place,
  prefixed,
  right,
  valueOf,
  whole,
  words,
} from "../../faults/field.ts";
import type { Hooks } from "../../reference_gateway/hooks.ts";
import { contentType } from "../transport/checks_request_ids.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import type { Evidence } from "../../suite/evidence.ts";
import { fact, factOf, some, statusIs } from "../../suite/finding.ts";

const METHODS = ["generateContent", "streamGenerateContent", "countTokens"];

const named = (name: string): string => `generate_content/models/GET/${name}`;

function modelsIn(e: Evidence, name: string): readonly Json[] {
  return e.replies(named(name)).flatMap(({ json }) => listAt(json, "models"));
}

/** The ids of a list, which follow `models/`. */
function idsIn(models: readonly Json[]): readonly string[] {
  return models.map((model) => textAt(model, "name").replace("models/", ""));
}

/** The ids that the other list has, for models that generate. */
function listedIds(e: Evidence): readonly string[] {
  return e.replies("models/list").flatMap(({ json }) => listAt(json, "data"))
    .map((entry) => textAt(entry, "id"));
}

function typed(type: string): Hooks {
  return {
    reply: (reply, { endpoint, request }) =>
      endpoint === "generate_content" && request.method === "GET"
        ? { ...reply, headers: { ...reply.headers, "content-type": type } }
        : reply,
  };
}

const MODELS: Place = {
  objects: ({ json }) =>
    listAt(json, "models").map((model) => ({ json: model })),
  put: (path, value) =>
    inModels((model) => withAt(model, path, valueOf(value, model))),
};
const MEMBERS = fieldsOf(MODELS, {
  name: prefixed("models/"),
  displayName: words("a title"),
  inputTokenLimit: whole(1),
  supportedGenerationMethods: right("a list", Array.isArray, {
    text: "generateContent",
  }),
});

export const GENERATE_CONTENT_MODEL_CHECKS: readonly Check[] = checksWith({
  section: "Generate content models",
  mode: "both",
  needs: "generate-content",
  reads: ["generate-content-models"],
}, [
  {
    id: "generate_content.models-members",
    rule:
      "`GET /v1beta/models` answers `models`, each with `name` (`models/` and the id), `displayName`, `inputTokenLimit` and `supportedGenerationMethods`.",
    of: (e: Evidence) => e.replies(named("list")),
    each: MEMBERS.each,
    misses: {
      ...MEMBERS.misses,
      "name-bare": inModels((model) => ({
        ...model,
        name: textAt(model, "name").replace("models/", ""),
      })),
      "as-data": inList(({ models, ...body }) => ({
        ...body,
        data: models ?? [],
      })),
    },
  },
  {
    id: "generate_content.models-type",
    rule: "The list and its entries are JSON under `application/json`.",
    source: "https://ai.google.dev/api/models",
    of: (e: Evidence) =>
      e.exchanges.filter(({ label }) => label.startsWith(named(""))),
    each: (x) => contentType(x, "application/json"),
    misses: {
      text: typed("text/plain"),
      latin1: typed("application/json; charset=iso-8859-1"),
    },
  },
  {
    id: "generate_content.models-methods",
    rule:
      "The `supportedGenerationMethods` of a model that generates are `generateContent`, `streamGenerateContent` and `countTokens`.",
    judge: (e) =>
      some(
        modelsIn(e, "list").filter((model) =>
          listAt(model, "supportedGenerationMethods").length > 0
        ).map((model) => {
          const methods = listAt(model, "supportedGenerationMethods");
          return factOf("methods", methods).mustBe(
            METHODS.join(),
            METHODS.every((method) => methods.includes(method)),
          );
        }),
        "a model with methods",
      ),
    misses: {
      "stream-lost": inModels({
        supportedGenerationMethods: ["generateContent", "countTokens"],
      }),
      "none": inModels({ supportedGenerationMethods: [] }),
    },
  },
  {
    id: "generate_content.models-same",
    rule: "The listed models are those that `GET /v1/models` lists.",
    level: "contract",
    judge: (e) => {
      const found = idsIn(modelsIn(e, "list"));
      const known = listedIds(e);
      // The other list has the models for embeddings, too.
      const missing = known.filter((id) => !found.includes(id))
        .filter((id) => !/embed/i.test(id));
      const unknown = found.filter((id) => !known.includes(id));
      return [
        fact(
          missing.length + unknown.length === 0 && found.length > 0,
          "ids",
          "those of the other list",
          { missing, unknown },
        ),
      ];
    },
    misses: {
      "first-lost": inList((body) => ({
        ...body,
        models: listAt(body, "models").slice(1),
      })),
      "more": inList((body) => ({
        ...body,
        models: [...listAt(body, "models"), { name: "models/unlisted-1" }],
      })),
    },
  },
  {
    id: "generate_content.models-pages",
    rule:
      "`pageSize` bounds a page, and `nextPageToken` leads to the next one.",
    judge: (e) => {
      const [first, second] = ["page-one", "page-two"].map((name) =>
        idsIn(modelsIn(e, name))
      );
      const all = idsIn(modelsIn(e, "list"));
      return [
        fact(
          all.length < 2 ||
            [...first ?? [], ...second ?? []].join() ===
              all.slice(0, 2).join(),
          "the first two pages",
          all.slice(0, 2).join(),
          [first, second],
        ),
      ];
    },
    misses: {
      "size-ignored": {
        request: (request) => ({
          ...request,
          path: request.path.replace("pageSize=1&", "").replace(
            /pageSize=1$/,
            "",
          ),
        }),
      },
      "token-ignored": {
        request: (request) => ({
          ...request,
          path: request.path.replace(/&pageToken=.*/, ""),
        }),
      },
      "token-lost": inList({ nextPageToken: undefined }),
    },
  },
  {
    id: "generate_content.models-entry",
    rule: "`GET /v1beta/models/{model}` answers with that model alone.",
    judge: (e) => {
      const [model] = modelsIn(e, "list");
      return e.replies(named("entry")).flatMap((x) => [
        fact(
          textAt(x.json, "name") === textAt(model, "name") &&
            textAt(model, "name") !== "",
          "name",
          textAt(model, "name"),
          at(x.json, "name"),
          x,
        ),
        factOf("model", x.json ?? "nothing", x).mustBe(
          "as listed",
          Object.entries(objectOf(model)).every(([name, value]) =>
            sameJson(at(x.json, name), value)
          ),
        ),
      ]);
    },
    misses: {
      "as-list": inList((body) =>
        body["models"] === undefined ? { models: [body] } : body
      ),
      "bare": inList(({ displayName: _, ...body }) => body),
      "limit-other": inList((body) =>
        body["models"] === undefined ? { ...body, inputTokenLimit: 1 } : body
      ),
      "other": inList((body) =>
        body["models"] === undefined ? { ...body, name: "models/other" } : body
      ),
    },
  },
  {
    id: "generate_content.models-unknown",
    rule: "A model that the key cannot call is answered with 404 there.",
    judge: (e) => [statusIs(e.exchange(named("no-entry")), 404)],
    misses: { "as-200": status(404, 200), "as-400": status(404, 400) },
  },
  {
    id: "generate_content.models-key",
    rule: "The list needs a key.",
    judge: (e) => [statusIs(e.exchange(named("no-key")), 401)],
    misses: {
      open: admit({ does: "list" }),
    },
  },
]);
