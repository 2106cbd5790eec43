/** Folds the parts of a reply into a whole one. */
import {
  type JsonObject,
  objectOf,
  parseJson,
} from "@model-gateway/replay/json";
import type {
  NeutralUsage,
  StopCause,
} from "@model-gateway/replay/neutral_reply";
import type { Part } from "../part.ts";

type Source = Part & { readonly type: "source" };

/** A finished block. */
export type Block =
  | {
    readonly type: "text";
    readonly text: string;
    /** True for the words of a refusal. */
    readonly refused: boolean;
    readonly sources: readonly Source[];
  }
  | {
    readonly type: "thinking";
    readonly text: string;
    readonly signature: string;
  }
  | { readonly type: "redacted"; readonly data: string }
  | {
    readonly type: "tool";
    readonly id: string;
    readonly name: string;
    readonly args: JsonObject;
  };

/** A whole reply. */
export interface Whole {
  /** Its blocks in order. */
  readonly blocks: readonly Block[];
  /** Its token counts. */
  readonly usage: NeutralUsage;
  /** Its stop cause. */
  readonly cause: StopCause;
  /** The stop string that hit. */
  readonly sequence: string | null;
}

/** No tokens. */
export const NO_USAGE: NeutralUsage = {
  input: 0,
  cacheRead: 0,
  cacheWrite: 0,
  output: 0,
  reasoning: 0,
};

/**
 * The stop cause of a reply with or without calls, since some vendors report an ordinary stop after
 * a call.
 */
export function causeOf(cause: StopCause, called: boolean): StopCause {
  return cause === "end" && called ? "tool_use" : cause;
}

/** Folds parts into a whole reply. */
export function fold(parts: readonly Part[]): Whole {
  const blocks: Block[] = [];
  const calls = new Map<number, { at: number; args: string }>();
  let usage = NO_USAGE;
  let cause: StopCause = "end";
  let sequence: string | null = null;
  for (const part of parts) {
    const last = blocks.at(-1);
    switch (part.type) {
      case "text":
        if (last?.type !== "text") {
          const { text, refused = false } = part;
          blocks.push({ type: "text", text, refused, sources: [] });
        } else {
          blocks.splice(-1, 1, { ...last, text: last.text + part.text });
        }
        break;
      case "source":
        if (last?.type === "text") {
          const sources = [...last.sources, part];
          blocks.splice(-1, 1, { ...last, sources });
        }
        break;
      case "thinking":
        if (last?.type !== "thinking" || last.signature !== "") {
          blocks.push({ ...part, signature: "" });
        } else blocks.splice(-1, 1, { ...last, text: last.text + part.text });
        break;
      case "signature":
        if (last?.type !== "thinking") {
          blocks.push({ type: "thinking", text: "", signature: part.value });
        } else blocks.splice(-1, 1, { ...last, signature: part.value });
        break;
      case "redacted":
        blocks.push(part);
        break;
      case "tool":
        calls.set(part.call, { at: blocks.length, args: "" });
        blocks.push({ type: "tool", id: part.id, name: part.name, args: {} });
        break;
      case "args": {
        const call = calls.get(part.call);
        if (call !== undefined) call.args += part.text;
        break;
      }
      case "usage":
        usage = { ...usage, ...part.usage };
        break;
      case "stop":
        if (cause === "end") cause = part.cause;
        sequence ??= part.sequence ?? null;
        break;
      case "failed":
        break;
    }
  }
  for (const { at, args } of calls.values()) {
    const block = blocks[at];
    if (block?.type !== "tool") continue;
    blocks[at] = { ...block, args: objectOf(parseJson(args || "{}")) };
  }
  return { blocks, usage, cause: causeOf(cause, calls.size > 0), sequence };
}
