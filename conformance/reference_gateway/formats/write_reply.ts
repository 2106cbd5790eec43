/** Writes the reference gateway's replies: JSON, problems, and the text of frames. */
import type { Context, Hooks, JsonReply, OutFrame, Writer } from "../hooks.ts";
import type { Problem } from "../part.ts";
import { contentProblem, problemBody, responsesProblem } from "../problems.ts";

const encoder = new TextEncoder();

/** A frame as sent on the wire. */
export function wireOf({ event, data }: OutFrame): string {
  const name = event === undefined ? "" : `event: ${event}\n`;
  return `${name}data: ${
    typeof data === "string" ? data : JSON.stringify(data)
  }\n\n`;
}

/** A unique id of the reply, in both headers that clients read. */
export function requestIds(): Readonly<Record<string, string>> {
  const id = `req_${crypto.randomUUID().replaceAll("-", "")}`;
  return { "request-id": id, "x-request-id": id };
}

/** Headers of every event stream: neither caches nor proxies hold it back. */
export const UNBUFFERED: Readonly<Record<string, string>> = {
  "cache-control": "no-cache",
  "x-accel-buffering": "no",
};

export function writeProblem(
  writer: Writer,
  hooks: Hooks,
  x: Context,
  found: Problem,
): void {
  const isContent = x.endpoint === "generate_content";
  const written = x.endpoint === "responses" || isContent
    ? responsesProblem(found)
    : found;
  const problem = hooks.problem?.(written, x) ?? written;
  const { status } = problem;
  const headers: Record<string, string> = {
    "x-should-retry": `${status === 408 || status === 429 || status >= 500}`,
  };
  if (problem.retryAfter !== undefined) {
    headers["retry-after"] = problem.retryAfter;
  }
  if (problem.status === 405) {
    headers["allow"] = x.does === "list" ? "GET" : "POST";
  }
  if (problem.status === 426) {
    headers["connection"] = "upgrade";
    headers["upgrade"] = "websocket";
  }
  writeJson(writer, hooks, x, {
    status: problem.status,
    headers,
    body: isContent ? contentProblem(problem) : problemBody(problem),
  });
}

export function writeJson(
  writer: Writer,
  hooks: Hooks,
  x: Context,
  plain: JsonReply,
): void {
  const full: JsonReply = {
    ...plain,
    headers: {
      "content-type": "application/json",
      ...requestIds(),
      ...plain.headers,
    },
  };
  const reply = hooks.reply?.(full, x) ?? full;
  const body = encoder.encode(JSON.stringify(reply.body));
  writer.head(reply.status, {
    "content-length": String(body.length),
    ...reply.headers,
  });
  writer.piece(body);
  writer.end();
}
