/** Shared by the writers of all formats: a reply is a stream; a whole one has the same frames. */
import type { JsonObject } from "@model-gateway/replay/json";
import type {
  NeutralUsage,
  StopCause,
} from "@model-gateway/replay/neutral_reply";
import type { OutFrame } from "../hooks.ts";
import type { Part } from "../part.ts";

/** A part with content, or a failure. */
export type ContentPart = Exclude<Part, { readonly type: "usage" | "stop" }>;

export abstract class ReplyStream {
  protected usage: NeutralUsage = {
    input: 0,
    cacheRead: 0,
    cacheWrite: 0,
    output: 0,
    reasoning: 0,
  };
  protected cause: StopCause = "end";
  /** The stop string that hit. */
  protected sequence: string | null = null;

  /** The frames for a part. */
  part(part: Part): OutFrame[] {
    switch (part.type) {
      case "usage":
        this.usage = { ...this.usage, ...part.usage };
        return [];
      case "stop":
        if (this.cause === "end") this.cause = part.cause;
        this.sequence ??= part.sequence ?? null;
        return [];
      default:
        return this.content(part);
    }
  }

  protected abstract content(part: ContentPart): OutFrame[];

  abstract end(): OutFrame[];

  /** The whole reply that has all these frames. */
  abstract whole(frames: readonly JsonObject[]): JsonObject;
}

/** The whole reply with these parts. */
export function wholeReply(
  stream: ReplyStream,
  parts: readonly Part[],
): JsonObject {
  const frames = [
    ...parts.flatMap((part) => stream.part(part)),
    ...stream.end(),
  ];
  return stream.whole(
    frames.flatMap(({ data }) => typeof data === "string" ? [] : [data]),
  );
}

/**
 * The stop cause of a reply with or without calls, since some vendors report an ordinary stop after
 * a call.
 */
export function causeOf(cause: StopCause, called: boolean): StopCause {
  return cause === "end" && called ? "tool_use" : cause;
}
