/**
 * Calls the upstream and turns its stream into parts. It always requests a stream; a whole reply is
 * folded from it.
 */
import { at, textAt } from "../evidence/json_path.ts";
import { readBody } from "../clients/read_body.ts";
import type { DialectName } from "@model-gateway/replay/parse_request";
import {
  type Json,
  type JsonObject,
  parseJson,
} from "@model-gateway/replay/json";
import { framesIn } from "./frames_in.ts";
import type { Context, Hooks, OutCall, Writer } from "./hooks.ts";
import { type ModelRequest, type Part, Refused } from "./part.ts";
import { fromUpstream, problemOf } from "./problems.ts";
import { chatBody, chatParts } from "./upstream_chat.ts";
import { geminiBody, geminiParts } from "./upstream_gemini.ts";
import { responsesBody, responsesParts } from "./upstream_responses.ts";
import { messagesBody, messagesParts } from "./upstream_messages.ts";

/** The reference gateway's upstream key; a client must never see it. */
export const UPSTREAM_KEY = "up-golden-5f1c0e7d9b3a";

/** Time without a reply head after which an upstream call fails. */
const HEAD_TIMEOUT_MS = 5000;

/** A request for a reply, and what is needed to answer it. */
export interface Call {
  readonly modelRequest: ModelRequest;
  readonly via: DialectName;
  /** The random part of the reply's id. */
  readonly id: string;
  readonly upstreamUrl: string;
  readonly signal: AbortSignal;
  readonly writer: Writer;
  readonly hooks: Hooks;
  readonly x: Context;
  /** Keeps the reply for later requests. */
  readonly keep: (reply: JsonObject) => void;
}

/** Makes the call; the parts are read on demand. */
export async function callUpstream(
  { modelRequest, via, upstreamUrl, signal, hooks, x }: Call,
): Promise<AsyncGenerator<Part>> {
  const own = callOf(modelRequest, via, upstreamUrl);
  const plain = withVendorHeaders(own, via, x);
  const call = hooks.upstream?.(plain, x) ?? plain;
  const stop = new AbortController();
  let late = false;
  signal.addEventListener("abort", () => stop.abort());
  if (signal.aborted) stop.abort();
  const timer = setTimeout(() => {
    late = true;
    stop.abort();
  }, HEAD_TIMEOUT_MS);
  let response: Response | undefined;
  for (let left = hooks.attempts?.(x) ?? 1; left > 0; left--) {
    await response?.body?.cancel();
    response = await fetch(call.url, {
      method: "POST",
      headers: { ...call.headers },
      body: JSON.stringify(call.body),
      redirect: "manual",
      signal: stop.signal,
    }).catch((error: Error) => {
      if (late) {
        throw new Refused(
          problemOf(504, "The upstream did not answer in time"),
        );
      }
      if (signal.aborted) throw error;
      throw new Refused(problemOf(502, "The upstream could not be reached"));
    });
  }
  clearTimeout(timer);
  if (response === undefined) throw new Error("No attempt was made");
  if (response.status !== 200) {
    const body = await response.text().catch(() => "");
    const retryAfter = response.headers.get("retry-after");
    throw fromUpstream(
      response.status,
      body,
      retryAfter,
      SAME_FORMAT[x.endpoint] === via,
    );
  }
  const type = response.headers.get("content-type") ?? "text/event-stream";
  if (!type.startsWith("text/event-stream") || response.body === null) {
    await response.body?.cancel();
    throw new Refused(problemOf(502, "The upstream sent no event stream"));
  }
  const body = readBody(response.body, signal);
  const bytes = hooks.upstreamBytes?.(body, x) ?? body;
  return readable(readParts(bytes, via, signal), x);
}

/** The parts without signatures that only clients of the upstream's format can keep. */
async function* readable(
  parts: AsyncGenerator<Part>,
  { endpoint }: Context,
): AsyncGenerator<Part> {
  for await (const part of parts) {
    if (part.type === "signature" && (part.of ?? endpoint) !== endpoint) {
      continue;
    }
    yield part;
  }
}

