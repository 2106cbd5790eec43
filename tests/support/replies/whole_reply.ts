/**
 * Checks whole replies to clients, and summarizes them in the form that `reply_grammar.ts` uses for
 * streams. For tests.
 */
import assert from "node:assert/strict";
import { fields, type ReadReply, text } from "./reply_grammar.ts";

export function readWholeMessage(body: unknown, model: string): ReadReply {
  const message = fields(body);
  assert.equal(message["type"], "message");
  assert.equal(message["role"], "assistant");
  assert.equal(message["model"], model);
  assert.match(text(message["id"]), /^msg_./);
  assert.ok(Array.isArray(message["content"]));
  const blocks = message["content"].map(fields);
  const parts = blocks.flatMap((block) => {
    switch (block["type"]) {
      case "text":
        return [`text:${text(block["text"])}`];
      case "thinking":
        return [
          `thinking:${text(block["thinking"])}`,
          ...(block["signature"] === ""
            ? []
            : [`signature:${text(block["signature"])}`]),
        ];
      case "redacted_thinking":
        return [`redacted:${text(block["data"])}`];
      default:
        assert.equal(block["type"], "tool_use");
        return [`tool:${block["name"]}:${JSON.stringify(block["input"])}`];
    }
  });
  return {
    parts,
    callIds: blocks.flatMap((block) =>
      block["type"] === "tool_use" ? [text(block["id"])] : []
    ),
    stop: message["stop_sequence"] === null
      ? message["stop_reason"]
      : `${message["stop_reason"]}:${message["stop_sequence"]}`,
    usage: fields(message["usage"]),
    id: text(message["id"]),
  };
}

/**
 * Checks and summarizes a whole reply in the chat format. Its fields have no order, so the parts
 * come in a fixed one.
 */
export function readWholeCompletion(body: unknown, model: string): ReadReply {
  const completion = fields(body);
  assert.equal(completion["object"], "chat.completion");
  assert.equal(completion["model"], model);
  assert.match(text(completion["id"]), /^chatcmpl-./);
  assert.ok(Array.isArray(completion["choices"]));
  assert.equal(completion["choices"].length, 1);
  const choice = fields(completion["choices"][0]);
  assert.equal(choice["index"], 0);
  const message = fields(choice["message"]);
  assert.equal(message["role"], "assistant");
  const parts: string[] = [];
  const prose: readonly (readonly [string, unknown])[] = [
    ["thinking", message["reasoning_content"] ?? ""],
    ["text", message["content"] ?? ""],
    ["refusal", message["refusal"] ?? ""],
  ];
  for (const [kind, content] of prose) {
    if (text(content) !== "") parts.push(`${kind}:${text(content)}`);
  }
  const calls = Array.isArray(message["tool_calls"])
    ? message["tool_calls"].map(fields)
    : [];
  for (const call of calls) {
    assert.equal(call["type"], "function");
    const { name, arguments: given } = fields(call["function"]);
    parts.push(`tool:${text(name)}:${text(given)}`);
  }
  return {
    parts,
    callIds: calls.map((call) => text(call["id"])),
    stop: choice["finish_reason"],
    usage: fields(completion["usage"]),
    id: text(completion["id"]),
  };
}
