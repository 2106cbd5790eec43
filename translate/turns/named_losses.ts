/**
 * What a reply has and its client's format has no place for: it is left out and named.
 */
import type { BlockKind, ReplyEvent } from "../model/reply.ts";

/** What replies of a format have no place for. */
export type Lack = "code" | "streamed_text_signature";

/** Replaces such events by `lost` ones, with the word of the format that has them. */
export function namedLosses(
  lacks: readonly Lack[] | undefined,
  isStream: boolean,
): (events: readonly ReplyEvent[]) => readonly ReplyEvent[] {
  if (lacks === undefined) return (events) => events;
  const isSignatureLost = isStream && lacks.includes("streamed_text_signature");
  let open: BlockKind | undefined;
  return (events) =>
    events.map((event) => {
      if (event.type === "open") open = event.kind;
      if (event.type === "code" && lacks.includes("code")) {
        return { type: "lost", kind: "executableCode" };
      }
      return event.type === "sign" && open === "text" && isSignatureLost
        ? { type: "lost", kind: "thoughtSignature" }
        : event;
    });
}