export const SAME_FORMAT: Readonly<
  Partial<Record<Context["endpoint"], DialectName>>
> = {
  messages: "messages",
  chat: "chat_completions",
  generate_content: "generate_content",
};

/** The call with headers that a client of the same format sends for the vendor, such as betas. */
function withVendorHeaders(
  call: OutCall,
  via: DialectName,
  x: Context,
): OutCall {
  if (via !== "messages" || x.endpoint !== "messages") return call;
  const sent = Object.entries(x.request.headers).filter(([name]) =>
    name.startsWith("anthropic-")
  );
  return { ...call, headers: { ...Object.fromEntries(sent), ...call.headers } };
}

async function* readParts(
  bytes: AsyncIterable<Uint8Array>,
  via: DialectName,
  signal: AbortSignal,
): AsyncGenerator<Part> {
  let stopped = false;
  let called = 0;
  try {
    for await (const data of framesIn(bytes)) {
      if (data === "[DONE]") {
        stopped = true;
        break;
      }
      const json = parseJson(data);
      if (json === undefined) continue;
      if (at(json, "error") !== undefined) {
        yield failed(textAt(json, "error.message") || "The upstream failed");
        return;
      }
      for (const part of partsOf(via, json, called)) {
        if (part.type === "tool") called++;
        if (part.type === "stop") stopped = true;
        yield part;
      }
    }
  } catch (error) {
    if (signal.aborted) throw error;
    stopped = false;
  }
  if (!stopped) yield failed("The upstream broke off before the end");
}

function failed(message: string): Part {
  return { type: "failed", problem: problemOf(502, message) };
}

function partsOf(
  via: DialectName,
  json: ReturnType<typeof parseJson>,
  called: number,
): Part[] {
  if (json === undefined) return [];
  switch (via) {
    case "messages":
      return messagesParts(json);
    case "chat_completions":
      return chatParts(json);
    case "generate_content":
      return geminiParts(json, called);
    case "responses":
      return responsesParts(json);
  }
}

export function callOf(
  request: ModelRequest,
  via: DialectName,
  base: string,
): OutCall {
  const json = { "content-type": "application/json" };
  const call = (
    path: string,
    headers: Readonly<Record<string, string>>,
    body: JsonObject,
  ): OutCall => ({ url: base + path, headers: { ...json, ...headers }, body });
  switch (via) {
    case "messages":
      return call("/v1/messages", {
        "x-api-key": UPSTREAM_KEY,
        "anthropic-version": "2023-06-01",
      }, messagesBody(request));
    case "chat_completions":
      return call("/v1/chat/completions", {
        authorization: `Bearer ${UPSTREAM_KEY}`,
      }, chatBody(request));
    case "responses":
      return call("/v1/responses", {
        authorization: `Bearer ${UPSTREAM_KEY}`,
      }, responsesBody(request));
    case "generate_content":
      return call(
        `/v1beta/models/${request.model}:streamGenerateContent?alt=sse`,
        { "x-goog-api-key": UPSTREAM_KEY },
        geminiBody(request),
      );
  }
}

/**
 * The JSON with which the upstream answers a call that is no generation.
 * @throws {Refused} when it refuses the call
 */
export async function askUpstream(
  plain: OutCall,
  hooks: Hooks,
  x: Context,
): Promise<Json | undefined> {
  const call = hooks.upstream?.(plain, x) ?? plain;
  const ask = (): Promise<Response> =>
    fetch(call.url, {
      method: "POST",
      headers: { "content-type": "application/json", ...call.headers },
      body: JSON.stringify(call.body),
      redirect: "manual",
    });
  for (let more = (hooks.attempts?.(x) ?? 1) - 1; more > 0; more--) {
    await (await ask()).body?.cancel();
  }
  const response = await ask();
  const text = await response.text();
  if (response.status === 200) return parseJson(text);
  const retryAfter = response.headers.get("retry-after");
  throw fromUpstream(response.status, text, retryAfter, false);
}
