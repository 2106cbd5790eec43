/**
 * Translates requests, whole replies and streams of language models between wire formats: bytes in,
 * bytes out. Pure: no network, clock or randomness. Where both sides speak one format, the bytes
 * pass through and only the model id is replaced.
 *
 * @module
 */
import { exactJson } from "./bytes/exact_json.ts";
import { isObject, type JsonObject } from "./bytes/json.ts";
import { topLevelOf } from "./bytes/json_splice.ts";
import type { Dialect, EncodeContext } from "./dialect.ts";
import { upstreamDialect } from "./dialects.ts";
import { chatCompletions } from "./formats/chat_completions/mod.ts";
import { generateContent } from "./formats/generate_content/mod.ts";
import { messages } from "./formats/messages/mod.ts";
import { responses } from "./formats/responses/mod.ts";
import {
  type Capabilities,
  DEFAULT_CAPABILITIES,
} from "./model/capabilities.ts";
import { ApiError } from "./model/error.ts";
import { freeTextNames } from "./turns/free_text.ts";
import type {
  DialectName,
  GenerationRequest,
  RequestTarget,
} from "./model/request.ts";
import { readRequest } from "./stream/read_request.ts";
import { streamRelay, wholeReply } from "./stream/relay.ts";
import { type UpstreamRequest, upstreamRequest } from "./upstream_request.ts";
import type { Relay } from "./stream/relay_interface.ts";

export { ApiError } from "./model/error.ts";
export type { Capabilities } from "./model/capabilities.ts";
export type { DialectName, GenerationRequest } from "./model/request.ts";
export type { Usage } from "./model/reply.ts";
export type { ReplyProgress } from "./model/reply_progress.ts";
export type { Relay } from "./stream/relay_interface.ts";
export type { UpstreamRequest } from "./upstream_request.ts";
import { atOnce } from "./steps.ts";

/** A format that clients speak. */
export type ClientFormat =
  | "messages"
  | "chat_completions"
  | "responses"
  | "generate_content";

const CLIENT_FORMATS: Readonly<Record<ClientFormat, Dialect>> = {
  messages,
  chat_completions: chatCompletions,
  responses,
  generate_content: generateContent,
};

/** A request as it goes to the upstream, and what its reply's translation needs. */
export interface TranslatedRequest extends UpstreamRequest {
  /** The client's request in the neutral vocabulary. */
  readonly request: GenerationRequest;
  /** The fields that the reply repeats; absent where the client's format repeats none. */
  readonly echo?: JsonObject;
}

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Two keys of invalid UTF-8 would be one here and two for the upstream. */
function textOf(body: Uint8Array): string {
  try {
    return UTF8.decode(body);
  } catch {
    throw new ApiError("invalid_request", "the body is not valid UTF-8");
  }
}

/**
 * Translates a client's request for an upstream that knows the model as `model`.
 *
 * @throws {ApiError} `invalid_request` with the field's path, where the body is not a request of
 * the format or the upstream's format cannot express it
 */
export function translateRequest(
  { body, from, to, model, capabilities, target }: {
    readonly body: Uint8Array;
    readonly from: ClientFormat;
    readonly to: DialectName;
    readonly model: string;
    /** What the model supports; absent: the format's defaults. */
    readonly capabilities?: Capabilities;
    /** What the path states, for a format whose bodies do not. */
    readonly target?: RequestTarget;
  },
): TranslatedRequest {
  const dialect = CLIENT_FORMATS[from];
  const text = textOf(body);
  const json = exactJson(text);
  if (!isObject(json)) {
    throw new ApiError("invalid_request", "the body is not a JSON object");
  }
  const request = atOnce(
    readRequest(json, dialect.decodeRequest, dialect.checkPassable, target),
  );
  const client = {
    dialect,
    bytes: body,
    body: json,
    top: topLevelOf(body, text),
    request,
  };
  return {
    ...upstreamRequest(
      client,
      upstreamDialect(to),
      model,
      capabilities ?? DEFAULT_CAPABILITIES[to],
    ),
    request,
    ...(dialect.echoOf === undefined ? {} : { echo: dialect.echoOf(json) }),
  };
}

/** What the translation of a reply needs. */
interface ReplyOptions {
  readonly from: DialectName;
  readonly to: ClientFormat;
  /** The request that the reply answers. */
  readonly request: TranslatedRequest;
  /**
   * 24 or more of [0-9A-Za-z], unique per reply: ids that the upstream does not send are made of
   * it.
   */
  readonly idSeed: string;
  /** Unix time of the request in whole seconds. */
  readonly created: number;
}

/**
 * Translates a whole reply.
 *
 * @throws {ApiError} the error that the reply contains, or `upstream` for bytes that are not a
 * reply
 */
export function translateReply(
  options: ReplyOptions,
  body: Uint8Array,
): Uint8Array {
  return atOnce(wholeReply(
    CLIENT_FORMATS[options.to],
    upstreamDialect(options.from),
    options.request.context,
    encodeContext(options),
    body,
  )).body;
}

/**
 * Translates a stream: `push` each chunk of the upstream's body, then `end`; both return bytes for
 * the client.
 */
export function translateStream(options: ReplyOptions): Relay {
  return streamRelay(
    CLIENT_FORMATS[options.to],
    upstreamDialect(options.from),
    options.request.context,
    encodeContext(options),
  );
}

function encodeContext(
  { request: { request, echo }, idSeed, created }: ReplyOptions,
): EncodeContext {
  return {
    model: request.model,
    created,
    idSeed,
    wantUsage: request.wantUsage,
    legacyFunctions: request.legacyFunctions === true,
    hidesReasoning: request.hidesReasoning === true,
    freeTextTools: freeTextNames(request),
    inputEstimate: 0,
    ...(echo === undefined ? {} : { echo }),
  };
}
