/**
 * The parts of a prompt in formats whose count of the prompt includes what was read from and
 * written to caches.
 */
import type { Usage } from "./reply.ts";

/** Counts as an upstream reports them; absent: not reported. */
interface PromptCounts {
  readonly prompt: number | undefined;
  readonly cacheRead: number | undefined;
  readonly cacheWrite: number | undefined;
  /** Generated tokens. */
  readonly output: number | undefined;
  /** All tokens of the call. */
  readonly total: number | undefined;
  /** Whether more cached tokens than prompt tokens mean that the prompt's count leaves them out. */
  readonly cachedBesidePrompt?: boolean;
}

/** The parts, and the prompt that they add up to. */
interface PromptParts {
  readonly parts: Pick<Usage, "input" | "cacheRead" | "cacheWrite">;
  readonly prompt: number;
}

/** Parts of a prompt that has something else than a count: it is estimated. */
export const NO_PROMPT: PromptParts = { parts: {}, prompt: 0 };

/**
 * The disjoint parts of a prompt. Where more tokens are cached than the prompt has, the total shows
 * whether they were counted beside it; otherwise they are cut to the prompt, or, without a total,
 * are the prompt.
 */
export function promptParts(
  { prompt, cacheRead, cacheWrite, output, total, cachedBesidePrompt }:
    PromptCounts,
): PromptParts {
  const cached = (cacheRead ?? 0) + (cacheWrite ?? 0);
  const isBeside = cached > (prompt ?? cached) &&
    (cachedBesidePrompt === true ||
      (total !== undefined &&
        total >= (prompt ?? 0) + cached + (output ?? 0)));
  const all = isBeside
    ? (prompt ?? 0) + cached
    : total === undefined
    ? Math.max(prompt ?? 0, cached)
    : prompt ?? cached;
  const read = Math.min(cacheRead ?? 0, all);
  const written = Math.min(cacheWrite ?? 0, all - read);
  return {
    parts: {
      ...(prompt === undefined ? {} : { input: all - read - written }),
      ...(cacheRead === undefined ? {} : { cacheRead: read }),
      ...(cacheWrite === undefined ? {} : { cacheWrite: written }),
    },
    prompt: isBeside ? all : prompt ?? 0,
  };
}
