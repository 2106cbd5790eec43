/**
 * A reply in no dialect. The `encode_*.ts` modules encode it; every fixture declares the same
 * content beside its bytes, so that replies in different dialects can be compared.
 */
import type { JsonObject } from "../json.ts";

/** Why a reply stopped. `other` is an undocumented reason. */
export type StopCause =
  | "end"
  | "max_tokens"
  | "stop_sequence"
  | "tool_use"
  | "refusal"
  | "pause"
  | "context_window"
  | "other";

/** Token counts of a reply. */
export interface NeutralUsage {
  /** Prompt tokens at full rate, without cache reads and writes. */
  readonly input: number;
  /** Prompt tokens read from a cache. */
  readonly cacheRead: number;
  /** Prompt tokens written to a cache. */
  readonly cacheWrite: number;
  /** The part of `cacheWrite` with a life of one hour; only one format reports it. */
  readonly cacheWrite1h?: number;
  /** Generated tokens, reasoning included. */
  readonly output: number;
  /** The part of `output` spent on reasoning. */
  readonly reasoning: number;
}

/** One block of a reply; text is split into the pieces that a stream sends. */
export type NeutralBlock =
  | {
    readonly kind: "text";
    readonly pieces: readonly string[];
    /** Responses: whether the words are a refusal. */
    readonly refused?: boolean;
  }
  | {
    readonly kind: "thinking";
    readonly pieces: readonly string[];
    readonly signature: string;
  }
  | {
    readonly kind: "tool";
    readonly name: string;
    readonly args: JsonObject;
    /** Responses: the group of the tool. */
    readonly namespace?: string;
    /** Responses: whether `args.input` is sent as free text. */
    readonly freeText?: boolean;
  };

export interface NeutralReply {
  readonly blocks: readonly NeutralBlock[];
  readonly stop: StopCause;
  /** The stop string that was matched; null when there was none. */
  readonly stopSequence: string | null;
  readonly usage: NeutralUsage;
}

/** A reply with everything else that its encoding depends on. */
export interface EncodableReply {
  readonly reply: NeutralReply;
  readonly model: string;
  /** Responses only: the request, whose settings the reply repeats. */
  readonly asked?: JsonObject;
  /** Chat only: whether the request asks for a usage frame. */
  readonly usageAsked: boolean;
  /** Determines the ids, padding and obfuscation. */
  readonly seed: string;
}

/** Unix seconds of every reply: fixed, so that the same request gets the same bytes. */
export const CREATED = 1_780_000_000;

const MAX_FRAGMENTS = 100;

/**
 * Cuts a text into fragments of `size` characters, or of more when there would be over 100
 * fragments; never inside a character.
 */
export function fragments(text: string, size: number): string[] {
  const characters = [...text];
  const length = Math.max(size, Math.ceil(characters.length / MAX_FRAGMENTS));
  const cut: string[] = [];
  for (let at = 0; at < characters.length; at += length) {
    cut.push(characters.slice(at, at + length).join(""));
  }
  return cut;
}

/**
 * JSON with a space after each colon and, for `", "`, each comma, as two of the vendors write it.
 */
export function spacedJson(value: unknown, comma: ", " | ","): string {
  if (Array.isArray(value)) {
    return `[${value.map((item) => spacedJson(item, comma)).join(comma)}]`;
  }
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .map(([key, field]) =>
      `${JSON.stringify(key)}: ${spacedJson(field, comma)}`
    );
  return `{${fields.join(comma)}}`;
}
