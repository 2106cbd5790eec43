/** Checks of the area `embeddings`: refusals and failures. */
import { admit, changeReplies } from "../../faults/change_hooks.ts";
import { headerOf } from "../../evidence/exchange.ts";
import { at, brief, textAt } from "../../evidence/json_path.ts";
import { isObject } from "@model-gateway/replay/json";
import { withAt } from "../../faults/change_reply.ts";
import type { Context, Hooks } from "../../reference_gateway/hooks.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import { compare, factOf, statusIs } from "../../suite/finding.ts";
import { fitsStatus } from "../errors/type_of_status.ts";
import { refusalMembers, refusalWords } from "../replies/refusals.ts";
import { WRONG } from "./scenarios.ts";
import { COMMON } from "./vectors.ts";
import { status } from "./faults.ts";

const IS_EMBEDDING = ({ endpoint }: Context): boolean =>
  endpoint === "embeddings";

const word = (type: string): Hooks =>
  changeReplies({ endpoint: "embeddings", least: 400 }, ({ body }) => ({
    body: withAt(body, "error.type", type),
  }));

export const EMBEDDINGS_REFUSAL_CHECKS: readonly Check[] = checksWith(COMMON, [
  {
    id: "embeddings.wrong",
    rule:
      "A wrong request is refused with 400, and `error.param` is the member with the mistake.",
    reads: ["embeddings-refused"],
    judge: (e) =>
      Object.entries(WRONG).flatMap(([name, { param }]) =>
        e.matching(`embeddings/*/${name}`).flatMap((x) => [
          statusIs(x, 400),
          factOf("error.param", at(x.json, "error.param"), x).mustBe(
            `${param}`,
            param.test(textAt(x.json, "error.param")),
          ),
        ])
      ),
    misses: {
      "as-500": status(400, 500),
      "unnamed": {
        problem: ({ param: _, ...problem }) => problem,
      },
      "empty-accepted": {
        accept: (problem, body, { endpoint }) =>
          endpoint === "embeddings" && body["input"] === ""
            ? undefined
            : problem,
      },
      "none-accepted": {
        accept: (problem, body, { endpoint }) =>
          endpoint === "embeddings" && brief(body["input"]) === "[]"
            ? undefined
            : problem,
      },
    },
  },
  {
    id: "embeddings.refusals",
    rule:
      "A refusal is a JSON object with `error`, whose members are `message`, `type`, `param` and `code`.",
    reads: ["embeddings-refused"],
    ...refusalMembers("responses", IS_EMBEDDING),
  },
  {
    id: "embeddings.refusal-words",
    level: "convention",
    rule: "The `type` and the `code` of a refusal fit its status.",
    reads: ["embeddings-refused"],
    ...refusalWords("chat", IS_EMBEDDING),
  },
  {
    id: "embeddings.unknown-model",
    rule:
      "An unknown model is refused with 404 and the code `model_not_found`.",
    reads: ["embeddings-refused"],
    matching: "embeddings/*/unknown-model",
    each: (x) => [
      statusIs(x, 404),
      compare("error.code", at(x.json, "error.code"), "model_not_found", x),
    ],
    misses: {
      "uncoded": {
        problem: ({ code: _, ...problem }) => problem,
      },
      "as-400": status(404, 400),
      "as-500": status(404, 500),
      "as-200": status(404, 200),
    },
  },
  {
    id: "embeddings.generating-model",
    rule:
      "A model that generates makes no vectors: it is refused with 400 or 404.",
    reads: ["embeddings-refused"],
    matching: "embeddings/*/generating",
    each: (x) => statusIs(x, 400, 404),
    misses: { "as-500": status(404, 500), "as-200": status(404, 200) },
  },
  {
    id: "embeddings.key-needed",
    rule: "The endpoint needs a key.",
    reads: ["embeddings-refused"],
    matching: "embeddings/*/no-key",
    each: (x) => statusIs(x, 401),
    misses: {
      open: admit({ endpoint: "embeddings" }),
    },
  },
  {
    id: "embeddings.limited",
    rule: "A vendor's limit is 429, with `retry-after`.",
    mode: "replay",
    reads: ["embeddings-failures"],
    matching: "embeddings/*/limited",
    each: (x) => [
      statusIs(x, 429),
      compare("retry-after", headerOf(x, "retry-after"), "7", x),
      fitsStatus(x),
    ],
    misses: {
      "as-500": status(429, 500),
      "word-fixed": word("server_error"),
      "no-delay": {
        problem: ({ retryAfter: _, ...problem }) => problem,
      },
    },
  },
  {
    id: "embeddings.failing",
    rule: "A vendor's failure is an HTTP error, never an empty list.",
    mode: "replay",
    reads: ["embeddings-failures"],
    matching: "embeddings/*/failing",
    each: (x) => [
      factOf("status", `${x.head?.status}: ${x.text.slice(0, 160)}`, x)
        .mustBe(
          "500 to 599 with an error",
          (x.head?.status ?? 0) >= 500 && isObject(at(x.json, "error")),
        ),
      fitsStatus(x),
    ],
    misses: {
      "word-fixed": word("invalid_request_error"),
      "empty-list": changeReplies({ endpoint: "embeddings", least: 500 }, {
        status: 200,
        body: { object: "list", data: [] },
      }),
      "as-400": status(500, 400),
    },
  },
]);
