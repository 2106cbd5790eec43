/** Mutants for the checks of the area `equivalence`. */
import type { Hooks } from "../../reference_gateway/hooks.ts";

/** The chat endpoint counts the prompt twice. */
export const chatInputDoubled: Hooks = {
  part: (part, { endpoint }) =>
    endpoint === "chat" && part.type === "usage" &&
      part.usage.input !== undefined
      ? [{ ...part, usage: { ...part.usage, input: part.usage.input * 2 } }]
      : [part],
};
