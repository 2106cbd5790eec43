/**
 * Explains a path that no route has. Usually the client's base address is slightly wrong, or its
 * library uses a service that the gateway does not have. Each mistake has one sentence that names
 * the right address, in the client's format.
 */
import { chatCompletions } from "../translate/formats/chat_completions/mod.ts";
import type { Dialect } from "../translate/dialect.ts";
import { ApiError } from "../translate/model/error.ts";
import { generateContent } from "../translate/formats/generate_content/mod.ts";
import { messages } from "../translate/formats/messages/mod.ts";
import { responses } from "../translate/formats/responses/mod.ts";
import { COMPACTION_REMEDY } from "../translate/formats/responses/error.ts";

/** A refusal, and the dialect to encode it in. */
export interface WrongAddress {
  /** Kind `not_found`. */
  readonly error: ApiError;
  /** The dialect of clients that use such a path. */
  readonly dialect: Dialect;
}

const CHAT = "POST /v1/chat/completions";
const MESSAGES = "POST /v1/messages";
const RESPONSES = "POST /v1/responses";

const GENERATE = "POST /v1beta/models/{model}:generateContent";

const GENERATE_CONTENT =
  `the generate-content format is at ${GENERATE}, :streamGenerateContent and :countTokens, and GET /v1beta/models lists the models; ` +
  "set the client's base address to the gateway's address alone, without a path";

/** A service of other gateways and vendors that this gateway does not have. */
interface UnsupportedService {
  /** Matches paths in lower case, without repeated slashes or one at the end. */
  readonly path: RegExp;
  readonly dialect: Dialect;
  /** Explains that the address is not served, and what to use instead. */
  readonly explanation: string;
}

const UNSUPPORTED_SERVICES: readonly UnsupportedService[] = [
  {
    path: /\/responses\/compact$/,
    dialect: responses,
    explanation: `conversations are not compacted here; ${COMPACTION_REMEDY}`,
  },
  {
    path:
      /\/responses\/(?!(responses|messages|models|input_tokens)$)[^/]+(\/(?!completions$)[^/]+)?$/,
    dialect: responses,
    explanation:
      `stored replies are at GET and DELETE /v1/responses/{id} and GET /v1/responses/{id}/input_items, and ${RESPONSES} generates them; ` +
      "there is nothing else below /v1/responses",
  },
  {
    path: /(?<!\/chat)\/completions$/,
    dialect: chatCompletions,
    explanation:
      `the completions format, with a prompt, is not served here; ${CHAT} takes the same text as a message`,
  },
  {
    path: /\/messages\/batches(\/|$)/,
    dialect: messages,
    explanation:
      `batches are not served here; send each request of the batch to ${MESSAGES}`,
  },
  {
    path: /\/complete$/,
    dialect: messages,
    explanation:
      `the completions format, with a prompt, is not served here; ${MESSAGES} takes the same text as a message`,
  },
  {
    path:
      /:(embedcontent|batchembedcontents|asyncbatchembedcontent|batchgeneratecontent|predict|predictlongrunning|bidigeneratecontent)$/,
    dialect: generateContent,
    explanation:
      `embeddings, pictures, batches and live sessions are not served in this format; ${GENERATE} generates text, and POST /v1/embeddings makes vectors`,
  },
  {
    path: /\/decisions$/,
    dialect: chatCompletions,
    explanation:
      `decisions are served where the operator has configured a route for them, as docs/routes.md shows; this gateway generates text: ${CHAT}, ${MESSAGES}, ${RESPONSES} and ${GENERATE}`,
  },
  {
    path:
      /\/v1(?:alpha|beta)\d*\/(?!openai\/)(?:.*\/)?(?:interactions|cachedcontents|files|batches|corpora|tunedmodels|filesearchstores|live|agents)(?:[/:]|$)/,
    dialect: generateContent,
    explanation:
      `interactions, cached contents, files and similar services are not served here; ${GENERATE} takes the whole conversation and its files`,
  },
  {
    path: /:(generatecontent|streamgeneratecontent|counttokens)$/,
    dialect: generateContent,
    explanation: GENERATE_CONTENT,
  },
  {
    // Below this version one vendor has its own format, and beside it the chat format.
    path:
      /\/v1(?:alpha|beta)\d*\/(?!openai\/|(?:.*\/)?(?:messages|chat\/completions|responses)$)/,
    dialect: generateContent,
    explanation: GENERATE_CONTENT,
  },
  {
    // Several vendors have them; the clients of two formats are known by their headers.
    path:
      /\/(interactions|cachedcontents|agents|sessions|live|environments|vaults|memory_stores|skills|containers|evals|mcp)(\/|$)/,
    dialect: chatCompletions,
    explanation:
      `agents, sessions, skills and similar services are not served here; this gateway generates text: ${MESSAGES}, ${CHAT}, ${RESPONSES} and ${GENERATE}`,
  },
  {
    path:
      /\/(audio|images|videos|realtime|moderations|rerank|files|uploads|batches|fine_tuning|assistants|threads|vector_stores|conversations)(\/|$)/,
    dialect: chatCompletions,
    explanation:
      `audio, images, files, batches and similar services are not served here unless the operator has configured a route for them; this gateway generates text: ${CHAT}, ${RESPONSES} and ${MESSAGES}`,
  },
  {
    path:
      /:(stream)?rawpredict$|\/model\/[^/]+\/(invoke|invoke-with-response-stream|converse|converse-stream|count-tokens)$/,
    dialect: messages,
    explanation:
      `the formats of cloud hosts are not served here; ${MESSAGES} serves the same models: set the gateway's address as that of the vendor itself, without the settings of a cloud`,
  },
  {
    path: /\/ai\/(config|credits|[a-z]+-model)$/,
    dialect: chatCompletions,
    explanation:
      "the AI SDK's own gateway protocol is not served here; use createOpenAI({ baseURL }) with the gateway's address followed by /v1",
  },
];

