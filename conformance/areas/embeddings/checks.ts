/** Checks of the area `embeddings`. */
import { at, numberAt, textAt } from "../../evidence/json_path.ts";
import { parseJson } from "@model-gateway/replay/json";
import {
  fieldsOf,
  literal,
  objects,
  whole,
  words,
} from "../../faults/field.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import { fact, factOf } from "../../suite/finding.ts";
import { contentType } from "../transport/checks_request_ids.ts";
import { COMMON, first, vectorsOf } from "./vectors.ts";
import { BODY, ENTRIES, inEntries, inReply } from "./faults.ts";
import { EMBEDDINGS_VECTOR_CHECKS } from "./checks_vectors.ts";
import { EMBEDDINGS_REQUEST_CHECKS } from "./checks_requests.ts";
import { EMBEDDINGS_REFUSAL_CHECKS } from "./checks_refusals.ts";

const MEMBERS = fieldsOf(BODY, {
  object: literal("list"),
  data: objects(1),
  model: words("a model id"),
});

const ENTRY = fieldsOf(ENTRIES, {
  object: literal("embedding"),
  index: whole(0),
});
const USAGE = fieldsOf(BODY, {
  "usage.prompt_tokens": whole(1),
  "usage.total_tokens": whole(1),
});

export const EMBEDDINGS_CHECKS: readonly Check[] = [
  ...checksWith(COMMON, [
    {
      id: "embeddings.members",
      rule: "A reply has `object` (`list`), `data`, `model` and `usage`.",
      each: (x) =>
        [...MEMBERS.each(x), contentType(x, "application/json")].flat(),
      misses: MEMBERS.misses,
    },
    {
      id: "embeddings.entries",
      rule:
        "An entry of `data` has `object` (`embedding`), `index` and `embedding`.",
      each: (x) => [
        ...ENTRY.each(x),
        factOf("embedding", first(vectorsOf(x)), x).mustBe(
          "numbers, in each entry",
          vectorsOf(x).every((vector) =>
            vector.length > 0 && vector.every(Number.isFinite)
          ),
        ),
      ],
      misses: {
        ...ENTRY.misses,
        "embedding-absent": inEntries(({ embedding: _, ...entry }) => entry),
        "embedding-empty": inEntries((entry) => ({ ...entry, embedding: [] })),
        "embedding-texts": inEntries((entry) => ({
          ...entry,
          embedding: ["a", "b"],
        })),
      },
    },
    {
      id: "embeddings.model",
      rule: "`model` is the id that the request named.",
      level: "contract",
      each: (x) => {
        const asked = textAt(parseJson(x.request.body), "model");
        return fact(
          textAt(x.json, "model") === asked,
          "model",
          asked,
          at(x.json, "model"),
          x,
        );
      },
      misses: {
        dated: BODY.put("model", (body) => `${textAt(body, "model")}-20260101`),
        vendors: BODY.put("model", "text-embedding-3-small"),
      },
    },
    {
      id: "embeddings.usage",
      rule:
        "`usage` counts the tokens of all inputs, in `prompt_tokens` and `total_tokens` alike.",
      each: (x) => [
        ...USAGE.each(x),
        fact(
          at(x.json, "usage.total_tokens") ===
            at(x.json, "usage.prompt_tokens"),
          "total_tokens",
          `${at(x.json, "usage.prompt_tokens")}`,
          at(x.json, "usage.total_tokens"),
          x,
        ),
      ],
      misses: {
        ...USAGE.misses,
        "total-more": BODY.put(
          "usage.total_tokens",
          (body) => (numberAt(body, "usage.prompt_tokens") ?? 0) + 1,
        ),
      },
    },
    {
      id: "embeddings.usage-grows",
      rule: "More inputs count more tokens.",
      replies: "embeddings/*/texts",
      each: (x, e) => {
        const [one] = e.replies(x.label.replace("/texts", "/text"));
        const [few, many] = [one, x].map((each) =>
          numberAt(each?.json, "usage.prompt_tokens") ?? 0
        );
        return fact(
          (many ?? 0) > (few ?? 0),
          "prompt_tokens",
          `more than ${few}`,
          many,
          x,
        );
      },
      misses: {
        fixed: inReply((body) => ({
          ...body,
          usage: { prompt_tokens: 4, total_tokens: 4 },
        })),
      },
    },
  ]),
  ...EMBEDDINGS_VECTOR_CHECKS,
  ...EMBEDDINGS_REQUEST_CHECKS,
  ...EMBEDDINGS_REFUSAL_CHECKS,
];
