/**
 * Puts the probabilities of tokens into the events of a frame.
 */
import type { ReplyEvent } from "./reply.ts";
import type { TokenProbability } from "./token_probability.ts";

/** A frame's events with the probabilities of its tokens, which come before its text. */
export function withProbabilities(
  events: ReplyEvent[],
  tokens: readonly TokenProbability[],
): ReplyEvent[] {
  if (tokens.length === 0) return events;
  const text = events.findIndex(({ type }) => type === "delta");
  events.splice(text < 0 ? events.length : text, 0, {
    type: "probabilities",
    tokens,
  });
  return events;
}
