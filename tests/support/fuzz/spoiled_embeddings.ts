/**
 * Fuzzing of embeddings, for tests: spoiled requests are written for every form of upstream, and
 * spoiled replies of every form are read. A defect is any exception but an `ApiError` of the side
 * at fault, and a reply without one vector of numbers for each input.
 */
import { atOnce } from "../../../translate/steps.ts";
import assert from "node:assert/strict";
import { exactJson, withDoubles } from "../../../translate/bytes/exact_json.ts";
import { isObject, type JsonObject } from "../../../translate/bytes/json.ts";
import { topLevelOf } from "../../../translate/bytes/json_splice.ts";
import {
  embeddingReply,
  embeddingRequest,
  readEmbeddings,
} from "../../../translate/embeddings/embedding_call.ts";
import type { EmbeddingForm } from "../../../translate/embeddings/embedding_form.ts";
import { decodeEmbeddings } from "../../../translate/embeddings/embedding_request.ts";
import { ApiError } from "../../../translate/model/error.ts";
import { diceOf, pick, spoiled } from "./spoil.ts";
import type { Defect } from "./spoiled_requests.ts";

const FORMS: readonly EmbeddingForm[] = [
  "chat",
  "generate_content",
  "titan",
  "cohere",
];
const REQUESTS: readonly JsonObject[] = [
  { model: "m", input: "a text" },
  { model: "m", input: ["one", "another"], dimensions: 256, user: "u" },
  { model: "m", input: [1, 2, 3], encoding_format: "base64" },
  { model: "m", input: [[1, 2], [3]], encoding_format: "float" },
];
const REPLIES: readonly JsonObject[] = [
  {
    object: "list",
    data: [{ object: "embedding", index: 0, embedding: [0.5, -1] }],
    model: "up",
    usage: { prompt_tokens: 3, total_tokens: 3 },
  },
  { data: [{ embedding: "AACAPwAAAMA=" }], usage: { total_tokens: 3 } },
  {
    embeddings: [{ values: [1, -2] }],
    usageMetadata: { promptTokenCount: 3 },
  },
  { embedding: [1, -2], inputTextTokenCount: 5 },
  { embeddings: { float: [[1, -2]] } },
  { embeddings: [[1, -2]] },
];

/** Tries `count` spoiled bodies and calls `found` for every defect. Returns how many were taken. */
export function trySpoiledEmbeddings(
  count: number,
  seed: number,
  found: (defect: Defect) => void,
): number {
  const dice = diceOf(seed);
  let taken = 0;
  const guarded = (
    body: string,
    where: string,
    kind: ApiError["kind"],
    work: () => void,
  ): void => {
    try {
      work();
      taken++;
    } catch (error) {
      if (error instanceof ApiError && error.kind === kind) return;
      found({ body, where, error });
    }
  };
  for (let n = 0; n < count; n++) {
    const form = pick(dice, FORMS);
    if (dice(2) === 0) {
      const text = spoiled(pick(dice, REQUESTS), REQUESTS, dice);
      const body = exactJson(text);
      if (!isObject(body)) continue;
      guarded(text, `request to ${form}`, "invalid_request", () => {
        const bytes = new TextEncoder().encode(text);
        const request = decodeEmbeddings(withDoubles(body));
        const client = { request, bytes, top: topLevelOf(bytes) };
        const sent = atOnce(embeddingRequest(client, form, "up"));
        const written: unknown = JSON.parse(
          new TextDecoder().decode(sent.bytes),
        );
        assert.ok(isObject(written));
      });
    } else {
      const text = spoiled(pick(dice, REPLIES), REPLIES, dice);
      const encoding = pick(dice, ["float", "base64"] as const);
      guarded(text, `reply of ${form}`, "upstream", () => {
        const { body } = embeddingReply(
          {
            form,
            request: { model: "m", encoding },
            count: 1,
            inputEstimate: 7,
          },
          readEmbeddings(new TextEncoder().encode(text)),
          new Headers(),
        );
        const { data } = JSON.parse(new TextDecoder().decode(body));
        assert.equal(data.length, 1);
        const [{ embedding }] = data;
        if (encoding === "base64") assert.equal(typeof embedding, "string");
        else assert.ok(embedding.every(Number.isFinite));
      });
    }
  }
  return taken;
}
