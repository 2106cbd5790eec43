/**
 * The replay fixtures' replies as upstreams send them over HTTP, in bytes. For tests on plain TCP.
 */
import assert from "node:assert/strict";
import { WRITTEN } from "../../../replay/fixtures/mod.ts";
import type { UpstreamFormat } from "../tables/reply_script.ts";
import { bytesOf } from "../clients/raw_socket.ts";

/** Names of the upstream formats in the fixtures. */
const DIALECTS = {
  messages: "messages",
  chat: "chat_completions",
  gemini: "generate_content",
} as const;

export function framesOf(
  name: string,
  upstream: UpstreamFormat,
): readonly string[] {
  return repliesOf(name, upstream).stream.map(filled);
}

export function wholeOf(name: string, upstream: UpstreamFormat): string {
  return filled(repliesOf(name, upstream).whole);
}

function repliesOf(
  name: string,
  upstream: UpstreamFormat,
): { readonly stream: readonly string[]; readonly whole: string } {
  const fixture = WRITTEN.get(name);
  assert.ok(fixture !== undefined, name);
  return fixture.replies[DIALECTS[upstream]];
}

function filled(text: string): string {
  return text.replaceAll("{{model}}", "m").replaceAll(/\{\{[^}]*\}\}/g, "");
}

/** Status line and headers; the headers must include the body's framing. */
export function head(
  headers: Readonly<Record<string, string>>,
  status: string = "200 OK",
): string {
  const lines = Object.entries(headers).map(([name, value]) =>
    `${name}: ${value}\r\n`
  );
  return `HTTP/1.1 ${status}\r\n${lines.join("")}\r\n`;
}

/** The head of a stream in chunked encoding. */
export const STREAM_HEAD: string = head({
  "content-type": "text/event-stream",
  "transfer-encoding": "chunked",
});

/** The head of a JSON reply with the given content length. */
export function wholeHead(length: number, status: string = "200 OK"): string {
  return head({
    "content-type": "application/json",
    "content-length": String(length),
  }, status);
}

/** A whole reply with its correct content length. */
export function wholeAnswer(
  body: string,
  contentType: string = "application/json",
  status: string = "200 OK",
): string {
  return head({
    "content-type": contentType,
    "content-length": String(bytesOf(body).length),
  }, status) + body;
}

/** One chunk of a chunked body; an empty text makes the last chunk. */
export function chunk(text: string): string {
  return `${bytesOf(text).length.toString(16)}\r\n${text}\r\n`;
}

export const LAST_CHUNK: string = chunk("");

/** A whole stream in chunked encoding, one chunk per frame. */
export function streamAnswer(frames: readonly string[]): string {
  return STREAM_HEAD + frames.map(chunk).join("") + LAST_CHUNK;
}
