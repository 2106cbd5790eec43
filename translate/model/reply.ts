/**
 * The neutral reply: ten events. Streams, whole replies and metering all use them, because a whole
 * reply is a short stream. At most one block is open; `stop` and `usage` may come early; `end`
 * comes only after the upstream's answer is complete.
 */
import type { Citation } from "./citation.ts";
import type { ApiError } from "./error.ts";
import type { Signature } from "./request.ts";
import type { TokenProbability } from "./token_probability.ts";

/**
 * Why the model stopped. `other`: for a reason without a neutral word. Clients receive such a reply
 * as an incomplete one, because nothing shows that it is complete.
 */
export type StopReason =
  | "end"
  | "max_tokens"
  | "stop_sequence"
  | "tool_use"
  | "refusal"
  | "pause"
  | "context_window"
  | "other";

/**
 * What one reply used, by what vendors bill. Whole numbers; absent means "not reported". The parts
 * (`cacheWrite5m` to `unknownOutput`) are contained in the totals above them.
 */
export interface Usage {
  /** Prompt tokens at the full rate, without cache reads and writes. */
  readonly input?: number;
  /** Prompt tokens read from a cache; not part of `input`. */
  readonly cacheRead?: number;
  /** Prompt tokens written to a cache, for whatever life; not part of `input`. */
  readonly cacheWrite?: number;
  /** All generated tokens, reasoning included. */
  readonly output?: number;
  /** The part of output spent on reasoning. */
  readonly reasoning?: number;
  /** The part of `cacheWrite` that is kept for five minutes. */
  readonly cacheWrite5m?: number;
  /** The part of `cacheWrite` that is kept for thirty minutes. */
  readonly cacheWrite30m?: number;
  /** The part of `cacheWrite` that is kept for an hour. */
  readonly cacheWrite1h?: number;
  /** The part of `cacheWrite` that is kept for twelve hours. */
  readonly cacheWrite12h?: number;
  /** The part of the prompt that is sound. */
  readonly audioInput?: number;
  /** The part of the prompt that is images. */
  readonly imageInput?: number;
  /** The part of output that is sound. */
  readonly audioOutput?: number;
  /** The part of output that is images. */
  readonly imageOutput?: number;
  /** Prompt tokens of kinds that the format's decoder does not know. */
  readonly unknownInput?: number;
  /** Generated tokens of kinds that the format's decoder does not know. */
  readonly unknownOutput?: number;
  /** Uses of the vendor's own tools, by name: `web_search`. */
  readonly uses?: Readonly<Record<string, number>>;
  /** Further counts by meter, of a call through a configured route; absent for other calls. */
  readonly units?: Readonly<Record<string, number>>;
  /** Whether `units` were estimated, because the reply reports none. */
  readonly areUnitsEstimated?: true;
  /** The service tier that served the reply, in the vendor's word: `priority`. */
  readonly tier?: string;
  /** The speed at which it was served: `fast`. */
  readonly speed?: string;
  /** Where it was computed: `us`. */
  readonly region?: string;
  /** The parts of the totals that other models served. */
  readonly served?: readonly ServedUsage[];
}

/** What another model used for a reply. */
export interface ServedUsage extends Omit<Usage, "served"> {
  /** The vendor's own id of the model. */
  readonly model: string;
}

/** Code that the upstream ran. */
export interface RanCode {
  readonly code: string;
  /** In lower case: `python`; absent where the upstream does not report it. */
  readonly language?: string;
  /** What it wrote; absent where the upstream does not report it. */
  readonly output?: string;
  /** Absent: it did not fail. */
  readonly failed?: true;
}

/** What a block holds. */
export type BlockKind = "text" | "reasoning" | "refusal" | "tool";

/** A search of the web that the upstream made. */
export interface WebSearched {
  readonly queries: readonly string[];
  /** Empty where the upstream does not list them. */
  readonly sources: readonly Pick<Citation, "url" | "title">[];
}

/** One step of a reply. */
export type ReplyEvent =
  | {
    readonly type: "start";
    readonly id?: string;
    readonly model?: string;
    readonly usage?: Usage;
  }
  | {
    readonly type: "open";
    readonly kind: "text" | "reasoning" | "refusal";
    /** The upstream's word for what a message is: a commentary, the final answer. */
    readonly phase?: string;
    /** True for the arguments of the tool that binds the reply to a schema. */
    readonly isAnswer?: true;
  }
  | {
    readonly type: "open";
    readonly kind: "tool";
    readonly id?: string;
    readonly name: string;
  }
  /** More text of the open block; for a tool, a fragment of JSON text. */
  | { readonly type: "delta"; readonly text: string }
  /** The whole signature of the open block. */
  | { readonly type: "sign"; readonly signature: Signature }
  /** A source of the open text block, after all of its text. */
  | { readonly type: "cite"; readonly citation: Citation }
  /** How likely the next text tokens are, in order; before their text, where that is known. */
  | {
    readonly type: "probabilities";
    readonly tokens: readonly TokenProbability[];
  }
  | { readonly type: "close" }
  /** The upstream searched the web, and found these sources; between blocks. */
  | ({ readonly type: "search" } & WebSearched)
  /** Code that ran, with its output; between blocks. */
  | { readonly type: "code" } & RanCode
  /** A part of the reply that has no neutral counterpart, by the upstream's word for its kind. */
  | { readonly type: "lost"; readonly kind: string }
  /** Cumulative: a figure replaces the one before; an absent figure leaves it unchanged. */
  | { readonly type: "usage"; readonly usage: Usage }
  /**
   * `raw` is the upstream's own stop reason; `sequence` the matched stop string, where reported;
   * `failure` what went wrong, where the word means a failure or no table knows it.
   */
  | {
    readonly type: "stop";
    readonly reason: StopReason;
    readonly raw: string;
    readonly failure?: string;
    readonly sequence?: string;
  }
  | { readonly type: "end" }
  /** The last event of a failed reply. No `end` follows. */
  | { readonly type: "error"; readonly error: ApiError };

