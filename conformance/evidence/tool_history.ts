/**
 * The conversation in a request of any dialect as a list of steps: texts, calls and results, and
 * which call a result belongs to.
 */
import type { UpstreamCall } from "./exchange.ts";
import type { DialectName } from "@model-gateway/replay/parse_request";
import { type Json, parseJson } from "@model-gateway/replay/json";
import { at, inKeyOrder, listAt, textAt } from "./json_path.ts";

export type HistoryStep =
  | { readonly kind: "user" | "assistant"; readonly text: string }
  | { readonly kind: "call"; readonly name: string; readonly args: Json }
  | {
    readonly kind: "result";
    /** Number of the preceding call that is answered; -1 for none of them. */
    readonly of: number;
    readonly text: string;
    readonly failed: boolean;
  };

/** A step with the name that pairs calls and results. */
type UnpairedStep =
  | { readonly kind: "user" | "assistant"; readonly text: string }
  | {
    readonly kind: "call";
    readonly id: string;
    readonly name: string;
    readonly args: Json;
  }
  | {
    readonly kind: "result";
    readonly id: string;
    readonly name?: string;
    readonly text: string;
    readonly failed: boolean;
  };

/** The steps of a body; consecutive results are in the order of their calls. */
export function historySteps(
  dialect: DialectName,
  body: Json | undefined,
): HistoryStep[] {
  const loose = dialect === "messages"
    ? listAt(body, "messages").flatMap(messageSteps)
    : dialect === "chat_completions"
    ? listAt(body, "messages").flatMap(chatSteps)
    : dialect === "responses"
    ? (typeof at(body, "input") === "string"
      ? [{ kind: "user", text: textAt(body, "input") } as const]
      : listAt(body, "input").flatMap(responsesSteps))
    : listAt(body, "contents").flatMap(geminiSteps);
  return sorted(
    paired(
      loose.filter((step) =>
        !("text" in step) || step.kind === "result" || step.text !== ""
      ),
    ),
  );
}

function messageSteps(entry: Json): UnpairedStep[] {
  const kind = textAt(entry, "role") === "assistant" ? "assistant" : "user";
  const content = at(entry, "content");
  if (typeof content === "string") return [{ kind, text: content }];
  return listAt(entry, "content").map((block): UnpairedStep => {
    switch (at(block, "type")) {
      case "tool_use":
        return {
          kind: "call",
          id: textAt(block, "id"),
          name: textAt(block, "name"),
          args: at(block, "input") ?? null,
        };
      case "tool_result":
        return {
          kind: "result",
          id: textAt(block, "tool_use_id"),
          text: textIn(at(block, "content")),
          failed: at(block, "is_error") === true,
        };
    }
    return { kind, text: textAt(block, "text") };
  });
}

function chatSteps(entry: Json): UnpairedStep[] {
  const role = textAt(entry, "role");
  const text = textIn(at(entry, "content"));
  if (role === "system" || role === "developer") return [];
  if (role === "tool") {
    const id = textAt(entry, "tool_call_id");
    return [{ kind: "result", id, text, failed: false }];
  }
  return [
    { kind: role === "assistant" ? "assistant" : "user", text },
    ...listAt(entry, "tool_calls").map((call): UnpairedStep => ({
      kind: "call",
      id: textAt(call, "id"),
      name: textAt(call, "function.name"),
      args: parseJson(textAt(call, "function.arguments")) ?? null,
    })),
  ];
}

function responsesSteps(item: Json): UnpairedStep[] {
  const id = textAt(item, "call_id");
  const role = textAt(item, "role");
  switch (at(item, "type") ?? "message") {
    case "message":
      return ["user", "assistant"].includes(role)
        ? [{
          kind: role === "user" ? "user" : "assistant",
          text: textIn(at(item, "content")),
        }]
        : [];
    case "function_call":
    case "custom_tool_call": {
      const input = at(item, "input");
      const args = input === undefined
        ? parseJson(textAt(item, "arguments")) ?? null
        : { input };
      const group = textAt(item, "namespace");
      const name = group === ""
        ? textAt(item, "name")
        : `${group}.${textAt(item, "name")}`;
      return [{ kind: "call", id, name, args }];
    }
    case "function_call_output":
    case "custom_tool_call_output": {
      const text = textIn(at(item, "output"));
      return [{ kind: "result", id, text, failed: false }];
    }
  }
  return [];
}

function geminiSteps(entry: Json): UnpairedStep[] {
  const kind = textAt(entry, "role") === "model" ? "assistant" : "user";
  return listAt(entry, "parts").map((part): UnpairedStep => {
    const call = at(part, "functionCall") ?? at(part, "function_call");
    const answer = at(part, "functionResponse") ??
      at(part, "function_response");
    if (call !== undefined) {
      return {
        kind: "call",
        id: textAt(call, "id"),
        name: textAt(call, "name"),
        args: at(call, "args") ?? {},
      };
    }
    if (answer !== undefined) {
      return {
        kind: "result",
        id: textAt(answer, "id"),
        name: textAt(answer, "name"),
        text: stringsIn(at(answer, "response")).join("\n"),
        failed: false,
      };
    }
    return { kind, text: textAt(part, "text") };
  });
}

/** A result belongs to the call with its id; without ids, to the first open call with its name. */
function paired(loose: readonly UnpairedStep[]): HistoryStep[] {
  const calls: { id: string; name: string; open: boolean }[] = [];
  return loose.map((step): HistoryStep => {
    if (step.kind === "call") {
      calls.push({ id: step.id, name: step.name, open: true });
      return { kind: "call", name: step.name, args: step.args };
    }
    if (step.kind !== "result") return step;
    const of = calls.findIndex((call) =>
      call.open &&
      (step.id !== "" && call.id !== ""
        ? call.id === step.id
        : step.name !== undefined && call.name === step.name)
    );
    const call = calls[of];
    if (call !== undefined) call.open = false;
    return { kind: "result", of, text: step.text, failed: step.failed };
  });
}

function sorted(steps: readonly HistoryStep[]): HistoryStep[] {
  const all: HistoryStep[] = [];
  for (const step of steps) {
    const last = all.at(-1);
    const isText = step.kind === "user" || step.kind === "assistant";
    if (isText && last?.kind === step.kind && "text" in last) {
      all.splice(-1, 1, { kind: step.kind, text: `${last.text} ${step.text}` });
      continue;
    }
    let place = all.length;
    if (step.kind === "result") {
      for (let at = all.length - 1; at >= 0; at--) {
        const before = all[at];
        if (before?.kind !== "result" || before.of <= step.of) break;
        place = at;
      }
    }
    all.splice(place, 0, step);
  }
  return all;
}

function textIn(content: Json | undefined): string {
  if (typeof content === "string") return content;
  return listAt(content, "").map((part) => textAt(part, "text")).join("\n");
}

function stringsIn(value: Json | undefined): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(stringsIn);
  return typeof value === "object" && value !== null
    ? Object.values(value).flatMap(stringsIn)
    : [];
}

/** The steps as `user`, `call ARGUMENTS`, `result of N: TEXT`. */
export function stepsText({ dialect, json }: UpstreamCall): string {
  return historySteps(dialect, json).map((step) =>
    step.kind === "call"
      ? `call ${JSON.stringify(inKeyOrder(step.args))}`
      : step.kind === "result"
      ? `result of ${step.of}: ${step.text}`
      : step.kind
  ).join("; ");
}
