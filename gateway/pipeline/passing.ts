/**
 * The operation of a configured route: the client's body goes to an upstream with the model's name
 * replaced, and the reply comes back as it is.
 */
import {
  isObject,
  type JsonObject,
  parseJson,
} from "../../translate/bytes/json.ts";
import { withDoubles } from "../../translate/bytes/exact_json.ts";
import { spliceFields, topLevelOf } from "../../translate/bytes/json_splice.ts";
import { ApiError } from "../../translate/model/error.ts";
import type { Usage } from "../../translate/model/reply.ts";
import { passedUsage } from "../../translate/passed_usage.ts";
import { parsedReply } from "../../translate/stream/parsed_reply.ts";
import type { Relay } from "../../translate/stream/relay_interface.ts";
import { type SseParser, sseParser } from "../../translate/stream/sse.ts";
import { nextTurn } from "../accounts/next_turn.ts";
import type { HeaderFields } from "../http/http_reply.ts";
import type { PassedBody } from "../http/passed_body.ts";
import { isLarge } from "../http/request_body.ts";
import { inTurns } from "../in_turns.ts";
import { readUpTo } from "../upstream/attempt.ts";
import type { Model } from "../upstream/catalogue/catalogue.ts";
import type {
  Candidate,
  ModelRegistry,
} from "../upstream/catalogue/model_registry.ts";
import type { PassedRoute } from "../upstream/catalogue/route_settings.ts";
import type { UpstreamResponse } from "../upstream/http/http_client.ts";
import type {
  Operation,
  PreparedCall,
  ReadReply,
  Reply,
  StreamedReply,
} from "../upstream/operation.ts";
import {
  keyFilter,
  textWithoutKeys,
  withoutKeys,
} from "../upstream/without_keys.ts";
import { replyAmounts, type RequestAmounts } from "./passed_amounts.ts";

/** The largest JSON reply: pictures in base64 may be in it. */
const MAX_JSON_BYTES = 128 * 1024 * 1024;
const CHARS_PER_TOKEN = 4;
const EVENT_STREAM = /^text\/event-stream/i;
const NOTHING = new Uint8Array(0);
const DECODER = new TextDecoder();

/** What is passed, and how its charge is found. */
interface PassedCall {
  readonly route: PassedRoute;
  readonly body: PassedBody;
  /** Whether the body asks for an event stream. */
  readonly isStream: boolean;
  /** As the client sent it. */
  readonly accept: string;
  readonly amounts: RequestAmounts;
  /**
   * Most tokens that are charged for a reply that reports none; 0: only reported tokens are
   * charged.
   */
  readonly estimatedTokens: number;
}

export class Passing implements Operation<Reply> {
  readonly #call: PassedCall;

  constructor(call: PassedCall) {
    this.#call = call;
  }

  /** See {@linkcode Operation.isStream}. */
  get isStream(): boolean {
    return this.#call.isStream;
  }

  /** All candidates of the model: the operator knows which paths they have. */
  candidates(models: ModelRegistry, model: Model): readonly Candidate[] {
    return models.candidates(model, "chat_completions");
  }

  /** See {@linkcode Operation.prepare}. */
  prepare(candidate: Candidate): PreparedCall<Reply> {
    const { route, body, accept, amounts, estimatedTokens } = this.#call;
    const vendor = candidate.name.slice(0, candidate.name.indexOf("/"));
    const sent = body.as(candidate.upstreamModel);
    return {
      candidate,
      url: candidate.urlAt(route.pathAt(vendor)),
      request: { ...sent, headers: { ...sent.headers, accept }, dropped: [] },
      canRepeat: () => body.canRepeat(),
      isRelayed: (response) => !isJson(response),
      async read(response) {
        body.release();
        const figures = new Figures(route, amounts, estimatedTokens);
        return isJson(response)
          ? await wholeReply(candidate, response, figures, body.model)
          : await relayedReply(candidate, response, figures);
      },
    };
  }
}

function isJson(response: UpstreamResponse): boolean {
  return /^application\/([\w.+-]+\+)?json\b/i.test(
    response.header("content-type") ?? "",
  );
}

/** What a reply reports for its charge. */
class Figures {
  readonly #route: PassedRoute;
  readonly #amounts: RequestAmounts;
  readonly #estimatedTokens: number;
  /** The last JSON with amounts or usage in it. */
  #reported: JsonObject | undefined;
  #tokens: Usage | undefined;
  #bytes = 0;

  constructor(
    route: PassedRoute,
    amounts: RequestAmounts,
    estimatedTokens: number,
  ) {
    this.#route = route;
    this.#amounts = amounts;
    this.#estimatedTokens = estimatedTokens;
  }

  noteBytes(count: number): void {
    this.#bytes += count;
  }

  noteJson(json: JsonObject): void {
    const { usage } = json;
    const tokens = isObject(usage)
      ? passedUsage({ usage: withDoubles(usage) })
      : undefined;
    if (tokens !== undefined) this.#tokens = tokens;
    if (this.#reported === undefined || usage !== undefined) {
      this.#reported = json;
    }
  }

