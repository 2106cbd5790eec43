/** A request as a scenario words it, and what goes over the wire for it. */
import type { Endpoint, Header } from "../evidence/exchange.ts";
import type { Cost } from "./budget.ts";
import type { Route } from "./scenario.ts";

/** A request to send. */
export interface Ask {
  /** The name of the exchange inside its scenario. */
  readonly label: string;
  /** The operation that it is for. */
  readonly endpoint: Endpoint;
  /** The route it takes; absent when no model is to see it. */
  readonly route?: Route;
  /** By default POST for the two generation endpoints, otherwise GET. */
  readonly method?: string;
  /** By default the path of the endpoint. */
  readonly path?: string;
  /** How the key is sent: by default as the specification documents the endpoint. */
  readonly auth?: "x-api-key" | "bearer" | "none";
  /** Headers besides the usual ones; they replace those of the same name. */
  readonly headers?: readonly Header[];
  /** The body: a value is sent as JSON, `text` and bytes as they are. */
  readonly body?: { readonly json: unknown } | { readonly text: string } | {
    readonly bytes: Uint8Array;
  };
  /** True where the upstream sends many small pieces: on a busy machine each of them takes its time, so the request may last longer. */
  readonly slow?: boolean;
  /** Raw client: the lines after the request line, without the length; the usual ones when absent. Characters are bytes. */
  readonly rawLines?: readonly string[];
}

/** What requests are signed with. */
export interface Signature {
  /** The valid key. */
  readonly key: string;
  /** Headers that every request carries besides. */
  readonly headers?: readonly Header[];
}

const PATHS: Readonly<Record<Endpoint, string>> = {
  messages: "/v1/messages",
  chat: "/v1/chat/completions",
  models: "/v1/models",
  other: "/v1/",
};

/** Output tokens that are counted for a call without a limit of its own. */
export const UNLIMITED_OUTPUT_TOKENS = 256;

const encoder = new TextEncoder();

/** The method of a request. */
export function methodOf(ask: Ask): string {
  if (ask.method !== undefined) return ask.method;
  return ask.endpoint === "messages" || ask.endpoint === "chat"
    ? "POST"
    : "GET";
}

/** The path of a request, under the base address. */
export function pathOf(ask: Ask): string {
  return ask.path ?? PATHS[ask.endpoint];
}

/** The body of a request; undefined when it has none. */
export function bodyOf({ body }: Ask): Uint8Array | undefined {
  if (body === undefined) return undefined;
  if ("bytes" in body) return body.bytes;
  return encoder.encode("text" in body ? body.text : JSON.stringify(body.json));
}

/** The headers of a request: the usual ones, the key, and what the request says itself. */
export function headersOf(
  ask: Ask,
  { key, headers = [] }: Signature,
): Header[] {
  const given = ask.headers ?? [];
  const usual: Header[] = [...headers];
  if (ask.body !== undefined) {
    usual.push(["content-type", "application/json"]);
  }
  if (ask.endpoint === "messages") {
    // The specification writes the vendor's name in the header as a neutral word; gateways in the field know the real one.
    usual.push(["vendora-version", "2023-06-01"]);
    usual.push(["anthropic-version", "2023-06-01"]);
  }
  const auth = ask.auth ??
    (ask.endpoint === "messages" ? "x-api-key" : "bearer");
  if (auth === "x-api-key") usual.push(["x-api-key", key]);
  if (auth === "bearer") usual.push(["authorization", `Bearer ${key}`]);
  const named = new Set(given.map(([name]) => name.toLowerCase()));
  return [...usual.filter(([name]) => !named.has(name)), ...given];
}

/** The head of a request that is written to a socket as it is; a key is only in lines of the request's own. */
export function rawHeadOf(
  ask: Ask,
  url: URL,
  body: Uint8Array | undefined,
  signature: Signature,
): string {
  return [
    `${methodOf(ask)} ${url.pathname}${url.search} HTTP/1.1`,
    `host: ${url.host}`,
    "connection: close",
    ...(body === undefined ? [] : [`content-length: ${body.length}`]),
    ...headersOf({ ...ask, auth: "none" }, signature).map(([name, value]) =>
      `${name}: ${value}`
    ),
    ...(ask.rawLines ?? []),
    "\r\n",
  ].join("\r\n");
}

/** What a request costs at most. */
export function costOf(ask: Ask, body: Uint8Array | undefined): Cost {
  const text = new TextDecoder().decode(body);
  // Without messages, or with another method, there is nothing that a model could be asked.
  const asks = ask.route !== undefined && methodOf(ask) === "POST" &&
    text.includes('"messages"');
  if (!asks) return { requests: 1, inputTokens: 0, outputTokens: 0 };
  const limit = /"max(?:_completion)?_tokens":(\d+)/.exec(text)?.[1];
  return {
    requests: 1,
    inputTokens: Math.ceil((body?.length ?? 0) / 3) + 10,
    outputTokens: Number(limit ?? UNLIMITED_OUTPUT_TOKENS),
  };
}
