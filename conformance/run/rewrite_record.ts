/**
 * What a mutant that changes only replies would have sent: the reference gateway's record, with the
 * replies rewritten by the mutant's hooks. It spares the self-test most of its requests.
 */
import { joinBytes } from "@model-gateway/replay/join_bytes";
import { compact } from "@model-gateway/replay/compact";
import { isObject, type Json, objectOf } from "@model-gateway/replay/json";
import { contextOf } from "../reference_gateway/gateway.ts";
import type { Context, Hooks, OutFrame } from "../reference_gateway/hooks.ts";
import { PASSED_METADATA } from "../reference_gateway/pass_through.ts";
import {
  arrayEnd,
  elementOf,
} from "../reference_gateway/write_generate_content.ts";
import { wireOf } from "../reference_gateway/write_reply.ts";
import {
  type Exchange,
  type Header,
  isStream,
  type ResponseHead,
} from "../evidence/exchange.ts";
import type { Redaction } from "../evidence/redaction.ts";
import type { ScenarioRecord } from "../suite/evidence.ts";
import { recordOf } from "../suite/recorder.ts";

/** The hooks that see only what the gateway is about to send. */
const REPLY_HOOKS: readonly (keyof Hooks)[] = [
  "reply",
  "streamHeaders",
  "frame",
  "wire",
];

/** Headers that decide what a client reads: another value changes more than the record shows. */
const FRAMING = [
  "connection",
  "content-encoding",
  "content-length",
  "transfer-encoding",
];

/** Thrown where a reply cannot be rewritten. */
class NotRewritable extends Error {}

const PASSED = JSON.stringify(PASSED_METADATA);
const encoder = new TextEncoder();

/** True when the hooks change nothing but replies. */
export function changesOnlyReplies(hooks: Hooks): boolean {
  return Object.keys(hooks).every((name) =>
    REPLY_HOOKS.some((known) => known === name)
  );
}

/**
 * The record with its replies rewritten; undefined when the mutant must be asked, as where a
 * request follows from an earlier reply.
 */
export function rewriteRecord(
  record: ScenarioRecord,
  hooks: Hooks,
  redaction: Redaction,
): ScenarioRecord | undefined {
  if (record.followsReplies) return undefined;
  try {
    const exchanges = record.exchanges.map((x) => rewrite(x, hooks, redaction));
    return { ...record, exchanges };
  } catch (error) {
    if (error instanceof NotRewritable) return undefined;
    throw error;
  }
}

function rewrite(x: Exchange, hooks: Hooks, redaction: Redaction): Exchange {
  const { head } = x;
  if (head === undefined) return x;
  // A reply that passes through is sent without hooks.
  if (x.request.body.includes(PASSED)) throw new NotRewritable();
  const context = contextOf({
    ...x.request,
    headers: Object.fromEntries(x.request.headers),
  });
  const changed = isStream(x) || Array.isArray(x.json)
    ? streamOf(x, head, hooks, context)
    : replyOf(x, head, hooks, context);
  if (changed === undefined) return x;
  const { label, scenario, endpoint, via, request, ending, endedMs } = x;
  return {
    ...recordOf({
      label,
      scenario,
      endpoint,
      via,
      request,
      received: { ...changed, ending, endedMs },
      redaction,
    }),
    upstream: x.upstream,
  };
}

/** What a client receives, without the end. */
type Sent = Pick<Exchange, "body" | "arrivals"> & {
  readonly head: ResponseHead;
};

function replyOf(
  x: Exchange,
  head: ResponseHead,
  { reply }: Hooks,
  context: Context,
): Sent | undefined {
  if (reply === undefined) return undefined;
  const { json, request: { method } } = x;
  // The reply to HEAD has no body that shows what the hook would have received.
  if (!isObject(json) || method === "HEAD") throw new NotRewritable();
  const { status, headers } = head;
  const before = { status, headers: Object.fromEntries(headers), body: json };
  const after = reply(before, context);
  if (after.status !== status && after.status !== 200 && after.status < 400) {
    throw new NotRewritable();
  }
  const body = encoder.encode(JSON.stringify(after.body));
  const atMs = x.arrivals.at(-1)?.atMs ?? head.atMs;
  return {
    head: {
      ...head,
      status: after.status,
      headers: given(headers, after, body.length),
    },
    body,
    arrivals: [{ atMs, upTo: body.length }],
  };
}

function streamOf(
  x: Exchange,
  head: ResponseHead,
  { streamHeaders, frame: hook, wire }: Hooks,
  context: Context,
): Sent {
  const headers = Object.fromEntries(head.headers);
  const after = streamHeaders?.(headers, context) ?? headers;
  const pieces: Uint8Array[] = [];
  const arrivals: { atMs: number; upTo: number }[] = [];
  let upTo = 0;
  const isArray = Array.isArray(x.json);
  let elements = 0;
  const write = (text: string, atMs: number): void => {
    const piece = encoder.encode(text);
    upTo += piece.length;
    pieces.push(piece);
    arrivals.push({ atMs, upTo });
  };
  for (const [index, frame] of framesOf(x).entries()) {
    for (const out of hook?.(frame, context) ?? [frame]) {
      const text = isArray ? elementOf(out, elements++) : wireOf(out);
      write(wire?.(text, context) ?? text, x.frames[index]?.atMs ?? 0);
    }
  }
  if (isArray) write(arrayEnd(elements), 0);
  const body = joinBytes(pieces);
  return {
    head: { ...head, headers: given(head.headers, { headers: after }, upTo) },
    body,
    arrivals: arrivals.filter(({ upTo }, index) =>
      upTo > (arrivals[index - 1]?.upTo ?? 0)
    ),
  };
}

/** The frames before they were written. */
function framesOf(x: Exchange): readonly OutFrame[] {
  if (Array.isArray(x.json)) {
    const elements = x.json.map((data: Json): OutFrame => ({
      data: objectOf(data),
    }));
    const text = elements.map(elementOf).join("") + arrayEnd(elements.length);
    if (text === x.text) return elements;
    throw new NotRewritable();
  }
  const frames = x.frames.map(({ event, data, json }): OutFrame => ({
    ...compact({ event }),
    data: isObject(json) ? json : data,
  }));
  if (frames.map(wireOf).join("") === x.text) return frames;
  throw new NotRewritable();
}

/** The headers as a client lists them. */
function given(
  before: readonly Header[],
  { headers }: { readonly headers: Readonly<Record<string, string>> },
  length: number,
): readonly Header[] {
  const old = Object.fromEntries(before);
  if (FRAMING.some((name) => old[name] !== headers[name])) {
    throw new NotRewritable();
  }
  return Object.entries(headers).map(([name, value]): Header => [
    name.toLowerCase(),
    name === "content-length" ? `${length}` : value,
  ]);
}
