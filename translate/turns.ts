/**
 * Rearranging turns for dialects that are stricter than the neutral request: system turns inside the conversation, neighbours
 * of one role, empty texts. Every function gives new turns; the caller's stay as they are.
 *
 * @module
 */
import type { Part, Turn } from "./request.ts";

/** System turns become user turns in their place, marked as what they are; hoisting them would change the meaning. */
export function systemTurnsAsUser(turns: readonly Turn[]): readonly Turn[] {
  return turns.map((turn) =>
    turn.role !== "system" ? turn : {
      role: "user",
      parts: turn.parts.map((part) =>
        part.type === "text"
          ? {
            type: "text",
            text: `<system-reminder>\n${part.text}\n</system-reminder>`,
          }
          : part
      ),
    }
  );
}

/** Neighbours of one role become one turn; within a user turn the tool results come first. */
export function mergeTurns(turns: readonly Turn[]): readonly Turn[] {
  const merged: { role: Turn["role"]; parts: Part[] }[] = [];
  for (const turn of turns) {
    const last = merged.at(-1);
    if (last !== undefined && last.role === turn.role) {
      for (const part of turn.parts) last.parts.push(part);
    } else merged.push({ role: turn.role, parts: [...turn.parts] });
  }
  return merged.map((turn) =>
    turn.role === "user" ? { ...turn, parts: resultsFirst(turn.parts) } : turn
  );
}

/** Empty texts go, and with them turns that have nothing left: some dialects answer both with a 400. */
export function withoutEmptyTexts(turns: readonly Turn[]): readonly Turn[] {
  return turns
    .map((turn) => ({
      ...turn,
      parts: turn.parts.filter((part) =>
        part.type !== "text" || part.text !== ""
      ),
    }))
    .filter((turn) => turn.parts.length > 0);
}

/** Tool results before everything else, each group in its order: the rest must not stand between a call and its results. */
export function resultsFirst(parts: readonly Part[]): readonly Part[] {
  return [
    ...parts.filter((part) => part.type === "tool_result"),
    ...parts.filter((part) => part.type !== "tool_result"),
  ];
}

/** Names of the tools that the conversation's calls use, each once, in order. */
export function calledNames(turns: readonly Turn[]): readonly string[] {
  const names = new Set<string>();
  for (const turn of turns) {
    for (const part of turn.parts) {
      if (part.type === "tool_call") names.add(part.name);
    }
  }
  return [...names];
}

const BILLING_LINE = /^x-anthropic-billing-header:[^\n]*\n?/;

/**
 * A system text without the line that Claude-style clients open it with: new on every request, of no use to other vendors'
 * models, it ruins prompt caches. Mostly it is a block of its own, of which nothing is left.
 */
export function withoutBillingLine(text: string): string {
  return text.replace(BILLING_LINE, "");
}
