/** Embeddings in the reference gateway. */
import { listAt, numberAt } from "../evidence/json_path.ts";
import {
  isObject,
  type Json,
  type JsonObject,
} from "@model-gateway/replay/json";
import { askUpstream, UPSTREAM_KEY } from "./call_upstream.ts";
import type { Context, Hooks, OutCall } from "./hooks.ts";
import { embeddingDialectOf } from "./models.ts";
import { invalid, Refused } from "./part.ts";
import { problemOf } from "./problems.ts";
import { optionalCount, requiredText } from "./formats/read_request.ts";

/** A text, or its tokens. */
type Input = string | readonly number[];

/** A request, as the reference gateway understood it. */
interface EmbeddingRequest {
  readonly model: string;
  readonly inputs: readonly Input[];
  readonly dimensions: number | undefined;
  readonly isBase64: boolean;
}

/**
 * Answers a request for embeddings.
 * @throws {Refused} when it is wrong, or the upstream refuses it
 */
export async function embed(
  body: Json | undefined,
  upstreamUrl: string,
  hooks: Hooks,
  x: Context,
): Promise<JsonObject> {
  let request: EmbeddingRequest | undefined;
  let found: Refused | undefined;
  try {
    request = read(body);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    found = error;
  }
  const asked = isObject(body) ? body : {};
  const problem = hooks.accept === undefined
    ? found?.problem
    : hooks.accept(found?.problem, asked, x);
  if (problem !== undefined) throw new Refused(problem);
  const { model, inputs, dimensions, isBase64 } = request ?? {
    ...read({ model: "vendorb-embed-1", input: "x" }),
  };
  const via = embeddingDialectOf(model);
  if (via === undefined) {
    throw new Refused(
      problemOf(404, `There is no model ${model} for embeddings`, {
        code: "model_not_found",
        param: "model",
      }),
    );
  }
  const plain = via === "chat_completions"
    ? chatCall(model, inputs, dimensions, upstreamUrl)
    : contentCall(model, inputs, dimensions, upstreamUrl);
  const reply = await askUpstream(plain, hooks, x);
  const vectors = via === "chat_completions"
    ? listAt(reply, "data").map((one) => listAt(one, "embedding"))
    : listAt(reply, "embeddings").map((one) => listAt(one, "values"));
  const tokens = numberAt(reply, "usage.prompt_tokens") ??
    Math.ceil(JSON.stringify(inputs).length / 4);
  return {
    object: "list",
    data: vectors.map((vector, index) => ({
      object: "embedding",
      index,
      embedding: isBase64 ? base64(vector) : vector,
    })),
    model,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  };
}

function read(body: Json | undefined): EmbeddingRequest {
  if (!isObject(body)) {
    throw new Refused(problemOf(400, "The body is not a JSON object"));
  }
  const encoding = body["encoding_format"] ?? "float";
  if (encoding !== "float" && encoding !== "base64") {
    throw invalid("encoding_format", "must be float or base64");
  }
  return {
    model: requiredText(body, "model"),
    inputs: inputsOf(body["input"]),
    dimensions: optionalCount(body, "dimensions"),
    isBase64: encoding === "base64",
  };
}

function inputsOf(value: Json | undefined): readonly Input[] {
  const isTokens = (one: Json | undefined): one is number[] =>
    Array.isArray(one) && one.length > 0 &&
    one.every((token) => Number.isInteger(token));
  if (isTokens(value)) return [value];
  const inputs = Array.isArray(value) ? value : [value];
  return inputs.map((one: Json | undefined): Input => {
    if ((typeof one === "string" && one !== "") || isTokens(one)) return one;
    throw invalid("input", "must be a text, several, or their tokens");
  }).concat(inputs.length === 0 ? [missing()] : []);
}

function missing(): never {
  throw invalid("input", "must not be empty");
}

function chatCall(
  model: string,
  inputs: readonly Input[],
  dimensions: number | undefined,
  base: string,
): OutCall {
  return {
    url: `${base}/v1/embeddings`,
    headers: { authorization: `Bearer ${UPSTREAM_KEY}` },
    body: { model, input: inputs, dimensions, encoding_format: "float" },
  };
}

function contentCall(
  model: string,
  inputs: readonly Input[],
  dimensions: number | undefined,
  base: string,
): OutCall {
  const name = `models/${model}`;
  return {
    url: `${base}/v1beta/${name}:batchEmbedContents`,
    headers: { "x-goog-api-key": UPSTREAM_KEY },
    body: {
      requests: inputs.map((text) => {
        if (typeof text !== "string") {
          throw invalid("input", "this model takes texts, no tokens");
        }
        return {
          model: name,
          content: { parts: [{ text }] },
          outputDimensionality: dimensions,
        };
      }),
    },
  };
}

/** The little-endian 32-bit floats of a vector. */
function base64(vector: readonly Json[]): string {
  const view = new DataView(new ArrayBuffer(vector.length * 4));
  vector.forEach((value, at) => view.setFloat32(at * 4, Number(value), true));
  return new Uint8Array(view.buffer).toBase64();
}
