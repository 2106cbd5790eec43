/**
 * The end of a reply that is translated. A reply whose last word means a failure fails, and one with
 * a call that cannot be run is incomplete, whatever word its upstream chose.
 */
import { parseJson } from "../bytes/json.ts";
import { ApiError } from "../model/error.ts";
import type { ReplyEvent, StopReason } from "../model/reply.ts";

/** Ends after which a client runs the calls. */
const COMPLETE: ReadonlySet<StopReason> = new Set([
  "end",
  "stop_sequence",
  "tool_use",
]);

/** Replaces the end of such a reply; all other events stay. */
export function settledEnd(): (
  events: readonly ReplyEvent[],
) => readonly ReplyEvent[] {
  /** The arguments of the open call. */
  let pieces: string[] | undefined;
  let isBroken = false;
  let stop: (ReplyEvent & { readonly type: "stop" }) | undefined;
  const observe = (event: ReplyEvent): void => {
    if (event.type === "open") pieces = event.kind === "tool" ? [] : undefined;
    else if (event.type === "delta") pieces?.push(event.text);
    else if (event.type === "close" && pieces !== undefined) {
      const text = pieces.join("");
      isBroken ||= text.trim() !== "" && parseJson(text) === undefined;
      pieces = undefined;
    } else if (event.type === "stop") stop = event;
  };
  return (events) => {
    events.forEach(observe);
    if (events.at(-1)?.type !== "end" || stop === undefined) return events;
    const { failure, reason, raw } = stop;
    if (failure !== undefined) {
      const error = new ApiError("upstream", failure);
      return [...events.slice(0, -1), { type: "error", error }];
    }
    return isBroken && COMPLETE.has(reason)
      ? [
        ...events.slice(0, -1),
        { type: "stop", reason: "max_tokens", raw },
        { type: "end" },
      ]
      : events;
  };
}
