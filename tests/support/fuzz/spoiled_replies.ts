/**
 * Fuzzing of replies, for tests: recorded and written replies of every upstream format, whole and
 * streamed, are spoiled and encoded for clients of every format. Defects are exceptions other than
 * `ApiError`, output against the client's format, and a stream without an end that is presented as
 * complete.
 */
import { atOnce } from "../../../translate/steps.ts";
import assert from "node:assert/strict";
import { chatCompletions } from "../../../translate/formats/chat_completions/mod.ts";
import {
  type Dialect,
  type EncodeContext,
  PLAIN_CONTEXT,
  type UpstreamDialect,
} from "../../../translate/dialect.ts";
import { upstreamDialect } from "../../../translate/dialects.ts";
import { ApiError } from "../../../translate/model/error.ts";
import {
  arrayOr,
  type JsonObject,
  objectOr,
  parseJson,
} from "../../../translate/bytes/json.ts";
import { generateContent } from "../../../translate/formats/generate_content/mod.ts";
import { messages } from "../../../translate/formats/messages/mod.ts";
import {
  streamOfWhole,
  streamRelay,
  wholeOfStream,
  wholeReply,
} from "../../../translate/stream/relay.ts";
import type { Relay } from "../../../translate/stream/relay_interface.ts";
import type { DialectName } from "../../../translate/model/request.ts";
import { responses } from "../../../translate/formats/responses/mod.ts";
import { readResponseStream } from "../../../translate/formats/responses/stream_grammar.ts";
import { readChatStream, readMessageStream } from "../replies/reply_grammar.ts";
import { type Dice, diceOf, pick, spoiled } from "./spoil.ts";
import { type ReplySeeds, replySeeds } from "./spoil_seeds.ts";
import type { Defect } from "./spoiled_requests.ts";
import { ENCODE_CONTEXT } from "../../../translate/testing/encode_context.ts";

interface ReplyTally {
  tried: number;
  /** Replies that the client received as complete. */
  answered: number;
  /** Replies that the client received as errors. */
  failed: number;
}

const MODEL = "asked-for";
const ENCODE: EncodeContext = {
  ...ENCODE_CONTEXT,
  model: MODEL,
  wantUsage: true,
};
const CALLERS: readonly Dialect[] = [
  messages,
  chatCompletions,
  responses,
  generateContent,
];
const NAMES: readonly Exclude<DialectName, "converse">[] = [
  "messages",
  "chat_completions",
  "generate_content",
  "responses",
];
const ENCODER = new TextEncoder();
const DECODER = new TextDecoder();

/** Every complete stream matches this somewhere; a stream without a match is cut. */
const ENDS: Readonly<Record<DialectName, RegExp>> = {
  messages: /message_stop|stop_reason/,
  chat_completions: /\[DONE\]|finish_reason|done_reason/,
  generate_content: /finishReason|blockReason|finish_reason/,
  responses: /completed|incomplete|done/,
  converse: /messageStop/,
};

/** Tries `count` spoiled replies and calls `found` for every defect. */
export function trySpoiledReplies(
  count: number,
  seed: number,
  found: (defect: Defect) => void,
): ReplyTally {
  const dice = diceOf(seed);
  const tally: ReplyTally = { tried: 0, answered: 0, failed: 0 };
  const upstreams = NAMES.map((name) => ({
    upstream: upstreamDialect(name),
    seeds: replySeeds(name),
  }));
  while (tally.tried < count) {
    const { upstream, seeds } = pick(dice, upstreams);
    const caller = pick(dice, CALLERS);
    const isStream = dice(2) === 0;
    const body = isStream
      ? spoiledStream(seeds, dice)
      : deepened(spoiled(pick(dice, seeds.whole), seeds.whole, dice), dice);
    tally.tried++;
    try {
      const isAnswer = isStream
        ? tryStream(caller, upstream, body, dice)
        : tryWhole(caller, upstream, body, dice);
      if (isAnswer) tally.answered++;
      else tally.failed++;
    } catch (error) {
      found({ body, where: `${upstream.name} → ${caller.name}`, error });
    }
  }
  return tally;
}

/**
 * Translates a whole upstream reply for a client that wants it whole or streamed; false if it
 * became an error.
 */
function tryWhole(
  caller: Dialect,
  upstream: UpstreamDialect,
  body: string,
  dice: Dice,
): boolean {
  const bytes = ENCODER.encode(body);
  try {
    if (dice(2) === 0) {
      const reply = atOnce(
        wholeReply(caller, upstream, PLAIN_CONTEXT, ENCODE, bytes),
      );
      JSON.parse(DECODER.decode(reply.body));
    } else {
      const reply = atOnce(streamOfWhole(
        caller,
        upstream,
        PLAIN_CONTEXT,
        ENCODE,
        bytes,
      ));
      assertGrammar(caller, DECODER.decode(reply.body));
    }
    return true;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    assertEncodable(caller, error);
    return false;
  }
}

/**
 * Translates an upstream stream for a client that wants it streamed or whole; false if it became an
 * error.
 */
