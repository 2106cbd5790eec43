/** Tool calls in replies of both formats, whole and streamed, as a client reads them. */
import { isObject, type Json, parseJson } from "@model-gateway/replay/json";
import type { Exchange } from "./exchange.ts";
import { at, listAt, numberAt, textAt } from "./json_path.ts";

/** A tool call in a reply; absent parts are undefined or "". */
interface ReplyToolCall {
  readonly id: string;
  readonly name: string;
  /** The arguments as JSON; undefined when they are not JSON. */
  readonly args: Json | undefined;
}

/** The tool calls of a reply, in order. */
export function toolCallsIn(x: Exchange): readonly ReplyToolCall[] {
  if (x.endpoint === "chat") {
    return x.frames.length === 0 ? chatWhole(x.json) : chatStream(x);
  }
  return x.frames.length === 0 ? messageWhole(x.json) : messageStream(x);
}

/** The stop cause in the words of the reply's format; "" when it has none. */
export function stopCauseIn(x: Exchange): string {
  const path = x.endpoint === "chat"
    ? "choices.0.finish_reason"
    : x.frames.length === 0
    ? "stop_reason"
    : "delta.stop_reason";
  return [x.json, ...x.frames.map(({ json }) => json)]
    .map((json) => textAt(json, path)).find((cause) => cause !== "") ?? "";
}

function chatWhole(json: Json | undefined): ReplyToolCall[] {
  return listAt(json, "choices.0.message.tool_calls").map((call) => ({
    id: textAt(call, "id"),
    name: textAt(call, "function.name"),
    args: parseJson(textAt(call, "function.arguments")),
  }));
}

/**
 * Strings of one index are joined, as the format's own library does, so that a repeated name shows.
 */
function chatStream({ frames }: Exchange): ReplyToolCall[] {
  const calls = new Map<number, { id: string; name: string; args: string }>();
  for (const { json } of frames) {
    for (const delta of listAt(json, "choices.0.delta.tool_calls")) {
      const index = numberAt(delta, "index") ?? -1;
      const call = calls.get(index) ?? { id: "", name: "", args: "" };
      calls.set(index, {
        id: call.id + textAt(delta, "id"),
        name: call.name + textAt(delta, "function.name"),
        args: call.args + textAt(delta, "function.arguments"),
      });
    }
  }
  return [...calls.values()].map(({ id, name, args }) => ({
    id,
    name,
    args: parseJson(args),
  }));
}

function messageWhole(json: Json | undefined): ReplyToolCall[] {
  return listAt(json, "content")
    .filter((block) => at(block, "type") === "tool_use")
    .map((block) => ({
      id: textAt(block, "id"),
      name: textAt(block, "name"),
      args: at(block, "input"),
    }));
}

function messageStream({ frames }: Exchange): ReplyToolCall[] {
  const calls = new Map<Json, { id: string; name: string; args: string }>();
  for (const { json } of frames) {
    const index = at(json, "index") ?? null;
    const block = at(json, "content_block");
    if (at(block, "type") === "tool_use") {
      const started = at(block, "input");
      const whole = isObject(started) && Object.keys(started).length > 0;
      calls.set(index, {
        id: textAt(block, "id"),
        name: textAt(block, "name"),
        args: whole ? JSON.stringify(started) : "",
      });
    }
    const call = calls.get(index);
    if (call !== undefined) call.args += textAt(json, "delta.partial_json");
  }
  return [...calls.values()].map(({ id, name, args }) => ({
    id,
    name,
    args: parseJson(args === "" ? "{}" : args),
  }));
}
