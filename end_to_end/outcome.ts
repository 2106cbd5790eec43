/**
 * For tests of hostile upstreams: reads whatever a caller got and holds it to the caller's format. A reply is whole, or it broke
 * off and says so, or it was refused; anything between fails the test.
 *
 * @module
 */
import assert from "node:assert/strict";
import { errorReply } from "../routes/reply_schemas.ts";
import { isObject } from "../translate/json.ts";
import { fields, readChat, readMessages, text } from "./reply_grammar.ts";
import {
  type CallerFormat,
  MODELS,
  type UpstreamFormat,
} from "./reply_script.ts";
import { readCompletion, readMessage } from "./whole_reply.ts";

/** One answer. */
export interface Outcome {
  /** A whole reply; a stream that ended in an error; an error instead of a reply. */
  readonly kind: "complete" | "broken" | "refused";
  /** The status. */
  readonly status: number;
  /** The words of the answer, as far as they came. */
  readonly said: string;
  /** The error's message; empty for a whole reply. */
  readonly message: string;
  /** Everything as it came. */
  readonly body: string;
}

/** What an answer must be held to. */
export interface Asked {
  /** What the caller speaks. */
  readonly caller: CallerFormat;
  /** What the upstream speaks; bytes of the caller's own dialect pass and are read leniently. */
  readonly upstream: UpstreamFormat;
  /** Whether a stream was asked for. A caller of the chat format is taken to have asked for usage. */
  readonly stream: boolean;
}

/** Reads an answer. */
export async function outcomeOf(
  response: Response,
  asked: Asked,
): Promise<Outcome> {
  const body = await response.text();
  const { status } = response;
  const type = response.headers.get("content-type") ?? "";
  const id = response.headers.get("request-id");
  assert.match(id ?? "", /^req_/);
  assert.equal(response.headers.get("x-request-id"), id);
  if (status !== 200) {
    assert.ok(status >= 400 && status < 600, `status ${status}`);
    assert.equal(type, "application/json");
    const { error, request_id } = errorReply.parse(JSON.parse(body));
    assert.equal(request_id, id);
    assert.notEqual(error.message, "");
    return { kind: "refused", status, said: "", message: error.message, body };
  }
  if (!asked.stream) {
    assert.equal(type, "application/json");
    return {
      kind: "complete",
      status,
      said: saidWhole(body, asked),
      message: "",
      body,
    };
  }
  assert.match(type, /^text\/event-stream/);
  const { said, message } = asked.caller === asked.upstream
    ? passedStream(body, asked.caller)
    : translatedStream(body, asked);
  return {
    kind: message === "" ? "complete" : "broken",
    status,
    said,
    message,
    body,
  };
}

function saidWhole(body: string, { caller, upstream }: Asked): string {
  const json = fields(JSON.parse(body));
  if (caller === upstream) {
    assert.equal(json["model"], MODELS[upstream]);
    if (caller === "messages") {
      assert.ok(Array.isArray(json["content"]), "a message has content");
      return json["content"].map((block) => block?.text ?? "").join("");
    }
    assert.ok(Array.isArray(json["choices"]), "a completion has choices");
    return json["choices"].map((one) => one?.message?.content ?? "").join("");
  }
  const read = caller === "messages"
    ? readMessage(json, MODELS[upstream])
    : readCompletion(json, MODELS[upstream]);
  return proseOf(read.parts);
}

function proseOf(parts: readonly string[]): string {
  return parts.filter((part) => part.startsWith("text:")).map((part) =>
    part.slice("text:".length)
  ).join("");
}

function translatedStream(
  body: string,
  { caller, upstream }: Asked,
): { readonly said: string; readonly message: string } {
  const read = caller === "messages"
    ? readMessages(body, MODELS[upstream])
    : readChat(body, MODELS[upstream], true);
  assert.equal(read.error === undefined, read.stop !== undefined);
  return {
    said: proseOf(read.parts),
    message: read.error === undefined ? "" : text(read.error["message"]),
  };
}

/** Frames as a client's library cuts them; each is JSON, and exactly one end comes, at the end. */
function passedStream(
  body: string,
  caller: CallerFormat,
): { readonly said: string; readonly message: string } {
  assert.match(body, /\n\r?\n$|\r\r$/, "the stream ends with a blank line");
  let said = "";
  let end: string | undefined;
  let message = "";
  for (const frame of body.split(/\r\n\r\n|\n\n|\r\r/)) {
    const data = frame.split(/\r\n|\n|\r/).filter((line) =>
      line.startsWith("data:")
    ).map((line) => line.slice("data:".length).trimStart()).join("\n");
    if (data === "") continue;
    assert.equal(end, undefined, `nothing after the end: ${frame}`);
    if (data === "[DONE]" && caller === "chat") {
      end = "done";
      continue;
    }
    const json: unknown = JSON.parse(data);
    // What no reader knows passes, too.
    if (!isObject(json)) continue;
    const told = fields(json);
    const delta = caller === "messages"
      ? told["delta"]
      : Array.isArray(told["choices"])
      ? told["choices"][0]?.delta
      : undefined;
    said += delta?.text ?? delta?.content ?? "";
    if (told["type"] === "message_stop" && caller === "messages") end = "done";
    if (told["error"] !== undefined && told["error"] !== null) {
      end = "error";
      message = text(fields(told["error"])["message"]);
      assert.notEqual(message, "");
    }
  }
  assert.notEqual(end, undefined, "the stream has an end");
  return { said, message };
}
