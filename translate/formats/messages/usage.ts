/**
 * Token counts of replies in the messages format.
 *
 * @module
 */
import type { EncodeContext } from "../../dialect.ts";
import {
  arrayOr,
  countIn,
  type JsonObject,
  objectOr,
} from "../../bytes/json.ts";
import type { Usage } from "../../model/reply.ts";

/** Iteration types that are billed but not part of the totals. */
const BESIDE_TOTALS: ReadonlySet<unknown> = new Set([
  "compaction",
  "advisor_message",
]);

/**
 * Decodes a `usage` object. Iterations that its totals leave out are billed as well, so they are
 * added. A zero after a known prompt figure, with no other prompt figure beside it, is a proxy's
 * placeholder and is ignored.
 */
export function readUsage(wire: unknown, before: Usage): Usage {
  const usage = objectOr(wire);
  const totals = figures(usage);
  const beside = arrayOr(usage["iterations"]).filter((iteration) =>
    BESIDE_TOTALS.has(objectOr(iteration)["type"])
  ).map((iteration) => figures(objectOr(iteration)));
  const total = (field: keyof Usage): number | undefined => {
    const count = totals[field];
    return count === undefined
      ? undefined
      : beside.reduce((sum, one) => sum + (one[field] ?? 0), count);
  };
  const saysPrompt = PROMPT_FIELDS.some((field) => (total(field) ?? 0) > 0);
  const known = (field: (typeof PROMPT_FIELDS)[number]): number | undefined => {
    const count = total(field);
    return count === 0 && !saysPrompt && (before[field] ?? 0) > 0
      ? undefined
      : count;
  };
  return present({
    input: known("input"),
    cacheRead: known("cacheRead"),
    cacheWrite: known("cacheWrite"),
    output: total("output"),
    reasoning: totals.reasoning,
  });
}

const PROMPT_FIELDS = ["input", "cacheRead", "cacheWrite"] as const;

/** The figures of a `usage` object or of one of its iterations. */
function figures(usage: JsonObject): Usage {
  const byLife = objectOr(usage["cache_creation"]);
  const short = countIn(byLife["ephemeral_5m_input_tokens"]);
  const long = countIn(byLife["ephemeral_1h_input_tokens"]);
  return present({
    input: countIn(usage["input_tokens"]),
    cacheRead: countIn(usage["cache_read_input_tokens"]),
    cacheWrite: countIn(usage["cache_creation_input_tokens"]) ??
      (short === undefined && long === undefined
        ? undefined
        : (short ?? 0) + (long ?? 0)),
    output: countIn(usage["output_tokens"]),
    reasoning: countIn(
      objectOr(usage["output_tokens_details"])["thinking_tokens"],
    ),
  });
}

/** The figures without those that are absent. */
function present(
  all: { readonly [field in keyof Usage]: number | undefined },
): Usage {
  const usage: { -readonly [field in keyof Usage]: Usage[field] } = {};
  if (all.input !== undefined) usage.input = all.input;
  if (all.cacheRead !== undefined) usage.cacheRead = all.cacheRead;
  if (all.cacheWrite !== undefined) usage.cacheWrite = all.cacheWrite;
  if (all.output !== undefined) usage.output = all.output;
  if (all.reasoning !== undefined) usage.reasoning = all.reasoning;
  return usage;
}

/**
 * The `usage` of a whole reply or of a stream's start; the estimate replaces an input that was not
 * reported.
 */
export function encodeUsage(
  usage: Usage,
  context: EncodeContext,
): JsonObject {
  return {
    input_tokens: usage.input ?? context.inputEstimate,
    cache_creation_input_tokens: usage.cacheWrite ?? 0,
    cache_read_input_tokens: usage.cacheRead ?? 0,
    cache_creation: null,
    ...encodeOutput(usage),
    inference_geo: null,
    service_tier: null,
    speed: null,
  };
}

/**
 * The `usage` of a stream's end. It overwrites the start's, so an input that was not reported is
 * null, which clients skip.
 */
export function encodeFinalUsage(usage: Usage): JsonObject {
  const isKnown = usage.input !== undefined;
  return {
    input_tokens: usage.input ?? null,
    cache_creation_input_tokens: isKnown ? usage.cacheWrite ?? 0 : null,
    cache_read_input_tokens: isKnown ? usage.cacheRead ?? 0 : null,
    ...encodeOutput(usage),
  };
}

/** The output, and null for what no other format reports; the last two are declared by beta types. */
function encodeOutput(usage: Usage): JsonObject {
  return {
    output_tokens: usage.output ?? 0,
    output_tokens_details: usage.reasoning === undefined
      ? null
      : { thinking_tokens: usage.reasoning },
    server_tool_use: null,
    iterations: null,
    fallback_credit: null,
  };
}
