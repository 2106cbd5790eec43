/**
 * Rearranges turns for dialects that are stricter than the neutral request: system turns inside the
 * conversation, neighbours of one role, empty texts. Every function returns new turns and leaves
 * its input unchanged.
 */
import type { DialectName, Part, Turn } from "../model/request.ts";

/**
 * Turns system turns into marked user turns in the same place; moving them to the system prompt
 * would change the meaning.
 */
export function systemTurnsAsUser(turns: readonly Turn[]): readonly Turn[] {
  return turns.map((turn) =>
    turn.role !== "system" ? turn : {
      role: "user",
      parts: turn.parts.map((part) =>
        part.type === "text" ? { ...part, text: asReminder(part.text) } : part
      ),
    }
  );
}

/** An instruction as a user's text. */
export function asReminder(text: string): string {
  return `<system-reminder>\n${text}\n</system-reminder>`;
}

/** Merges neighbours of one role; within a user turn the tool results come first. */
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

/**
 * Tool results before everything else, each group in its order: nothing may separate a call from
 * its results.
 */
function resultsFirst(parts: readonly Part[]): readonly Part[] {
  return [
    ...parts.filter((part) => part.type === "tool_result"),
    ...parts.filter((part) => part.type !== "tool_result"),
  ];
}

/**
 * The turns without reasoning that a dialect's upstreams signed, for an upstream that refuses the
 * signatures.
 */
export function withoutSignedReasoning(
  turns: readonly Turn[],
  from: DialectName,
): readonly Turn[] {
  return turns.map((turn) => ({
    ...turn,
    parts: turn.parts.filter((part) =>
      part.type !== "reasoning" || part.signature?.from !== from
    ),
  })).filter((turn) => turn.parts.length > 0);
}