/** An endpoint, as client libraries append it to their base address. */
interface Endpoint {
  /** Matches the end of a path. */
  readonly tail: RegExp;
  readonly name: string;
  readonly dialect: Dialect;
}

const ENDPOINTS: readonly Endpoint[] = [
  {
    tail: /\/messages\/count_tokens$/,
    name: "POST /v1/messages/count_tokens",
    dialect: messages,
  },
  { tail: /\/messages$/, name: MESSAGES, dialect: messages },
  { tail: /\/chat\/completions$/, name: CHAT, dialect: chatCompletions },
  { tail: /\/responses$/, name: RESPONSES, dialect: responses },
  {
    tail: /\/responses\/input_tokens$/,
    name: `${RESPONSES}/input_tokens`,
    dialect: responses,
  },
  {
    tail: /\/chat\/completions\/input_tokens$/,
    name: `${CHAT}/input_tokens`,
    dialect: chatCompletions,
  },
  {
    tail: /\/embeddings$/,
    name: "POST /v1/embeddings",
    dialect: chatCompletions,
  },
  { tail: /\/models$/, name: "GET /v1/models", dialect: chatCompletions },
  {
    tail: /\/models\/[^/]+$/,
    name: "GET /v1/models/{id}",
    dialect: chatCompletions,
  },
];

const WHOLE_ENDPOINT =
  /\/(messages|count_tokens|chat\/completions|responses|embeddings|models)$/;

/** Headers that the clients of one format send. */
const FORMAT_HEADERS: readonly (readonly [name: string, dialect: Dialect])[] = [
  ["x-goog-api-key", generateContent],
  ["anthropic-version", messages],
  ["api-key", chatCompletions],
];

/** The error for a path that no route has. */
export function wrongAddress(path: string, headers: Headers): WrongAddress {
  const known = FORMAT_HEADERS.find(([name]) => headers.has(name))?.[1];
  const wrong = unsupportedService(path) ??
    misplacedPath(normalizePath(path), path, known) ??
    {
      error: notFound("GET /openapi.json lists the endpoints"),
      dialect: messages,
    };
  return known === undefined ? wrong : { ...wrong, dialect: known };
}

/** The error for a path of an unsupported service; undefined for any other path. */
export function unsupportedService(path: string): WrongAddress | undefined {
  const text = normalizePath(path);
  const row = UNSUPPORTED_SERVICES.find((service) => service.path.test(text));
  return row === undefined
    ? undefined
    : { error: notFound(row.explanation), dialect: row.dialect };
}

/** The error for an endpoint with a wrong prefix. */
function misplacedPath(
  text: string,
  path: string,
  known: Dialect | undefined,
): WrongAddress | undefined {
  if (text === "/v1") {
    return {
      error: notFound(
        `this is a base address; the endpoints are ${MESSAGES}, ${CHAT}, ${RESPONSES} and GET /v1/models`,
      ),
      dialect: messages,
    };
  }
  const endpoint = ENDPOINTS.find(({ tail }) => tail.test(text));
  if (endpoint === undefined) return undefined;
  const { name, tail, dialect } = endpoint;
  return {
    error: notFound(
      `the endpoint is ${name}; ${
        baseAddressMistake(text.replace(tail, ""), path, known ?? dialect)
      }`,
    ),
    dialect,
  };
}

/**
 * The mistake in the part of the path before the endpoint: the client's base address, with or
 * without the `/v1` that libraries of the messages format add.
 */
function baseAddressMistake(
  before: string,
  path: string,
  dialect: Dialect,
): string {
  if (before === "") {
    return "the client's base address lacks /v1: set it to the gateway's address followed by /v1";
  }
  if (before === "/v1") {
    return /\/\/|\/$/.test(path)
      ? "the address has an extra slash: remove the one at the end of the client's base address"
      : "paths are in lower case: write the client's base address in lower case";
  }
  const base = before.replace(/\/v1$/, "");
  const addsVersion = base !== before;
  if (addsVersion && /\/v1$/.test(base)) {
    return "the client's base address ends in /v1 and its library adds another: remove /v1 from the base address";
  }
  const correctBase = addsVersion && dialect === messages
    ? "the gateway's address alone, without a path"
    : "the gateway's address followed by /v1";
  return WHOLE_ENDPOINT.test(base)
    ? `the client's base address is a whole endpoint, to which its library adds a path: set it to ${correctBase}`
    : `the client's base address has a path that this gateway does not have: set it to ${correctBase}`;
}

/** The path normalized: lower case, without repeated slashes or one at the end. */
function normalizePath(path: string): string {
  const text = path.toLowerCase().replaceAll(/\/{2,}/g, "/");
  return text.length > 1 && text.endsWith("/") ? text.slice(0, -1) : text;
}

function notFound(explanation: string): ApiError {
  return new ApiError("not_found", `no such path: ${explanation}`, {
    retryable: false,
  });
}
