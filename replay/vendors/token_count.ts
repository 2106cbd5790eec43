/**
 * Counts a request's input tokens as this server defines them: UTF-8 bytes of its texts and tools,
 * divided by four.
 */
import { type ParsedRequest, textsIn, turnsOf } from "../parse_request.ts";
import { arrayOf, type Json, objectOf, stringOf } from "../json.ts";
import { toolsOf } from "./reply_constraints.ts";

const encoder = new TextEncoder();

export function countBytes(text: string): number {
  return encoder.encode(text).length;
}

/** Input tokens of a request; the same texts and tools count the same in each dialect. */
export function inputTokens(call: ParsedRequest): number {
  const body = objectOf(call.body);
  const system = body["systemInstruction"] ?? body["system_instruction"];
  const texts = [
    ...textsIn(body["system"]),
    ...textsIn(objectOf(system)["parts"]),
    ...textsIn(body["instructions"]),
    ...turnsOf(call.dialect, body).flatMap(turnTexts),
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
  const { content, parts, output, tool_calls } = objectOf(turn);
  return [
    ...textsIn(content ?? parts ?? output),
    ...callTexts(turn),
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
      (/^(tool_use|(function|custom_tool)_call)$/.test(
          stringOf(block["type"]) ?? "",
        )
        ? block
        : {}),
  );
  const args = called["arguments"] ?? called["args"] ?? called["input"];
  const name = stringOf(called["name"]);
  return name === undefined
    ? []
    : [name, stringOf(args) ?? JSON.stringify(args ?? {})];
}