/** A finished block. A tool's `text` is its arguments as JSON text, possibly empty. */
export type Block =
  | {
    readonly kind: "text" | "reasoning" | "refusal";
    readonly text: string;
    readonly signature?: Signature;
    /** Absent where the upstream gives no sources. */
    readonly citations?: readonly Citation[];
  }
  | {
    readonly kind: "tool";
    readonly id?: string;
    readonly name: string;
    readonly text: string;
    readonly signature?: Signature;
  };

/** What the upstream ran itself, between the blocks of a reply. */
export type ServerBlock =
  | ({ readonly kind: "code" } & RanCode)
  | ({ readonly kind: "search" } & WebSearched);

/** A whole reply, added up from its events. */
export interface Reply {
  /** The upstream's id; encoders generate one where it is absent. */
  readonly id?: string;
  /** The model that the upstream reports; clients receive the id that they asked for. */
  readonly model?: string;
  /** In the order in which they were opened. */
  readonly blocks: readonly Block[];
  /** The blocks and what the upstream ran, in order; absent where it ran nothing. */
  readonly content?: readonly (Block | ServerBlock)[];
  /** Absent where the upstream gives none. */
  readonly probabilities?: readonly TokenProbability[];
  /** Empty where none was reported. */
  readonly usage: Usage;
  /** The last `stop` event; absent where there was none. */
  readonly stop?: {
    readonly reason: StopReason;
    readonly raw: string;
    readonly sequence?: string;
  };
}

/**
 * Updates usage: figures in `newer` replace older ones, absent ones do not. Nothing but zeros after
 * tokens that were reported is a proxy's placeholder.
 */
export function mergeUsage(older: Usage, newer: Usage): Usage {
  const isPlaceholder = newer.input === 0 && newer.output === 0 &&
    tokensOf(newer) === 0 && tokensOf(older) > 0;
  return isPlaceholder ? { ...newer, ...older } : { ...older, ...newer };
}

function tokensOf(
  { input = 0, cacheRead = 0, cacheWrite = 0, output = 0 }: Usage,
): number {
  return input + cacheRead + cacheWrite + output;
}

/**
 * Adds up the events of a reply.
 *
 * @throws {ApiError} the error of an `error` event
 */
export function foldReply(events: Iterable<ReplyEvent>): Reply {
  let id: string | undefined;
  let model: string | undefined;
  let usage: Usage = {};
  let stop: Reply["stop"];
  const content: (Block | ServerBlock)[] = [];
  const probabilities: TokenProbability[] = [];
  let open: {
    head: ReplyEvent & { type: "open" };
    text: string[];
    signature?: Signature;
    citations?: Citation[];
  } | undefined;
  const close = (): void => {
    if (open === undefined) return;
    const body = {
      text: open.text.join(""),
      ...(open.signature === undefined ? {} : { signature: open.signature }),
    };
    const head = open.head;
    content.push(
      head.kind === "tool"
        ? {
          kind: "tool",
          ...(head.id === undefined ? {} : { id: head.id }),
          name: head.name,
          ...body,
        }
        : {
          kind: head.kind,
          ...body,
          ...(open.citations === undefined
            ? {}
            : { citations: open.citations }),
        },
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
      case "cite":
        if (open !== undefined) (open.citations ??= []).push(event.citation);
        break;
      case "probabilities":
        for (const token of event.tokens) probabilities.push(token);
        break;
      case "close":
        close();
        break;
      case "code":
      case "search": {
        const { type: kind, ...ran } = event;
        close();
        content.push({ kind, ...ran } as ServerBlock);
        break;
      }
      case "usage":
        usage = mergeUsage(usage, event.usage);
        break;
      case "stop": {
        const { type: _, failure: __, ...rest } = event;
        stop = rest;
        break;
      }
      case "lost":
      case "end":
        break;
      case "error":
        throw event.error;
    }
  }
  close();
  const blocks = content.filter((block) =>
    block.kind !== "code" && block.kind !== "search"
  );
  return {
    ...(id === undefined ? {} : { id }),
    ...(model === undefined ? {} : { model }),
    blocks,
    ...(blocks.length < content.length ? { content } : {}),
    ...(probabilities.length === 0 ? {} : { probabilities }),
    usage,
    ...(stop === undefined ? {} : { stop }),
  };
}

/**
 * The stop reason to report, corrected by the kinds of blocks: with calls, a plain end becomes
 * `tool_use` (some upstreams send `stop`); without a call, `tool_use` becomes a plain end (agents
 * would wait for ever for a call that does not exist), and a plain end after a refusal in the
 * model's words becomes `refusal`.
 */
export function settleStop(
  reason: StopReason,
  kinds: ReadonlySet<BlockKind>,
): StopReason {
  if (reason !== "end" && reason !== "tool_use") return reason;
  if (kinds.has("tool")) return "tool_use";
  return kinds.has("refusal") ? "refusal" : "end";
}

/** The kinds of a reply's blocks. */
export function kindsOf(blocks: readonly Block[]): ReadonlySet<BlockKind> {
  return new Set(blocks.map(({ kind }) => kind));
}
