/**
 * The neutral reply: nine events. They serve streams, whole replies and metering alike, because a whole reply is a short stream.
 * At most one block is open; `stop` and `usage` may come early; `end` comes only from a true end of the upstream's answer.
 *
 * @module
 */
import type { ApiError } from "./error.ts";
import type { Signature } from "./request.ts";

/** Why the model stopped. */
export type StopReason =
  | "end"
  | "max_tokens"
  | "stop_sequence"
  | "tool_use"
  | "refusal"
  | "pause"
  | "context_window"
  | "other";

/** Tokens of one reply. Whole numbers; absent means "not told". */
export interface Usage {
  /** Prompt tokens at the full rate: cache reads and writes excluded. */
  readonly input?: number;
  /** Prompt tokens read from a cache; not part of `input`. */
  readonly cacheRead?: number;
  /** Prompt tokens written to a cache; not part of `input`. */
  readonly cacheWrite?: number;
  /** Everything generated, reasoning included. */
  readonly output?: number;
  /** The part of output spent on reasoning. */
  readonly reasoning?: number;
}

/** What a block holds. */
export type BlockKind = "text" | "reasoning" | "refusal" | "tool";

/** One step of a reply. */
export type ReplyEvent =
  | {
    readonly type: "start";
    readonly id?: string;
    readonly model?: string;
    readonly usage?: Usage;
  }
  | { readonly type: "open"; readonly kind: "text" | "reasoning" | "refusal" }
  | {
    readonly type: "open";
    readonly kind: "tool";
    readonly id?: string;
    readonly name: string;
  }
  /** More of the open block. For a tool it is a fragment of JSON text. */
  | { readonly type: "delta"; readonly text: string }
  /** The open block's signature, whole. */
  | { readonly type: "sign"; readonly signature: Signature }
  | { readonly type: "close" }
  /** Cumulative: what it tells replaces what was told before; what it does not tell stands. */
  | { readonly type: "usage"; readonly usage: Usage }
  /** `raw` is the upstream's own word; `sequence` the stop string that hit, where told. */
  | {
    readonly type: "stop";
    readonly reason: StopReason;
    readonly raw: string;
    readonly sequence?: string;
  }
  | { readonly type: "end" }
  /** The last event of a reply that failed. No `end` follows. */
  | { readonly type: "error"; readonly error: ApiError };

/** A finished block. A tool's `text` is its arguments as JSON text, possibly empty. */
export type Block =
  | {
    readonly kind: "text" | "reasoning" | "refusal";
    readonly text: string;
    readonly signature?: Signature;
  }
  | {
    readonly kind: "tool";
    readonly id?: string;
    readonly name: string;
    readonly text: string;
    readonly signature?: Signature;
  };

/** A whole reply: what its events add up to. */
export interface Reply {
  /** The upstream's; encoders make one up where it is absent. */
  readonly id?: string;
  /** The upstream's word; callers are told the id that they asked for. */
  readonly model?: string;
  /** In the order in which they were opened. */
  readonly blocks: readonly Block[];
  /** Empty where nothing was told. */
  readonly usage: Usage;
  /** The last one told, as the `stop` event has it; absent where none was. */
  readonly stop?: {
    readonly reason: StopReason;
    readonly raw: string;
    readonly sequence?: string;
  };
}

/** Newer figures over older ones: only what is told replaces. */
export function mergeUsage(older: Usage, newer: Usage): Usage {
  return { ...older, ...newer };
}

/**
 * Adds the events of a reply up.
 *
 * @throws {ApiError} the error event's own, where there is one
 */
export function foldReply(events: Iterable<ReplyEvent>): Reply {
  let id: string | undefined;
  let model: string | undefined;
  let usage: Usage = {};
  let stop: Reply["stop"];
  const blocks: Block[] = [];
  let open: {
    head: ReplyEvent & { type: "open" };
    text: string[];
    signature?: Signature;
  } | undefined;
  const close = (): void => {
    if (open === undefined) return;
    const body = {
      text: open.text.join(""),
      ...(open.signature === undefined ? {} : { signature: open.signature }),
    };
    const head = open.head;
    blocks.push(
      head.kind === "tool"
        ? {
          kind: "tool",
          ...(head.id === undefined ? {} : { id: head.id }),
          name: head.name,
          ...body,
        }
        : { kind: head.kind, ...body },
    );
    open = undefined;
  };
  for (const event of events) {
    switch (event.type) {
      case "start":
        id = event.id ?? id;
        model = event.model ?? model;
        usage = mergeUsage(usage, event.usage ?? {});
        break;
      case "open":
        close();
        open = { head: event, text: [] };
        break;
      case "delta":
        open?.text.push(event.text);
        break;
      case "sign":
        if (open !== undefined) open.signature = event.signature;
        break;
      case "close":
        close();
        break;
      case "usage":
        usage = mergeUsage(usage, event.usage);
        break;
      case "stop": {
        const { type: _, ...rest } = event;
        stop = rest;
        break;
      }
      case "end":
        break;
      case "error":
        throw event.error;
    }
  }
  close();
  return {
    ...(id === undefined ? {} : { id }),
    ...(model === undefined ? {} : { model }),
    blocks,
    usage,
    ...(stop === undefined ? {} : { stop }),
  };
}

/**
 * The stop reason to tell, where the blocks know better than the upstream's word: calls with a plain end are `tool_use` (some
 * upstreams say `stop`), and `tool_use` without a call is a plain end (a phantom call makes agents wait for ever).
 */
export function settleStop(reason: StopReason, sawTool: boolean): StopReason {
  if (reason === "end" && sawTool) return "tool_use";
  if (reason === "tool_use" && !sawTool) return "end";
  return reason;
}
