/**
 * Turns a fixture's reply into a script: fills its placeholders and applies the marker's delivery
 * parameters. Only `frames` and `end` change the reply's meaning; the others change its encoding,
 * segments or timing.
 */
import { gzipSync } from "node:zlib";
import type { WrittenReply } from "./fixtures/fixture.ts";
import type { ParsedRequest } from "./parse_request.ts";
import {
  applyWireVariants,
  cutCharacters,
  cutEvery,
} from "./vendors/wire_variants.ts";
import { bytes, type End, type Script, type ScriptStep } from "./script.ts";
import { toArrayFrames } from "./vendors/encode_generate_content.ts";

/** Script for a reply that still has placeholders. */
export function deliverWritten(
  call: ParsedRequest,
  reply: WrittenReply,
  params: Readonly<Record<string, string>>,
): Script {
  const filled = call.streamed
    ? { ...reply, stream: fillFrames(reply.stream, call) }
    : { ...reply, whole: fill(reply.whole, call) };
  return deliver(call, filled, params);
}

/** Script for a reply without placeholders. */
export function deliver(
  call: ParsedRequest,
  reply: WrittenReply,
  params: Readonly<Record<string, string>>,
): Script {
  return call.streamed
    ? deliverStream(call, reply, params)
    : deliverWhole(call, reply, params);
}

function deliverStream(
  call: ParsedRequest,
  reply: WrittenReply,
  params: Readonly<Record<string, string>>,
): Script {
  const frames = call.asArray
    ? toArrayFrames(reply.stream)
    : applyWireVariants(reply.stream, params);
  const kept = params["frames"] === undefined
    ? frames
    : frames.slice(0, Math.min(Number(params["frames"]), frames.length - 1));
  return {
    status: 200,
    headers: {
      "content-type": streamType(call),
      ...STREAM_HEADERS[call.dialect],
      ...reply.headers,
      ...encodingHeader(params),
    },
    framing: "chunked",
    steps: stepsFor(kept, reply, params),
  };
}

function deliverWhole(
  call: ParsedRequest,
  reply: WrittenReply,
  params: Readonly<Record<string, string>>,
): Script {
  const body = (params["bom"] === undefined ? "" : "\ufeff") +
    reply.whole;
  const headers = {
    "content-type": WHOLE_TYPES[call.dialect],
    ...ID_HEADERS[call.dialect],
    ...reply.headers,
    ...encodingHeader(params),
  };
  if (params["frames"] === undefined) {
    return {
      status: 200,
      headers,
      framing: "length",
      steps: stepsFor([body], reply, { at: "0", ...params }),
    };
  }
  const first = body.slice(0, Math.floor(body.length / 2));
  const end = params["end"] === undefined || params["end"] === "keep-alive"
    ? "no-final-chunk"
    : params["end"];
  return {
    status: 200,
    headers,
    framing: new TextEncoder().encode(body).length,
    steps: stepsFor([first], reply, { at: "0", ...params, end }),
  };
}

const WHOLE_TYPES: Readonly<Record<ParsedRequest["dialect"], string>> = {
  messages: "application/json",
  chat_completions: "application/json",
  generate_content: "application/json; charset=UTF-8",
  responses: "application/json",
};

type HeadersOf = Readonly<
  Record<ParsedRequest["dialect"], Readonly<Record<string, string>>>
>;

/**
 * Vendor headers with a request id; the server replaces its last digits by the number of the
 * request.
 */
const ID_HEADERS: HeadersOf = {
  messages: { "request-id": "req_011CReplayUpstream000001" },
  chat_completions: { "x-request-id": "req_replay0upstream0000000000000001" },
  generate_content: {},
  responses: { "x-request-id": "req_replay0upstream0000000000000001" },
};

const STREAM_HEADERS: HeadersOf = {
  messages: { "cache-control": "no-cache", ...ID_HEADERS.messages },
  chat_completions: {
    "cache-control": "no-cache",
    ...ID_HEADERS.chat_completions,
  },
  generate_content: {},
  responses: { "cache-control": "no-cache", ...ID_HEADERS.responses },
};

/** Content type of a stream in a request's dialect. */
export function streamType(call: ParsedRequest): string {
  if (call.asArray) return "application/json; charset=UTF-8";
  return call.dialect === "generate_content"
    ? "text/event-stream"
    : "text/event-stream; charset=utf-8";
}

function encodingHeader(
  params: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return params["gzip"] === undefined ? {} : { "content-encoding": "gzip" };
}

/**
 * Fills the placeholders of a reply's frames, and drops the usage frame unless the request asks for
 * it.
 */
export function fillFrames(
  frames: readonly string[],
  call: ParsedRequest,
): string[] {
  return frames
    .filter((frame) => call.usageAsked || !frame.startsWith("{{if-usage}}"))
    .map((frame) => fill(frame, call));
}

function fill(text: string, call: ParsedRequest): string {
  if (!text.includes("{{")) return text;
  return text
    .replace("{{if-usage}}", "")
    .replaceAll("{{usage:null}}", call.usageAsked ? ',"usage":null' : "")
    .replaceAll("{{model}}", () => JSON.stringify(call.model).slice(1, -1));
}

const ENDS: readonly End[] = [
  "keep-alive",
  "fin",
  "rst",
  "no-final-chunk",
  "hold",
];

function stepsFor(
  frames: readonly string[],
  reply: WrittenReply,
  params: Readonly<Record<string, string>>,
): ScriptStep[] {
  const { gate, at = "1", gates, ms, split, burst, end } = params;
  const segments = params["gzip"] !== undefined
    ? cutEvery(gzipSync(frames.join("")), 64)
    : burst === undefined
    ? frames.map(bytes)
    : [bytes(frames.join(""))];
  const steps: ScriptStep[] = [];
  if (gate !== undefined && at === "head") {
    steps.push({ step: "gate", name: gate });
  }
  if (gate !== undefined || gates !== undefined || segments.length === 0) {
    steps.push({ step: "head" });
  }
  segments.forEach((segment, index) => {
    if (gates !== undefined) {
      steps.push({ step: "gate", name: `${gates}:${index}` });
    }
    if (gate !== undefined && at === String(index)) {
      steps.push({ step: "gate", name: gate });
    }
    if (ms !== undefined) steps.push({ step: "wait", ms: Number(ms) });
    if (segment.step !== "bytes") return;
    if (split !== undefined) {
      steps.push(...cutEvery(segment.bytes, Number(split) || 1));
    } else if (reply.edges === "characters") {
      steps.push(...cutCharacters(segment.bytes));
    } else steps.push(segment);
  });
  const how = ENDS.find((known) => known === end);
  if (how !== undefined) steps.push({ step: "end", how });
  return steps;
}
