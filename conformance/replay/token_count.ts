/** How this server counts tokens of a request: UTF-8 bytes of what the caller wrote, divided by four. */
import { type Call, textsIn } from "./call.ts";
import { arrayOf, type Json, objectOf, stringOf } from "./json.ts";
import { toolsOf } from "./ask.ts";

const encoder = new TextEncoder();

/** UTF-8 bytes of a text. */
export function countBytes(text: string): number {
  return encoder.encode(text).length;
}

/** Input tokens of a request; the same texts and tools cost the same in each dialect. */
export function inputTokens(call: Call): number {
  const body = objectOf(call.body);
  const system = body["systemInstruction"] ?? body["system_instruction"];
  const texts = [
    ...textsIn(body["system"]),
    ...textsIn(objectOf(system)["parts"]),
    ...[...arrayOf(body["messages"]), ...arrayOf(body["contents"])].flatMap(
      turnTexts,
    ),
    ...toolsOf(call).flatMap((
      { name, about, schema },
    ) => [name, about, JSON.stringify(schema ?? {})]),
  ];
  return Math.max(
    1,
    Math.ceil(texts.reduce((sum, text) => sum + countBytes(text), 0) / 4),
  );
}

function turnTexts(turn: Json): string[] {
  const { content, parts, tool_calls } = objectOf(turn);
  return [
    ...textsIn(content ?? parts),
    ...[...arrayOf(content), ...arrayOf(parts), ...arrayOf(tool_calls)].flatMap(
      callTexts,
    ),
  ];
}

/** Name and arguments of a tool call in any dialect. */
function callTexts(part: Json): string[] {
  const block = objectOf(part);
  const called = objectOf(
    block["function"] ?? block["functionCall"] ??
      (block["type"] === "tool_use" ? block : {}),
  );
  const args = called["arguments"] ?? called["args"] ?? called["input"];
  const name = stringOf(called["name"]);
  return name === undefined
    ? []
    : [name, stringOf(args) ?? JSON.stringify(args ?? {})];
}
