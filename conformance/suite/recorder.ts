/**
 * Creates records: masks keys, reads streams with both readers, joins exchanges with the replay
 * server's request log.
 */
import { mapValues } from "@model-gateway/replay/map_values";
import { compact } from "@model-gateway/replay/compact";
import type { Received } from "../clients/transfer.ts";
import { strictFrames, witnessFrames } from "../evidence/event_stream.ts";
import {
  type Endpoint,
  type Exchange,
  type Header,
  headerOf,
  type RecordedRequest,
  type UpstreamCall,
} from "../evidence/exchange.ts";
import type { Redaction } from "../evidence/redaction.ts";
import {
  type DialectName,
  parseRequest,
} from "@model-gateway/replay/parse_request";
import { parseJson } from "@model-gateway/replay/json";
import type { ReplayServer } from "@model-gateway/replay";

interface RecordParts {
  /** Name inside the scenario. */
  readonly label: string;
  readonly scenario: string;
  /** The operation. */
  readonly endpoint: Endpoint;
  readonly via: DialectName | undefined;
  /** The request as sent, including keys. */
  readonly request: RecordedRequest;
  readonly received: Received;
  /** Masks keys in everything that is recorded. */
  readonly redaction: Redaction;
}

/** The record of an exchange, without its upstream calls. */
export function recordOf(parts: RecordParts): Exchange {
  const { request, received, redaction } = parts;
  return {
    label: parts.label,
    scenario: parts.scenario,
    endpoint: parts.endpoint,
    via: parts.via,
    request: {
      ...request,
      path: redaction.text(request.path),
      headers: hidden(request.headers, redaction),
      body: redaction.text(request.body),
      ...(request.rawHead === undefined
        ? {}
        : { rawHead: redaction.text(request.rawHead) }),
    },
    ...replyOf(received, redaction),
    upstream: [],
  };
}

/** The part of a record that shows the reply. */
export function replyOf(
  received: Received,
  redaction: Redaction,
): Omit<Exchange, Exclude<keyof RecordParts, "received"> | "upstream"> {
  const { head, problem, arrivals, ending, endedMs } = received;
  const body = redaction.bytes(received.body);
  const text = new TextDecoder().decode(body);
  const recorded = compact({
    head: head && { ...head, headers: hidden(head.headers, redaction) },
    problem: problem && redaction.text(problem),
  });
  const type = headerOf(recorded, "content-type") ?? "";
  const isFramed = /event-stream/i.test(type) ||
    /^\s*(data|event|:)/.test(text);
  return {
    ...recorded,
    body,
    text,
    validUtf8: isUtf8(body),
    json: parseJson(text),
    arrivals,
    frames: isFramed ? strictFrames(body, arrivals) : [],
    witness: isFramed ? witnessFrames(body) : [],
    ending,
    endedMs,
  };
}

function hidden(headers: readonly Header[], redaction: Redaction): Header[] {
  return headers.map(([name, value]) => [name, redaction.text(value)]);
}

/** The requests upstream of an exchange, found by the nonce in its body. */
export function upstreamCalls(
  replay: ReplayServer | undefined,
  exchange: Exchange,
  redaction: Redaction,
): readonly UpstreamCall[] {
  const nonces = new Set(
    [...exchange.request.body.matchAll(/\[\[fx:[^\]#]*#([^\]]+)\]\]/g)].map((
      [, nonce = ""],
    ) => nonce),
  );
  if (replay === undefined || nonces.size === 0) return [];
  return replay.requestLog.withNonces(nonces)
    .map((entry) => {
      const body = redaction.text(entry.request.body);
      return {
        id: entry.id,
        dialect: parseRequest(entry.request).dialect,
        method: entry.request.method,
        path: redaction.text(entry.request.path),
        headers: mapValues(
          entry.request.headers,
          (value) => redaction.text(value),
        ),
        body,
        json: parseJson(body),
        status: entry.status,
        segmentsSent: entry.segmentsSent,
        ending: entry.ending,
      };
    });
}

function isUtf8(body: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(body);
    return true;
  } catch {
    return false;
  }
}
