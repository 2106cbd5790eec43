/**
 * Stop strings that the upstream does not take: the gateway ends the reply's text before the first
 * one. The upstream is read to its end, because it reports and bills all that it generates.
 */
import type { ReplyEvent } from "../model/reply.ts";
import type { GenerationRequest } from "../model/request.ts";

/** Most characters of all stop strings, a bound of the work per delta. */
const MAX_CHARS = 1024;

/**
 * The stop strings to apply, where the upstream's request lacks some; undefined where it has them
 * all, and where they cannot be applied: they are too long together, or the client asked for the
 * tokens of the text, which come before it.
 *
 * @param dropped paths that the upstream's request lacks
 */
export function missingStops(
  { stop, logprobs, fieldNames }: GenerationRequest,
  dropped: readonly string[],
): readonly string[] | undefined {
  if (stop === undefined || !dropped.includes(fieldNames.stop)) return;
  const chars = stop.reduce((sum, { length }) => sum + length, 0);
  return logprobs !== undefined || chars > MAX_CHARS
    ? undefined
    : stop.filter((text) => text !== "");
}

/**
 * Ends text blocks at the first stop string. Of several, the one that is complete first counts, as
 * where a model is stopped; of those with one end, the longest.
 */
export function atStops(
  stops: readonly string[],
): (event: ReplyEvent) => readonly ReplyEvent[] {
  const longestFirst = stops.toSorted((a, b) => b.length - a.length);
  /** The end of the open text that may begin a stop string; undefined outside of texts. */
  let held: string | undefined;
  let found: string | undefined;

  const text = (given: string): readonly ReplyEvent[] => {
    const all = `${held}${given}`;
    const at = firstStop(all, longestFirst);
    if (at !== undefined) {
      found = at.stop;
      return [...delta(all.slice(0, at.start)), { type: "close" }];
    }
    held = all.slice(all.length - heldLength(all, longestFirst));
    return delta(all.slice(0, all.length - held.length));
  };
  const release = (): readonly ReplyEvent[] => {
    const rest = held ?? "";
    if (held !== undefined) held = "";
    return delta(rest);
  };
  const before = (event: ReplyEvent): readonly ReplyEvent[] => {
    switch (event.type) {
      case "delta":
        return held === undefined ? [event] : text(event.text);
      case "open": {
        const rest = release();
        held = event.kind === "text" ? "" : undefined;
        return [...rest, event];
      }
      case "cite":
      case "close":
      case "sign":
      case "code":
      case "search":
      case "end":
      case "error":
        return [...release(), event];
      case "start":
      case "probabilities":
      case "lost":
      case "usage":
      case "stop":
        return [event];
    }
  };
  const after = (event: ReplyEvent): readonly ReplyEvent[] => {
    switch (event.type) {
      case "end":
        return [{
          type: "stop",
          reason: "stop_sequence",
          raw: "stop_sequence",
          ...(found === undefined ? {} : { sequence: found }),
        }, event];
      case "start":
      case "usage":
      case "error":
        return [event];
      case "open":
      case "delta":
      case "sign":
      case "cite":
      case "probabilities":
      case "close":
      case "code":
      case "search":
      case "lost":
      case "stop":
        return [];
    }
  };
  return (event) => found === undefined ? before(event) : after(event);
}

function delta(text: string): readonly ReplyEvent[] {
  return text === "" ? [] : [{ type: "delta", text }];
}

function firstStop(
  text: string,
  stops: readonly string[],
): { readonly start: number; readonly stop: string } | undefined {
  let first: { readonly start: number; readonly stop: string } | undefined;
  for (const stop of stops) {
    const start = text.indexOf(stop);
    if (start < 0) continue;
    const end = start + stop.length;
    if (first === undefined || end < first.start + first.stop.length) {
      first = { start, stop };
    }
  }
  return first;
}

/** Characters at the end of a text that begin a stop string. */
function heldLength(text: string, stops: readonly string[]): number {
  let most = 0;
  for (const stop of stops) {
    for (
      let length = Math.min(stop.length - 1, text.length);
      length > most;
      length--
    ) {
      if (text.endsWith(stop.slice(0, length))) {
        most = length;
        break;
      }
    }
  }
  return most;
}
