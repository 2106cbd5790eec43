/**
 * Checks the gateway's response in tests of hostile upstreams against the client's format. A reply
 * must be complete, or be cut off with an error in the stream, or be refused with an error status;
 * anything else fails the test.
 */
import assert from "node:assert/strict";
import { errorReply } from "../../../routes/reply_schemas.ts";
import { isObject } from "../../../translate/bytes/json.ts";
import {
  fields,
  readChatStream,
  readMessageStream,
  type ReadReply,
  text,
} from "./reply_grammar.ts";
import {
  type CallerFormat,
  MODELS,
  type UpstreamFormat,
} from "../tables/reply_script.ts";
import { readWholeCompletion, readWholeMessage } from "./whole_reply.ts";

export interface CheckedReply {
  /**
   * `complete`: a whole reply; `broken`: a stream that ended with an error; `refused`: an error
   * status.
   */
  readonly kind: "complete" | "broken" | "refused";
  readonly status: number;
  /** The reply's text, as far as it was received. */
  readonly text: string;
  /** As {@linkcode ReadReply} has them; of bytes that pass, the text alone. */
  readonly parts: readonly string[];
  /** As {@linkcode ReadReply} has it; absent for bytes that pass. */
  readonly stop?: unknown;
  /** The error's message; empty for a complete reply. */
  readonly message: string;
  readonly body: string;
}

/** One combination of client format, upstream format and streaming. */
export interface CallVariant {
  readonly caller: CallerFormat;
  /**
   * The upstream's format; if it is the client's own, bytes pass through and are checked leniently.
   */
  readonly upstream: UpstreamFormat;
  /** Whether the client requests a stream; in the chat format it then also requests usage. */
  readonly stream: boolean;
}

/** Keeps a byte order mark, as clients do that decode no stream. */
const VERBATIM = new TextDecoder("utf-8", { ignoreBOM: true });

export async function checkReply(
  response: Response,
  asked: CallVariant,
): Promise<CheckedReply> {
  const body = VERBATIM.decode(await response.bytes());
  assert.ok(!body.startsWith("\ufeff"), "JSON and frames have no mark");
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
    const { message } = error;
    return { kind: "refused", status, text: "", parts: [], message, body };
  }
  if (!asked.stream) {
    assert.equal(type, "application/json");
    const read = readWhole(body, asked);
    return { kind: "complete", status, ...read, message: "", body };
  }
  assert.match(type, /^text\/event-stream/);
  const read = asked.caller === asked.upstream
    ? passedStream(body, asked.caller)
    : translatedStream(body, asked);
  const kind = read.message === "" ? "complete" : "broken";
  return { kind, status, ...read, body };
}

type Content = Pick<CheckedReply, "text" | "parts" | "stop">;

function passedContent(text: string): Content {
  return { text, parts: [text] };
}

function translatedContent({ parts, stop }: ReadReply): Content {
  const prose = parts.filter((part) => part.startsWith("text:")).map((part) =>
    part.slice("text:".length)
  );
  return { text: prose.join(""), parts, stop };
}

function readWhole(body: string, { caller, upstream }: CallVariant): Content {
  const json = fields(JSON.parse(body));
  if (caller === upstream) {
    assert.equal(json["model"], MODELS[upstream]);
    if (caller === "messages") {
      assert.ok(Array.isArray(json["content"]), "a message has content");
      const texts = json["content"].map((block) => block?.text ?? "");
      return passedContent(texts.join(""));
    }
    assert.ok(Array.isArray(json["choices"]), "a completion has choices");
    const texts = json["choices"].map((one) => one?.message?.content ?? "");
    return passedContent(texts.join(""));
  }
  const read = caller === "messages"
    ? readWholeMessage(json, MODELS[upstream])
    : readWholeCompletion(json, MODELS[upstream]);
  return translatedContent(read);
}

function translatedStream(
  body: string,
  { caller, upstream }: CallVariant,
): Content & Pick<CheckedReply, "message"> {
  const read = caller === "messages"
    ? readMessageStream(body, MODELS[upstream])
    : readChatStream(body, MODELS[upstream], true);
  assert.equal(read.error === undefined, read.stop !== undefined);
  return {
    ...translatedContent(read),
    message: read.error === undefined ? "" : text(read.error["message"]),
  };
}

/**
 * Splits frames as client libraries do. Each frame must be JSON, and exactly one end must come,
 * last.
 */
function passedStream(
  body: string,
  caller: CallerFormat,
): Content & Pick<CheckedReply, "message"> {
  assert.match(body, /\n\r?\n$|\r\r$/, "the stream ends with a blank line");
  let prose = "";
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
    // Frames of unknown kinds pass through unchanged.
    if (!isObject(json)) continue;
    const event = fields(json);
    const delta = caller === "messages"
      ? event["delta"]
      : Array.isArray(event["choices"])
      ? event["choices"][0]?.delta
      : undefined;
    prose += delta?.text ?? delta?.content ?? "";
    if (event["type"] === "message_stop" && caller === "messages") end = "done";
    if (event["error"] !== undefined && event["error"] !== null) {
      end = "error";
      message = text(fields(event["error"])["message"]);
      assert.notEqual(message, "");
    }
  }
  assert.notEqual(end, undefined, "the stream has an end");
  return { ...passedContent(prose), message };
}
