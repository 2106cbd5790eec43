/**
 * JSON bodies to spoil, for tests: the requests of `seed_requests/`, the recorded requests, and
 * replies.
 */
import { WRITTEN } from "../../../replay/fixtures/mod.ts";
import {
  type EncodeContext,
  PLAIN_CONTEXT,
} from "../../../translate/dialect.ts";
import { isObject, type JsonObject } from "../../../translate/bytes/json.ts";
import { messages } from "../../../translate/formats/messages/mod.ts";
import { recordings } from "../../../translate/testing/recordings.ts";
import type { DialectName } from "../../../translate/model/request.ts";
import { responses } from "../../../translate/formats/responses/mod.ts";
import { CHAT_REQUESTS } from "./seed_requests/chat_completions.ts";
import { CONTENT_REQUESTS } from "./seed_requests/generate_content.ts";
import { MESSAGES_REQUESTS } from "./seed_requests/messages.ts";
import { RESPONSES_REQUESTS } from "./seed_requests/responses.ts";
import { ENCODE_CONTEXT } from "../../../translate/testing/encode_context.ts";

const WRITTEN_REQUESTS = {
  messages: MESSAGES_REQUESTS,
  chat_completions: CHAT_REQUESTS,
  responses: RESPONSES_REQUESTS,
  generate_content: CONTENT_REQUESTS,
};

const LONG_TEXT = 2_000;

/** Cuts long strings (mostly base64 images), which would only cost time. */
function shortened(value: unknown): unknown {
  if (typeof value === "string") return value.slice(0, LONG_TEXT);
  if (Array.isArray(value)) return value.map(shortened);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, shortened(inner)]),
  );
}

const RECORDED: Readonly<Record<string, DialectName>> = {
  messages: "messages",
  chat: "chat_completions",
  gemini: "generate_content",
  responses: "responses",
};

/**
 * Requests in a client's format: the written ones and, where the recordings are available, real
 * ones.
 */
export function requestSeeds(
  dialect: keyof typeof WRITTEN_REQUESTS,
): readonly JsonObject[] {
  const real = (recordings() ?? []).flatMap(({ vendor, request }) =>
    RECORDED[vendor] === dialect && isObject(request?.body)
      ? [shortened(request.body)].filter(isObject)
      : []
  );
  return [
    ...WRITTEN_REQUESTS[dialect],
    ...real,
  ];
}

export interface ReplySeeds {
  readonly whole: readonly unknown[];
  /** Event streams, each as one text. */
  readonly streams: readonly string[];
}

const ENCODE: EncodeContext = { ...ENCODE_CONTEXT, wantUsage: true };

/** A reply of the messages format in the Responses format, which no fixture is written in. */
function asResponse(message: string): {
  readonly whole: string;
  readonly stream: readonly string[];
} {
  const events = messages.decodeReply(JSON.parse(message), PLAIN_CONTEXT);
  const encoder = responses.streamEncoder(ENCODE);
  return {
    whole: JSON.stringify(
      events.some(({ type }) => type === "error")
        ? { status: "failed", error: { code: "server_error", message: "m" } }
        : responses.encodeReply(events, ENCODE),
    ),
    stream: events.map((event) => encoder.push(event)),
  };
}

/** Streams and replies above this length are left out: they repeat the same shapes. */
const LONG_STREAM = 40_000;

/**
 * Replies in one upstream format: the replay fixtures and, where the recordings are available, real
 * ones.
 */
export function replySeeds(
  dialect: Exclude<DialectName, "converse">,
): ReplySeeds {
  const written = [...WRITTEN.values()].map(({ replies }) =>
    dialect === "responses"
      ? asResponse(replies.messages.whole)
      : replies[dialect]
  );
  const real = (recordings() ?? []).filter(({ vendor }) =>
    RECORDED[vendor] === dialect
  );
  return {
    whole: [
      ...written.map(({ whole }) => JSON.parse(whole)),
      ...real.flatMap(({ response }) =>
        response.body === undefined ? [] : [response.body]
      ),
    ].filter((body) => JSON.stringify(body).length < LONG_STREAM),
    streams: [
      ...written.map(({ stream }) =>
        stream.join("").replaceAll("{{if-usage}}", "").replaceAll(
          "{{usage:null}}",
          ',"usage":null',
        ).replaceAll("{{model}}", "m")
      ),
      ...real.flatMap(({ response }) =>
        response.sse === undefined || response.status !== 200
          ? []
          : [response.sse]
      ),
    ].filter((stream) => stream.length < LONG_STREAM),
  };
}
