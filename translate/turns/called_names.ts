import type { Turn } from "../model/request.ts";

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
