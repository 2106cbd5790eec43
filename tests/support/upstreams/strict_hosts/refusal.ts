/**
 * The shape of a rule of a strict host: what it refuses, in which words, and who reported it. The
 * rules are observations of hosts, written without the presets of the gateway, so that a missing
 * row there is a refused request.
 */
import {
  arrayOr,
  type JsonObject,
  objectOr,
} from "../../../../translate/bytes/json.ts";

/** One thing that a host refuses. */
export interface Refusal {
  /** The message of the host's error, as reported. */
  readonly words: string;
  /** Documentation, or a report of the refusal as `owner/repository#number`. */
  readonly source: string;
  readonly refuses: (body: JsonObject, maker: string) => boolean;
  /** The smallest body that is refused. */
  readonly bad: JsonObject;
  /** True: no request of an agent avoids it, because the host lacks the ability. */
  readonly lacks?: true;
}

/** The entries of a list that are objects; empty for anything else. */
export function list(value: unknown): readonly JsonObject[] {
  return arrayOr(value).map(objectOr);
}

/** How many objects inside the value have the key. */
export function countOf(value: unknown, key: string): number {
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce(
    (sum, one) => sum + countOf(one, key),
    Array.isArray(value) || !Object.hasOwn(value, key) ? 0 : 1,
  );
}

export function hasKey(value: unknown, key: string): boolean {
  return countOf(value, key) > 0;
}

/** A rule for fields of the body that the host does not know. */
export function unknownField(
  name: string,
  words: string,
  source: string,
): Refusal {
  return {
    words,
    source,
    refuses: (body) => body[name] !== undefined,
    bad: { [name]: "x" },
  };
}

/** What a maker signs its reasoning with, in base64. */
export function proofOf(maker: string, number: number): string {
  return btoa(`proof of ${maker}, number ${number}`);
}

/** Whether the maker signed it. */
export function isProofOf(maker: string, proof: unknown): boolean {
  try {
    return atob(`${proof}`).startsWith(`proof of ${maker},`);
  } catch {
    return false;
  }
}
