/**
 * A form of an endpoint's replies, whole or streamed, as the rules see it that hold for several
 * endpoints (`areas/replies/`). A further endpoint is one or two of these, and its own rules.
 */
import { changeReplies } from "../faults/change_hooks.ts";
import type { Json, JsonObject } from "@model-gateway/replay/json";
import type { ReadContent } from "@model-gateway/replay/content_of";
import type { StopCause } from "@model-gateway/replay/neutral_reply";
import type { Exchange, Frame } from "../evidence/exchange.ts";
import type { Place } from "../faults/field.ts";
import type { Context, Hooks, OutFrame } from "../reference_gateway/hooks.ts";
import type { Feature } from "../suite/route.ts";
import type { Evidence } from "../suite/evidence.ts";
import type { Finding } from "../suite/finding.ts";

/** How a fault changes a text; `number` counts the pieces of a stream from 0. */
export type TextChange = (text: string, number: number, x?: Context) => string;

/** Token counts, the whole prompt with its cached part. */
export interface Counts {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
}

/** A form of replies: how a client reads it, and how a fault changes it. */
export interface ReplyForm {
  /** The first word of the ids of its checks. */
  readonly area: string;
  readonly endpoint: Exchange["endpoint"];
  /** The feature without which its checks are left out. */
  readonly needs?: Feature;
  readonly isStream: boolean;
  /** Absent: `text/event-stream` for a stream, otherwise `application/json`. */
  readonly contentType?: string;
  /** How ids begin, such as `msg_`. */
  readonly idPrefix: string;
  /** Absent: a reply has its id and its model in members of these names. */
  readonly names?: { readonly id: string; readonly model: string };
  /** The section of the specification about it. */
  readonly section: string;
  /** Scenarios of the usual replies, in every kind of run. */
  readonly forms: readonly string[];
  /** Scenarios of replies whose content is known. */
  readonly exact: readonly string[];
  /** Scenarios of unusual ones, by the end of the ids of the checks that read them. */
  readonly unusual: Readonly<Record<string, readonly string[]>>;

  /** Streams: the whole replies of the endpoint. */
  readonly whole?: ReplyForm;
  /** All such replies. */
  readonly replies: (e: Evidence) => readonly Exchange[];
  /** The fixture that a reply was requested with. */
  readonly fixture: (x: Exchange) => string;
  /** The content that the upstream sent for it. */
  readonly content: (x: Exchange) => ReadContent;
  /** The objects that have `id` and `model`. */
  readonly head: Place;
  readonly text: (x: Exchange) => string;
  /** The texts that are right for a content. */
  readonly texts: (content: ReadContent) => readonly string[];
  /** The reason of the end, with the frame that has it. */
  readonly stop: (
    x: Exchange,
  ) => { readonly value: Json | undefined; readonly frame?: Frame | undefined };
  /** What else the end of a reply must have. */
  readonly alsoAtEnd?: (x: Exchange) => readonly Finding[];
  /** The accepted stop reasons; empty: any. */
  readonly stops: (x: Exchange) => readonly string[];
  /** The reason of each cause. */
  readonly stopWords: Readonly<Partial<Record<StopCause, string>>>;
  /** Compares the token counts with the upstream's. */
  readonly usage: (x: Exchange) => readonly Finding[];
  /** What a stream and the whole reply must share. */
  readonly essence: (x: Exchange) => string;
  /** The number of pieces that the text arrives in. */
  readonly pieces: (x: Exchange) => number;

  readonly changeText: (change: TextChange) => Hooks;
  /** Changes the reason of the end where it is `from`. */
  readonly changeStop: (from: string, to: Json) => Hooks;
  readonly changeUsage: (
    change: (counts: Counts) => Pick<Counts, "input" | "output">,
  ) => Hooks;
  /** Streams: true for a frame with text. */
  readonly hasText: (data: JsonObject) => boolean;
}

export function changeHeaders(
  { endpoint, isStream }: ReplyForm,
  change: (
    headers: Readonly<Record<string, string>>,
  ) => Readonly<Record<string, string>>,
): Hooks {
  return isStream
    ? {
      streamHeaders: (headers, x) =>
        x.endpoint === endpoint ? change(headers) : headers,
    }
    : changeReplies(
      { endpoint: endpoint, status: 200 },
      (reply) => ({ headers: change(reply.headers) }),
    );
}

/** Changes the frames with text; `number` counts them from 0. */
export function changePieces(
  { endpoint, hasText }: ReplyForm,
  change: (frame: OutFrame, number: number, x: Context) => readonly OutFrame[],
): Hooks {
  return {
    frame: (frame, x) => {
      if (
        x.endpoint !== endpoint || typeof frame.data === "string" ||
        !hasText(frame.data)
      ) return [frame];
      return change(frame, count(x, "pieces"), x);
    },
  };
}

/** Counts the calls of an exchange under a name, from 0. */
export function count({ state }: Context, name: string): number {
  const number = Number(state.get(name) ?? 0);
  state.set(name, number + 1);
  return number;
}
