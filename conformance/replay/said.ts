/**
 * What a reply says, in words that belong to no dialect. The `speak_*.ts` modules put it on the wire, and every fixture
 * states it beside its bytes so that replies in different dialects can be compared.
 */
import type { JsonObject } from "./json.ts";

/** Why a reply stopped. `other` is a cause that the dialects do not document. */
export type StopCause =
  | "end"
  | "max_tokens"
  | "stop_sequence"
  | "tool_use"
  | "refusal"
  | "pause"
  | "context_window"
  | "other";

/** Whole tokens. */
export interface SaidUsage {
  /** Prompt tokens at full rate: cache reads and writes are not in it. */
  readonly input: number;
  /** Prompt tokens read from a cache. */
  readonly cacheRead: number;
  /** Prompt tokens written to a cache. */
  readonly cacheWrite: number;
  /** Everything generated, reasoning included. */
  readonly output: number;
  /** The part of `output` spent on reasoning. */
  readonly reasoning: number;
}

/** One block of a reply; text comes in the pieces that a stream sends. */
export type SaidBlock =
  | { readonly kind: "text"; readonly pieces: readonly string[] }
  | {
    readonly kind: "thinking";
    readonly pieces: readonly string[];
    readonly signature: string;
  }
  | { readonly kind: "tool"; readonly name: string; readonly args: JsonObject };

/** A whole reply. */
export interface Said {
  /** The blocks in order. */
  readonly blocks: readonly SaidBlock[];
  /** Why it stops. */
  readonly stop: StopCause;
  /** The stop string that hit; null when none did. */
  readonly stopSequence: string | null;
  /** What it costs. */
  readonly usage: SaidUsage;
}

/** What the wire carries besides the words. */
export interface Speech {
  /** What to say. */
  readonly said: Said;
  /** The model to name. */
  readonly model: string;
  /** Chat only: a usage frame was asked for. */
  readonly usageAsked: boolean;
  /** Everything random in the reply follows from it. */
  readonly seed: string;
}

/** Unix seconds in replies: fixed, so that the same request gets the same bytes. */
export const CREATED = 1_780_000_000;

/** A long text is cut into about this many fragments, however small they were to be. */
const MAX_FRAGMENTS = 100;

/** Cuts a text into fragments of that many characters, or of more when the text is long; never inside a character. */
export function fragments(text: string, size: number): string[] {
  const characters = [...text];
  const length = Math.max(size, Math.ceil(characters.length / MAX_FRAGMENTS));
  const cut: string[] = [];
  for (let at = 0; at < characters.length; at += length) {
    cut.push(characters.slice(at, at + length).join(""));
  }
  return cut;
}

/** JSON with a blank after each colon and comma, or after colons only: the habit of two vendors. */
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
