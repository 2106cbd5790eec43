/** Counts of tokens in the reference gateway: the vendor's where it counts, else an estimate. */
import { numberAt } from "../evidence/json_path.ts";
import type { DialectName } from "@model-gateway/replay/parse_request";
import { isObject, type JsonObject } from "@model-gateway/replay/json";
import type { Endpoint } from "../evidence/exchange.ts";
import { askUpstream, callOf } from "./call_upstream.ts";
import type { Context, Hooks, OutCall } from "./hooks.ts";
import { type ModelRequest, Refused } from "./part.ts";
import { problemOf } from "./problems.ts";

/** The body whose tokens are asked for, as a request for a reply. */
export function countedBody(endpoint: Endpoint, body: JsonObject): JsonObject {
  if (endpoint === "messages") return { max_tokens: 1, ...body };
  const whole = body["generateContentRequest"];
  return endpoint === "generate_content" && isObject(whole) ? whole : body;
}

/** The number of tokens of a request's prompt. */
export async function countTokens(
  request: ModelRequest,
  via: DialectName,
  upstreamUrl: string,
  hooks: Hooks,
  x: Context,
): Promise<number> {
  const plain = countCall(request, via, upstreamUrl);
  if (plain === undefined) {
    const { system, turns, tools } = request;
    return Math.ceil(JSON.stringify([system, turns, tools]).length / 4);
  }
  const reply = await askUpstream(plain, hooks, x);
  const count = numberAt(reply, "input_tokens") ??
    numberAt(reply, "totalTokens");
  if (count !== undefined) return count;
  throw new Refused(problemOf(502, "The upstream did not count"));
}

/** The vendor's own count; undefined where it has none. */
function countCall(
  request: ModelRequest,
  via: DialectName,
  upstreamUrl: string,
): OutCall | undefined {
  const call = callOf(request, via, upstreamUrl);
  if (via === "messages") {
    const { max_tokens: _, stream: __, ...body } = call.body;
    return { ...call, url: `${call.url}/count_tokens`, body };
  }
  if (via !== "generate_content") return undefined;
  const model = `models/${request.model}`;
  return {
    ...call,
    url: call.url.replace(/:.[a-zA-Z]*\?.*$/, ":countTokens"),
    body: { generateContentRequest: { model, ...call.body } },
  };
}

/** A count in the words of an endpoint's format. */
export function countReply(endpoint: Endpoint, count: number): JsonObject {
  switch (endpoint) {
    case "generate_content":
      return { totalTokens: count };
    case "chat":
      return { object: "chat.completion.input_tokens", input_tokens: count };
    case "responses":
      return { object: "response.input_tokens", input_tokens: count };
    default:
      return { input_tokens: count };
  }
}
