/**
 * The models of the reference gateway: the ids of the specification, each with the dialect of its
 * upstream.
 */
import type { DialectName } from "@model-gateway/replay/parse_request";
import type { Endpoint } from "../evidence/exchange.ts";
import type { JsonObject } from "@model-gateway/replay/json";

const VENDORS: Readonly<Record<string, DialectName>> = {
  vendora: "messages",
  vendorb: "chat_completions",
  vendorc: "generate_content",
  vendord: "messages",
};

/** A model whose upstream speaks the Responses dialect to clients of the Responses endpoint. */
const RESPONSES_MODEL = "vendorb-5.5";

const IDS: readonly string[] = [
  "vendora-opus-4-8",
  "vendora-haiku-4-5",
  "vendorb-5",
  RESPONSES_MODEL,
  "vendorc-3-flash",
  "vendord-m3",
];

/** Models that make embeddings, and generate nothing. */
const EMBEDDING_IDS: readonly string[] = ["vendorb-embed-1", "vendorc-embed-1"];

/** The dialect of a model that makes embeddings; undefined for every other id. */
export function embeddingDialectOf(model: string): DialectName | undefined {
  return EMBEDDING_IDS.includes(model)
    ? VENDORS[model.split("-")[0] ?? ""]
    : undefined;
}

/** The dialect of a model for clients of an endpoint; undefined for an unknown id. */
export function dialectOf(
  model: string,
  endpoint?: Endpoint,
): DialectName | undefined {
  if (model === RESPONSES_MODEL && endpoint === "responses") return "responses";
  return IDS.includes(model) ? VENDORS[model.split("-")[0] ?? ""] : undefined;
}

/** The body of `GET /v1/models`. */
export function modelList(): JsonObject {
  return {
    object: "list",
    data: [...IDS, ...EMBEDDING_IDS].map((id) => ({
      id,
      object: "model",
      created: 1_780_000_000,
      owned_by: id.split("-")[0],
      operations: [IDS.includes(id) ? "generation" : "embeddings"],
    })),
  };
}

/**
 * The body of `GET /v1beta/models`, or of one model below it; undefined for an unknown id. A page
 * token is the id of the last model of the page before.
 */
export function contentModels(
  id: string | undefined,
  query: URLSearchParams,
): JsonObject | undefined {
  if (id !== undefined) return IDS.includes(id) ? contentModel(id) : undefined;
  const from = IDS.indexOf(query.get("pageToken") ?? "") + 1;
  const to = from + (Number(query.get("pageSize")) || 50);
  return {
    models: IDS.slice(from, to).map(contentModel),
    ...(to < IDS.length ? { nextPageToken: IDS[to - 1] } : {}),
  };
}

function contentModel(id: string): JsonObject {
  return {
    name: `models/${id}`,
    version: "1",
    displayName: id,
    inputTokenLimit: 200_000,
    outputTokenLimit: 8192,
    supportedGenerationMethods: [
      "generateContent",
      "streamGenerateContent",
      "countTokens",
    ],
  };
}
