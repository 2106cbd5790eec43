/** Mutants for the checks of the area `message_stream`. */
import type { Hooks } from "../../reference_gateway/hooks.ts";

/** Changes the text of events on the wire. */
export function wire(change: (text: string) => string): Hooks {
  return {
    wire: (text, { endpoint }) => endpoint === "messages" ? change(text) : text,
  };
}