  usage(): Usage {
    const tokens = this.#tokens ??
      (this.#estimatedTokens > 0 ? {} : { input: 0, output: 0 });
    return {
      ...tokens,
      ...replyAmounts(this.#route, this.#amounts, this.#reported),
    };
  }

  /**
   * The base of an estimate: a token has at least a byte, and the reservation is the upper limit.
   */
  get generatedChars(): number {
    return this.#tokens?.output === undefined
      ? Math.min(this.#bytes, this.#estimatedTokens * CHARS_PER_TOKEN)
      : 0;
  }
}

async function wholeReply(
  candidate: Candidate,
  response: UpstreamResponse,
  figures: Figures,
  model: string,
): Promise<ReadReply> {
  const sent = await readUpTo(response.body, MAX_JSON_BYTES, "fail");
  // Each of these steps takes some milliseconds for each ten megabytes.
  const isLong = isLarge({ bytes: sent });
  if (isLong) await nextTurn();
  const bytes = withoutKeys(sent, candidate.credential.secrets());
  if (isLong) await nextTurn();
  const { reply: json, top, text } = await inTurns(parsedReply(bytes));
  figures.noteBytes(bytes.length);
  if (isObject(json)) {
    if (isObject(json["error"])) {
      throw candidate.dialect.decodeError(
        502,
        response.headers(),
        text ?? DECODER.decode(bytes),
      );
    }
    figures.noteJson(json);
  }
  if (isLong) await nextTurn();
  return {
    type: "whole",
    reply: {
      body: isObject(json) && typeof json["model"] === "string"
        ? spliceFields(bytes, { model }, top ?? topLevelOf(bytes, text))
        : bytes,
      progress: {
        started: true,
        ended: true,
        usage: figures.usage(),
        generatedChars: figures.generatedChars,
      },
    },
    hadKey: () => bytes !== sent,
    headers: headersOf(response, candidate),
  };
}

async function relayedReply(
  candidate: Candidate,
  response: UpstreamResponse,
  figures: Figures,
): Promise<StreamedReply> {
  const { body: source } = response;
  const headers = headersOf(response, candidate);
  const filter = keyFilter(candidate.credential.secrets());
  const relay = passingRelay(
    figures,
    filter,
    EVENT_STREAM.test(headers["content-type"] ?? "") ? sseParser() : undefined,
  );
  try {
    if (
      /^(text\/html|application\/xhtml)/i.test(headers["content-type"] ?? "")
    ) {
      throw new ApiError("upstream", "the upstream replied with a web page");
    }
    const chunk = await source.read();
    return {
      type: "stream",
      relay,
      source,
      first: chunk === undefined ? relay.end() : relay.push(chunk),
      headers,
      ...(filter === undefined ? {} : { hadKey: filter.found }),
    };
  } catch (error) {
    source.cancel();
    throw error;
  }
}

function passingRelay(
  figures: Figures,
  filter: ReturnType<typeof keyFilter>,
  events: SseParser | undefined,
): Relay {
  let hasEnded = false;
  let failure: ApiError | undefined;
  const observe = (frames: ReturnType<SseParser["push"]>): void => {
    for (const { data } of frames) {
      // What follows is no part of the reply: it neither counts nor keeps the client waiting.
      if (data.trim() === "[DONE]") hasEnded = true;
      if (hasEnded) return;
      const json = data.startsWith("{") ? parseJson(data) : undefined;
      if (isObject(json)) figures.noteJson(json);
    }
  };
  const pass = (bytes: Uint8Array): Uint8Array => {
    figures.noteBytes(bytes.length);
    if (events !== undefined) observe(events.push(bytes));
    return bytes;
  };
  return {
    breaksOff: true,
    push: (chunk) => pass(filter === undefined ? chunk : filter.push(chunk)),
    end() {
      const rest = filter === undefined ? NOTHING : pass(filter.rest());
      if (events !== undefined) observe(events.end());
      hasEnded = true;
      return rest;
    },
    fail(error) {
      failure = error;
      return NOTHING;
    },
    ping: () => NOTHING,
    done: () => hasEnded,
    progress: () => ({
      started: true,
      ended: hasEnded,
      usage: figures.usage(),
      generatedChars: figures.generatedChars,
      ...(failure === undefined ? {} : { error: failure }),
    }),
  };
}

/** The headers that describe the reply's body to the client. */
function headersOf(
  response: UpstreamResponse,
  { credential }: Candidate,
): HeaderFields {
  const clean = (name: string): string | undefined => {
    const value = response.header(name);
    return value && textWithoutKeys(value, credential.secrets());
  };
  const type = clean("content-type") ?? "application/octet-stream";
  const disposition = clean("content-disposition");
  return {
    "content-type": type,
    // So that no browser takes the reply for a page.
    "x-content-type-options": "nosniff",
    ...(disposition === undefined
      ? {}
      : { "content-disposition": disposition }),
    ...(EVENT_STREAM.test(type)
      ? {
        "cache-control": "no-cache, no-transform",
        "x-accel-buffering": "no",
      }
      : {}),
  };
}
