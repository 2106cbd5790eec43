/**
 * The generate-content format: `POST /v1beta/models/{model}:generateContent`,
 * `:streamGenerateContent` and `:countTokens`, the same under `/v1`, and the model list in its
 * shape. The model is in the path, and so is the kind of reply.
 */
import { clientClosedReply } from "../gateway/observability/log_entry.ts";
import { inTurns } from "../gateway/in_turns.ts";
import { countTokens } from "../gateway/pipeline/count_tokens.ts";
import { accessibleModel } from "../gateway/pipeline/model_access.ts";
import { traceOf } from "../gateway/http/trace.ts";
import type { Caller } from "../gateway/accounts/accounts.ts";
import type { HttpReply } from "../gateway/http/http_reply.ts";
import { innerBody, type JsonBody } from "../gateway/http/request_body.ts";
import type { Model } from "../gateway/upstream/catalogue/catalogue.ts";
import { GENERATES } from "../gateway/upstream/catalogue/models.ts";
import { isObject, type JsonObject } from "../translate/bytes/json.ts";
import type { Dialect } from "../translate/dialect.ts";
import { generateContent } from "../translate/formats/generate_content/mod.ts";
import { ApiError, invalidField } from "../translate/model/error.ts";
import { readRequest } from "../translate/stream/read_request.ts";
import { handleGeneration, readBody } from "./generation.ts";
import { listedModels } from "./models/listed_models.ts";
import { requireOnce } from "./target.ts";
import { jsonReply, type KeyRoute, type RouteContext } from "./route.ts";

/** What follows a model's id in the path of a request that is no request for its description. */
const VERB = /:(?:predict|[a-z]+[A-Z][A-Za-z]*)$/;

/** A stream for clients that do not ask for events (`alt=sse`). */
const AS_ARRAY: Dialect = { ...generateContent, streamForm: "json_array" };

/** The routes of the generate-content format. The vendor serves them under two versions. */
export const GENERATE_CONTENT_ROUTES: readonly KeyRoute[] = [
  ...versionRoutes("/v1beta/models"),
  {
    access: "key",
    method: "GET",
    path: "/v1beta/models",
    operation: "listContentModels",
    dialect: generateContent,
    handle: contentModels,
  },
  {
    access: "key",
    method: "GET",
    path: "/v1beta/models/:id",
    accepts: ({ id = "" }) => !VERB.test(id),
    operation: "getContentModel",
    dialect: generateContent,
    handle: contentModel,
  },
  // `GET /v1/models` is in `models.ts`.
  ...versionRoutes("/v1/models").map(({ operation: _, ...route }) => route),
];

function versionRoutes(base: string): readonly KeyRoute[] {
  return [
    {
      access: "key",
      method: "POST",
      path: `${base}/:model:generateContent`,
      operation: "generateContent",
      dialect: generateContent,
      isPaid: true,
      handle: (context, caller) =>
        handleGeneration(context, caller, generateContent, {
          model: modelOf(context),
          stream: false,
        }),
    },
    {
      access: "key",
      method: "POST",
      path: `${base}/:model:streamGenerateContent`,
      operation: "streamGenerateContent",
      dialect: generateContent,
      isPaid: true,
      handle: (context, caller) =>
        handleGeneration(
          context,
          caller,
          context.query.get("alt") === "sse" ? generateContent : AS_ARRAY,
          { model: modelOf(context), stream: true },
        ),
    },
    {
      access: "key",
      method: "POST",
      path: `${base}/:model:countTokens`,
      operation: "countContentTokens",
      dialect: generateContent,
      handle: count,
    },
  ];
}

export function contentModels(
  { gateway, query }: RouteContext,
  caller: Caller,
): HttpReply {
  requireOnce(query);
  return jsonReply(page(listedModels(gateway, caller), query));
}

