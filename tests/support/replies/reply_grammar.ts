/**
 * Checks streams to clients frame by frame and byte by byte, and summarizes them. For tests; it
 * shares no code with the encoders that it checks.
 */
import assert from "node:assert/strict";
import { compact } from "../../../translate/bytes/compact.ts";

export type Fields = Record<string, unknown>;

/** Summary of a reply: one text for each block or change of kind, and how the reply ended. */
export interface ReadReply {
  /**
   * The content in order: `text:…`, `thinking:…`, `signature:…`, `redacted:…`, `refusal:…`,
   * `tool:NAME:ARGUMENTS`.
   */
  readonly parts: readonly string[];
  /** The stop reason, with `:` and the stop sequence if there is one; absent after an error. */
  readonly stop?: unknown;
  /** The last usage reported; absent if none was. */
  readonly usage?: Fields;
  /** The error object, if the stream ended with one. */
  readonly error?: Fields;
  readonly callIds: readonly string[];
  /** The reply's id; absent if an error came first. */
  readonly id?: string;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value, which must be an object. */
export function fields(value: unknown): Fields {
  assert.ok(isFields(value), `not an object: ${JSON.stringify(value)}`);
  return value;
}

/** The value, which must be a string. */
export function text(value: unknown): string {
  assert.ok(
    typeof value === "string",
    `not a string: ${JSON.stringify(value)}`,
  );
  return value;
}

function keys(value: Fields): string[] {
  return Object.keys(value).sort();
}

function framesOf(stream: string): readonly string[] {
  assert.ok(!stream.includes("\r"), "line ends are LF");
  assert.ok(!stream.includes("\ufffd"), "no character is broken");
  const frames = stream.split("\n\n");
  assert.equal(frames.pop(), "", "the stream ends with a blank line");
  return frames.filter((frame) => !frame.startsWith(":"));
}

/** Appends a piece to the last part if that has the same kind, else starts a new part. */
function more(parts: string[], kind: string, piece: string): void {
  const last = parts.at(-1);
  if (last?.startsWith(`${kind}:`) === true) parts[parts.length - 1] += piece;
  else parts.push(`${kind}:${piece}`);
}

export function readMessageStream(stream: string, model: string): ReadReply {
  const parts: string[] = [];
  const callIds: string[] = [];
  let state: "before" | "between" | "block" | "delta" | "over" = "before";
  let index = -1;
  let open = "";
  let call = "";
  let id: string | undefined;
  let usage: Fields | undefined;
  let stop: unknown;
  let error: Fields | undefined;
  for (const frame of framesOf(stream)) {
    const [first = "", second = "", ...rest] = frame.split("\n");
    assert.deepEqual(rest, [], `more than two lines in a frame: ${frame}`);
    const name = first.replace(/^event: /, "");
    const data = fields(JSON.parse(second.replace(/^data: /, "")));
    assert.equal(data["type"], name);
    assert.notEqual(state, "over", `nothing after the end: ${frame}`);
    switch (name) {
      case "ping":
        assert.notEqual(state, "before");
        break;
      case "message_start": {
        assert.equal(state, "before");
        const message = fields(data["message"]);
        assert.deepEqual(message["content"], []);
        assert.equal(message["role"], "assistant");
        assert.equal(message["type"], "message");
        assert.equal(message["model"], model);
        assert.equal(message["stop_reason"], null);
        assert.equal(message["stop_sequence"], null);
        assert.match(text(message["id"]), /^msg_./s);
        id = text(message["id"]);
        usage = fields(message["usage"]);
        assert.equal(typeof usage["input_tokens"], "number");
        assert.ok(Number(usage["output_tokens"]) <= 1);
        state = "between";
        break;
      }
      case "content_block_start": {
        assert.equal(state, "between");
        assert.equal(data["index"], ++index);
        const block = fields(data["content_block"]);
        open = text(block["type"]);
        call = "";
        if (open === "text") assert.equal(block["text"], "");
        else if (open === "thinking") {
          assert.equal(block["thinking"], "");
          assert.equal(block["signature"], "");
        } else if (open === "redacted_thinking") {
          parts.push(`redacted:${text(block["data"])}`);
        } else if (open === "server_tool_use") {
          assert.equal(block["name"], "code_execution");
          assert.deepEqual(block["input"], {});
        } else if (open === "code_execution_tool_result") {
          assert.notEqual(text(block["tool_use_id"]), "");
        } else {
          assert.equal(open, "tool_use");
          assert.deepEqual(block["input"], {});
          assert.notEqual(text(block["name"]), "");
          assert.notEqual(text(block["id"]), "");
          callIds.push(text(block["id"]));
          call = `tool:${text(block["name"])}:`;
        }
        if (open === "text" || open === "thinking") parts.push(`${open}:`);
        state = "block";
        break;
      }
      case "content_block_delta": {
        assert.equal(state, "block");
        assert.equal(data["index"], index);
        const delta = fields(data["delta"]);
        const allowed: Record<string, readonly string[]> = {
          text: ["text_delta", "citations_delta"],
          thinking: ["thinking_delta", "signature_delta"],
          tool_use: ["input_json_delta"],
          server_tool_use: ["input_json_delta"],
        };
        assert.ok(allowed[open]?.includes(text(delta["type"])), frame);
        if (delta["type"] === "input_json_delta") {
          call += text(delta["partial_json"]);
        } else if (delta["type"] === "citations_delta") {
          text(fields(delta["citation"])["url"]);
        } else if (delta["type"] === "signature_delta") {
          parts.push(`signature:${text(delta["signature"])}`);
        } else {
          const piece = text(delta["text"] ?? delta["thinking"]);
          assert.notEqual(piece, "", "a delta is not empty");
          more(parts, open, piece);
        }
        break;
      }
      case "content_block_stop":
        assert.equal(state, "block");
        assert.equal(data["index"], index);
        if (open === "tool_use") parts.push(call);
        state = "between";
        break;
      case "message_delta": {
        assert.equal(state, "between");
        const delta = fields(data["delta"]);
        assert.ok("stop_sequence" in delta);
        stop = delta["stop_sequence"] === null
          ? delta["stop_reason"]
          : `${delta["stop_reason"]}:${delta["stop_sequence"]}`;
        const reported = fields(data["usage"]);
        assert.equal(typeof reported["output_tokens"], "number");
        usage = { ...usage, ...reported };
        state = "delta";
        break;
      }
      case "message_stop":
        assert.equal(state, "delta");
        state = "over";
        break;
      case "error":
        error = fields(data["error"]);
        assert.match(text(error["type"]), /_error$|^request_too_large$/);
        assert.notEqual(text(error["message"]), "");
        state = "over";
        break;
      default:
        assert.fail(`unknown event: ${name}`);
    }
  }
  assert.equal(state, "over", "the stream has an end");
  return read({ parts, stop, usage, error, callIds, id });
}

export function readChatStream(
  stream: string,
  model: string,
  wantUsage: boolean,
): ReadReply {
  const parts: string[] = [];
  const calls: string[] = [];
  const callIds: string[] = [];
  let head: Fields | undefined;
  let stop: unknown;
  let usage: Fields | undefined;
  let error: Fields | undefined;
  let over = false;
  for (const frame of framesOf(stream)) {
    assert.ok(!over, `nothing after the end: ${frame}`);
    assert.match(frame, /^data: [^\n]*$/);
    const data = frame.slice("data: ".length);
    if (data === "[DONE]") {
      assert.notEqual(stop, undefined, "a finish reason before [DONE]");
      assert.equal(usage !== undefined, wantUsage, "usage where asked for");
      over = true;
      continue;
    }
    const chunk = fields(JSON.parse(data));
    if ("error" in chunk) {
      error = fields(chunk["error"]);
      assert.deepEqual(keys(error), ["code", "message", "param", "type"]);
      assert.notEqual(text(error["message"]), "");
      over = true;
      continue;
    }
    const { id, created, object } = chunk;
    const common = { id, created, object, model: chunk["model"] };
    head ??= common;
    assert.deepEqual(common, head, "the same head in every chunk");
    assert.match(text(id), /^chatcmpl-./s);
    assert.equal(object, "chat.completion.chunk");
    assert.equal(common.model, model);
    assert.ok(Number.isInteger(created) && Number(created) > 1e9);
    assert.ok(Array.isArray(chunk["choices"]));
    if (chunk["choices"].length === 0) {
      assert.notEqual(stop, undefined, "usage comes after the finish");
      assert.equal(usage, undefined, "usage comes once");
      usage = fields(chunk["usage"]);
      continue;
    }
    assert.equal("usage" in chunk, wantUsage);
    assert.equal(chunk["usage"] ?? null, null);
    assert.equal(chunk["choices"].length, 1);
    assert.equal(stop, undefined, "nothing after the finish");
    const choice = fields(chunk["choices"][0]);
    assert.equal(choice["index"], 0);
    assert.ok("finish_reason" in choice);
    const delta = fields(choice["delta"]);
    const first = parts.length === 0 && calls.length === 0 &&
      delta["role"] !== undefined;
    assert.equal("role" in delta, first, "the role first and once");
    if (choice["finish_reason"] !== null) {
      assert.deepEqual(delta, {});
      stop = choice["finish_reason"];
      continue;
    }
    if (first) {
      assert.deepEqual(delta, { role: "assistant", content: "" });
      parts.push("role");
      continue;
    }
    assert.ok(parts.length > 0, "the role comes first");
    const [field = ""] = keys(delta);
    assert.equal(keys(delta).length, 1, frame);
    if (field === "tool_calls") {
      assert.ok(Array.isArray(delta[field]) && delta[field].length === 1);
      const call = fields(delta[field][0]);
      const index = Number(call["index"]);
      const called = fields(call["function"]);
      if (index === calls.length) {
        assert.equal(call["type"], "function");
        assert.notEqual(text(call["id"]), "");
        assert.notEqual(text(called["name"]), "");
        assert.equal(called["arguments"], "");
        callIds.push(text(call["id"]));
        calls.push("");
        parts.push(`tool:${text(called["name"])}:`);
      } else {
        assert.equal(index, calls.length - 1, "calls come one after another");
        assert.ok(!("id" in call) && !("name" in called) && !("type" in call));
        calls[index] += text(called["arguments"]);
        parts[parts.length - 1] += text(called["arguments"]);
      }
    } else if (field === "reasoning_details") {
      parts.push(`signature:${JSON.stringify(delta[field])}`);
    } else if (field === "extra_content") {
      // All of `reasoning_details` once more, and the signature of the text.
      for (const key of Object.keys(fields(delta[field]))) {
        assert.ok(key === "gateway" || key === "google", key);
      }
    } else if (field === "annotations") {
      assert.ok(Array.isArray(delta[field]));
      for (const one of delta[field]) {
        assert.equal(fields(one)["type"], "url_citation");
      }
    } else {
      const kind = { content: "text", reasoning_content: "thinking" }[field] ??
        field;
      assert.notEqual(text(delta[field]), "", "a delta is not empty");
      more(parts, kind, text(delta[field]));
    }
  }
  assert.ok(over, "the stream has an end");
  return read({
    parts: parts.filter((part) => part !== "role"),
    stop,
    usage,
    error,
    callIds,
    id: head === undefined ? undefined : text(head["id"]),
  });
}

function read(found: {
  parts: readonly string[];
  stop: unknown;
  usage: Fields | undefined;
  error: Fields | undefined;
  callIds: readonly string[];
  id: string | undefined;
}): ReadReply {
  const { parts, stop, usage, error, callIds, id } = found;
  return {
    parts,
    callIds,
    ...compact({ stop, usage, error, id }),
  };
}
