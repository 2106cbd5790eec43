/**
 * What a mutant that changes only replies would have sent: the reference gateway's record, with the
 * replies rewritten by the mutant's hooks. It spares the self-test most of its requests.
 */
import { compact } from "@model-gateway/replay/compact";
import { isObject, type Json, objectOf } from "@model-gateway/replay/json";
import { contextOf } from "../reference_gateway/gateway.ts";
import type { Context, Hooks, OutFrame } from "../reference_gateway/hooks.ts";
import { PASSED } from "../reference_gateway/pass_through.ts";
import {
  arrayEnd,
  elementOf,
} from "../reference_gateway/formats/write_generate_content.ts";
import { wireOf } from "../reference_gateway/formats/write_reply.ts";
import {
  type Exchange,
  type Header,
  isStream,
  type ResponseHead,
} from "../evidence/exchange.ts";
import type { Redaction } from "../evidence/redaction.ts";
import type { ScenarioRecord } from "../suite/evidence.ts";
import { replyOf } from "../suite/recorder.ts";

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

class NotRewritable extends Error {}

const encoder = new TextEncoder();

/** True when the hooks change nothing but replies. */
export function changesOnlyReplies(hooks: Hooks): boolean {
  return Object.keys(hooks).every((name) =>
    REPLY_HOOKS.some((known) => known === name)
  );
}

/**
 * The record with its replies rewritten, itself where all stay as they are; undefined when the
 * mutant must be asked, as where a request follows from an earlier reply.
 */
export function rewriteRecord(
  record: ScenarioRecord,
  hooks: Hooks,
  redaction: Redaction,
): ScenarioRecord | undefined {
  if (record.followsReplies) return undefined;
  try {
    const exchanges = record.exchanges.map((x) => rewrite(x, hooks, redaction));
    return exchanges.every((x, at) => x === record.exchanges[at])
      ? record
      : { ...record, exchanges };
  } catch (error) {
    if (error instanceof NotRewritable) return undefined;
    throw error;
  }
}

function rewrite(x: Exchange, hooks: Hooks, redaction: Redaction): Exchange {
  const { head } = x;
  if (head === undefined) return x;
  // A reply that passes through is sent without hooks.
  if (PASSED.test(x.request.body)) throw new NotRewritable();
  const context = contextOf({
    ...x.request,
    headers: Object.fromEntries(x.request.headers),
  });
  const changed = isStream(x) || Array.isArray(x.json)
    ? streamOf(x, head, hooks, context)
    : wholeOf(x, head, hooks, context);
  if (changed === undefined) return x;
  const { ending, endedMs } = x;
  return { ...x, ...replyOf({ ...changed, ending, endedMs }, redaction) };
}

/** What a client receives, without the end; undefined where it is what it was. */
type Sent = Pick<Exchange, "body" | "arrivals"> & {
  readonly head: ResponseHead;
};

function wholeOf(
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
  const text = JSON.stringify(after.body);
  const body = encoder.encode(text);
  const changed = given(headers, after, body.length);
  if (
    text === x.text && after.status === status && areSame(changed, headers)
  ) return undefined;
  const atMs = x.arrivals.at(-1)?.atMs ?? head.atMs;
  return {
    head: { ...head, status: after.status, headers: changed },
    body,
    arrivals: [{ atMs, upTo: body.length }],
  };
}

function streamOf(
  x: Exchange,
  head: ResponseHead,
  { streamHeaders, frame: hook, wire }: Hooks,
  context: Context,
): Sent | undefined {
  const headers = Object.fromEntries(head.headers);
  const after = streamHeaders?.(headers, context) ?? headers;
  let body = "";
  const pieces: { readonly atMs: number; readonly text: string }[] = [];
  const isArray = Array.isArray(x.json);
  let elements = 0;
  const write = (text: string, atMs: number): void => {
    body += text;
    pieces.push({ atMs, text });
  };
  for (const [index, frame] of framesOf(x).entries()) {
    for (const out of hook?.(frame, context) ?? [frame]) {
      const text = isArray ? elementOf(out, elements++) : wireOf(out);
      write(wire?.(text, context) ?? text, x.frames[index]?.atMs ?? 0);
    }
  }
  if (isArray) write(arrayEnd(elements), 0);
  const bytes = encoder.encode(body);
  const changed = given(head.headers, { headers: after }, bytes.length);
  if (body === x.text && areSame(changed, head.headers)) return undefined;
  let upTo = 0;
  return {
    head: { ...head, headers: changed },
    body: bytes,
    arrivals: pieces.filter(({ text }) => text !== "").map((
      { atMs, text },
    ) => ({ atMs, upTo: upTo += encoder.encode(text).length })),
  };
}

/** Frames do not depend on a mutant, and hundreds of mutants ask for them. */
const known = new WeakMap<Exchange, readonly OutFrame[]>();

/** The frames before they were written. */
function framesOf(x: Exchange): readonly OutFrame[] {
  const frames = known.get(x) ?? framesIn(x);
  known.set(x, frames);
  return frames;
}

function framesIn(x: Exchange): readonly OutFrame[] {
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

function areSame(some: readonly Header[], others: readonly Header[]): boolean {
  return some.length === others.length &&
    some.every(([name, value], at) =>
      name === others[at]?.[0] && value === others[at]?.[1]
    );
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