export function contentModel(
  { gateway, parameters }: RouteContext,
  caller: Caller,
): HttpReply {
  return jsonReply(
    modelEntry(accessibleModel(gateway, caller, parameters["id"] ?? "")),
  );
}

function modelOf({ parameters }: RouteContext): string {
  return parameters["model"] ?? "";
}

/** Counts the tokens of `contents`, or of a whole request in `generateContentRequest`. */
async function count(
  context: RouteContext,
  caller: Caller,
): Promise<HttpReply> {
  const { gateway, request } = context;
  const slot = gateway.concurrency.acquire(caller.keyId);
  try {
    const given = await readBody(context);
    const { bytes, json: body, top } = await countedRequest(given);
    const count = await countTokens(gateway, {
      client: {
        dialect: generateContent,
        bytes,
        body,
        top,
        request: await inTurns(readRequest(
          body,
          generateContent.decodeRequest,
          generateContent.checkPassable,
          { model: modelOf(context), stream: false },
        )),
      },
      caller,
      requestId: context.requestId,
      trace: traceOf(request.headers),
      signal: request.signal,
    });
    return jsonReply({
      totalTokens: count,
      promptTokensDetails: [{ modality: "TEXT", tokenCount: count }],
    });
  } catch (error) {
    // The client disconnected and the upstream call was cancelled: not an error.
    if (!request.signal.aborted) throw error;
    return clientClosedReply();
  } finally {
    slot.release();
  }
}

/** The request whose prompt is counted. */
async function countedRequest(given: JsonBody): Promise<JsonBody> {
  const [first, second] = WHOLE.filter((key) => isObject(given.json[key]));
  if (first === undefined) return given;
  if (second !== undefined) {
    throw invalidField(second, `is given twice, also as ${first}`);
  }
  const inner = await innerBody(given, first) ?? given;
  // The path names the model.
  const { model: _, ...json } = inner.json;
  return { ...inner, json };
}

const WHOLE = ["generateContentRequest", "generate_content_request"] as const;

/** What a model can do, in the format's words. */
const METHODS: readonly string[] = [
  "generateContent",
  "streamGenerateContent",
  "countTokens",
];

function modelEntry(
  { id, displayName, contextTokens, capabilities, operations = GENERATES }:
    Model,
): JsonObject {
  return {
    name: `models/${id}`,
    version: id,
    displayName,
    description: displayName,
    inputTokenLimit: contextTokens,
    ...(capabilities.maxOutputTokens === undefined
      ? {}
      : { outputTokenLimit: capabilities.maxOutputTokens }),
    supportedGenerationMethods: operations.includes("generation")
      ? METHODS
      : [],
    thinking: capabilities.reasoning !== "none",
  };
}

const DEFAULT_SIZE = 50;
const MAX_SIZE = 1_000;

/** A page of the list; its token is the id of the last model of the page before. */
function page(models: readonly Model[], query: URLSearchParams): JsonObject {
  const size = sizeOf(query.get("pageSize"));
  const token = query.get("pageToken") ?? "";
  const from = token === ""
    ? 0
    : models.findIndex(({ id }) => id === token) + 1;
  if (from === 0 && token !== "") {
    throw invalidQuery("pageToken", "no such page");
  }
  const shown = models.slice(from, from + size);
  const last = from + size < models.length ? shown.at(-1) : undefined;
  return {
    models: shown.map(modelEntry),
    ...(last === undefined ? {} : { nextPageToken: last.id }),
  };
}

function sizeOf(text: string | null): number {
  if (text === null) return DEFAULT_SIZE;
  if (!/^\d{1,9}$/.test(text)) {
    throw invalidQuery("pageSize", "must be a whole number");
  }
  // As documented: zero is the default, larger sizes are the largest.
  return Math.min(Number(text), MAX_SIZE) || DEFAULT_SIZE;
}

function invalidQuery(name: string, problem: string): ApiError {
  return new ApiError("invalid_request", `${name}: ${problem}`, {
    param: name,
    retryable: false,
  });
}