function tryStream(
  caller: Dialect,
  upstream: UpstreamDialect,
  stream: string,
  dice: Dice,
): boolean {
  const bytes = ENCODER.encode(stream);
  if (dice(4) === 0) {
    try {
      const reply = atOnce(wholeOfStream(
        caller,
        upstream,
        PLAIN_CONTEXT,
        ENCODE,
        bytes,
      ));
      JSON.parse(DECODER.decode(reply.body));
      assert.match(stream, ENDS[upstream.name], "a cut stream is no reply");
      return true;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      assertEncodable(caller, error);
      return false;
    }
  }
  const relay = streamRelay(caller, upstream, PLAIN_CONTEXT, ENCODE);
  const out = relayed(relay, bytes, dice);
  assert.ok(relay.done(), "the relay is done");
  const { error } = relay.progress();
  if (error !== undefined) assertEncodable(caller, error);
  else assert.match(stream, ENDS[upstream.name], "a cut stream is no reply");
  if (caller.name !== upstream.name) {
    const read = assertGrammar(caller, out);
    assert.equal(read.error === undefined, error === undefined);
  } else if (error !== undefined) assertErrorLast(out);
  return error === undefined;
}

function relayed(relay: Relay, bytes: Uint8Array, dice: Dice): string {
  const cut = dice(bytes.length + 1);
  let out = "";
  for (const piece of [bytes.subarray(0, cut), bytes.subarray(cut)]) {
    out += DECODER.decode(relay.push(piece));
  }
  return out + DECODER.decode(relay.end());
}

function assertGrammar(
  caller: Dialect,
  stream: string,
): { readonly error?: unknown } {
  if (caller.name === "responses") {
    const { ending, reply } = readResponseStream(stream);
    return ending === "failed" ? { error: reply["error"] } : {};
  }
  if (caller.name === "generate_content") return readContentStream(stream);
  return caller.name === "messages"
    ? readMessageStream(stream, MODEL)
    : readChatStream(stream, MODEL, true);
}

/** Every object has parts, and only the last one ends the reply, or is an error. */
function readContentStream(stream: string): { readonly error?: unknown } {
  const objects = stream.split("\n\n").filter((frame) =>
    frame.startsWith("data: ")
  ).map((frame): JsonObject => objectOr(JSON.parse(frame.slice(6))));
  const last = objects.at(-1) ?? {};
  for (const object of objects) {
    const [candidate] = arrayOr(object["candidates"]).map(objectOr);
    const isLast = object === last;
    assert.equal(
      object["error"] !== undefined || object["promptFeedback"] !== undefined ||
        candidate?.["finishReason"] !== undefined,
      isLast,
    );
    if (candidate === undefined) continue;
    assert.equal(object["modelVersion"], MODEL);
    assert.ok(arrayOr(objectOr(candidate["content"])["parts"]).length > 0);
    assert.ok(object["usageMetadata"] !== undefined);
  }
  return last["error"] === undefined ? {} : { error: last["error"] };
}

/** The error is the last frame, before comments: nothing after it can look like an end. */
function assertErrorLast(out: string): void {
  const last =
    out.trimEnd().split(/\r?\n\r?\n/).findLast((frame) =>
      !frame.startsWith(":")
    ) ?? "";
  assert.match(last, /"error"/, "the error is the last frame");
}

function assertEncodable(caller: Dialect, error: ApiError): void {
  const encoded = caller.encodeError(error, "req_1");
  assert.ok(encoded.status >= 400 && encoded.status < 600);
  JSON.parse(JSON.stringify(encoded.body));
  new Headers(encoded.headers);
}

/** A stream whose frames are removed, duplicated, cut short or spoiled. */
function spoiledStream(seeds: ReplySeeds, dice: Dice): string {
  const frames = pick(dice, seeds.streams).split(/(?<=\r?\n\r?\n)/);
  const others = frames.map(dataOf).filter((data) => data !== undefined);
  const faults = 1 + dice(3);
  for (let fault = 0; fault < faults && frames.length > 0; fault++) {
    const at = dice(frames.length);
    const frame = frames[at] ?? "";
    switch (dice(7)) {
      case 0:
        frames.splice(at, 1);
        break;
      case 1:
        frames.splice(dice(frames.length), 0, frame);
        break;
      case 2:
        frames.length = at;
        break;
      case 3:
        frames[at] = frame.slice(0, dice(frame.length + 1));
        break;
      default: {
        const data = dataOf(frame);
        if (data === undefined || others.length === 0) break;
        const by = deepened(spoiled(data, others, dice), dice);
        frames[at] = frame.replace(/^data:.*$/m, () => `data: ${by}`);
      }
    }
  }
  return frames.join("");
}

/** JSON that V8 parses but cannot stringify: it serializes objects with such keys recursively. */
const DEEP = `${'{"5":'.repeat(9_000)}1${"}".repeat(9_000)}`;

/** In one case of 60, replaces one string or number with a very deeply nested value. */
function deepened(json: string, dice: Dice): string {
  if (dice(60) !== 0) return json;
  const values = [...json.matchAll(/(?<=[:[,])(?:\d+|"[^"\\]*")(?=[,\]}])/g)];
  if (values.length === 0) return json;
  const { index, 0: value } = pick(dice, values);
  return json.slice(0, index) + DEEP + json.slice(index + value.length);
}

function dataOf(frame: string): unknown {
  const data = /^data:(.*)$/m.exec(frame)?.[1];
  return data === undefined ? undefined : parseJson(data);
}
