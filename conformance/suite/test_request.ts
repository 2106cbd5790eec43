/** A scenario's description of a request, and the bytes that are sent for it. */
import type { Endpoint, Header } from "../evidence/exchange.ts";
import type { Cost } from "./budget.ts";
import type { Route } from "./route.ts";

export interface TestRequest {
  readonly label: string;
  /** The operation that the request is meant for. */
  readonly endpoint: Endpoint;
  /** The route; absent when no model should receive the request. */
  readonly route?: Route;
  /** Absent: POST for endpoints that answer a body, otherwise GET. */
  readonly method?: string;
  /** Absent: the path of the endpoint. */
  readonly path?: string;
  /** How the key is sent; absent: as the specification documents for the endpoint. */
  readonly auth?: "x-api-key" | "x-goog-api-key" | "bearer" | "none";
  /** The key that signs it; absent: the first one. */
  readonly by?: "other";
  /** Additional headers; they replace the usual ones of the same name. */
  readonly headers?: readonly Header[];
  /** The body: `json` is serialised, `text` and `bytes` are sent unchanged. */
  readonly body?: { readonly json: unknown } | { readonly text: string } | {
    readonly bytes: Uint8Array;
  };
  /**
   * True where the upstream sends many small pieces: on a busy machine each takes time, so that the
   * time limit is longer.
   */
  readonly slow?: boolean;
  /**
   * Raw client: the header lines, without the length; absent: the usual ones. Characters are bytes.
   */
  readonly rawLines?: readonly string[];
  /** Raw client: true where the request does not ask to close the connection. */
  readonly keepsConnection?: boolean;
}

/** The key and the headers that are added to requests. */
export interface Signature {
  /** The valid key. */
  readonly key: string;
  /** Headers added to every request. */
  readonly headers?: readonly Header[];
}

const PATHS: Readonly<Record<Endpoint, string>> = {
  messages: "/v1/messages",
  chat: "/v1/chat/completions",
  models: "/v1/models",
  responses: "/v1/responses",
  generate_content: "/v1beta/models",
  embeddings: "/v1/embeddings",
  other: "/v1/",
};

/** Output tokens that the budget counts for a call without a limit. */
export const UNLIMITED_OUTPUT_TOKENS = 256;

const encoder = new TextEncoder();

export function methodOf(request: TestRequest): string {
  if (request.method !== undefined) return request.method;
  return request.endpoint === "models" || request.endpoint === "other"
    ? "GET"
    : "POST";
}

/** The path of a request, relative to the base URL. */
export function pathOf(request: TestRequest): string {
  return request.path ?? PATHS[request.endpoint];
}

/** The body of a request; undefined when it has none. */
export function bodyOf({ body }: TestRequest): Uint8Array | undefined {
  if (body === undefined) return undefined;
  if ("bytes" in body) return body.bytes;
  return encoder.encode("text" in body ? body.text : JSON.stringify(body.json));
}

/** The headers of a request: the usual ones, the key, and its own. */
export function headersOf(
  request: TestRequest,
  { key, headers = [] }: Signature,
): Header[] {
  const given = request.headers ?? [];
  const usual: Header[] = [...headers];
  if (request.body !== undefined) {
    usual.push(["content-type", "application/json"]);
  }
  if (request.endpoint === "messages") {
    // The specification writes the vendor's name in this header as a neutral word; gateways in the
    // field know the real name.
    usual.push(["vendora-version", "2023-06-01"]);
    usual.push(["anthropic-version", "2023-06-01"]);
  }
  const auth = request.auth ??
    (request.endpoint === "messages"
      ? "x-api-key"
      : request.endpoint === "generate_content"
      ? "x-goog-api-key"
      : "bearer");
  if (auth !== "bearer" && auth !== "none") usual.push([auth, key]);
  if (auth === "bearer") usual.push(["authorization", `Bearer ${key}`]);
  const named = new Set(given.map(([name]) => name.toLowerCase()));
  return [...usual.filter(([name]) => !named.has(name)), ...given];
}

/**
 * The head of a request that is written to a socket unchanged; it contains a key only in the
 * request's own lines.
 */
export function rawHeadOf(
  request: TestRequest,
  url: URL,
  body: Uint8Array | undefined,
  signature: Signature,
): string {
  return [
    `${methodOf(request)} ${url.pathname}${url.search} HTTP/1.1`,
    `host: ${url.host}`,
    ...(request.keepsConnection === true ? [] : ["connection: close"]),
    ...(body === undefined ? [] : [`content-length: ${body.length}`]),
    ...headersOf({ ...request, auth: "none" }, signature).map(([name, value]) =>
      `${name}: ${value}`
    ),
    ...(request.rawLines ?? []),
    "\r\n",
  ].join("\r\n");
}

/** The most that a request can cost. */
export function costOf(
  request: TestRequest,
  body: Uint8Array | undefined,
): Cost {
  const text = new TextDecoder().decode(body);
  // Without messages, or with another method, no model can be called; counts are free.
  const reachesModel = request.route !== undefined &&
    methodOf(request) === "POST" &&
    /"(?:messages|input|contents)"/.test(text) &&
    !/(?:_tokens|:countTokens)$/.test(pathOf(request));
  if (!reachesModel) return { requests: 1, inputTokens: 0, outputTokens: 0 };
  const limit = request.endpoint === "embeddings"
    ? 0
    : /"max(?:(?:_completion|_output)?_t|OutputT)okens":(\d+)/.exec(text)?.[1];
  return {
    requests: 1,
    inputTokens: Math.ceil((body?.length ?? 0) / 3) + 10,
    outputTokens: Number(limit ?? UNLIMITED_OUTPUT_TOKENS),
  };
}
