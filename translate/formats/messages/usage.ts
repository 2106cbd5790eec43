/**
 * Token counts of replies in the messages format.
 */
import type { EncodeContext } from "../../dialect.ts";
import {
  arrayOr,
  countIn,
  isNoCount,
  type JsonObject,
  objectOr,
  outputCountIn,
  textIn,
} from "../../bytes/json.ts";
import type { ServedUsage, Usage } from "../../model/reply.ts";

/** Iteration types that are billed but not part of the totals. */
const BESIDE_TOTALS: ReadonlySet<unknown> = new Set([
  "compaction",
  "advisor_message",
]);

/** Iteration types that another model serves; it is named beside the type. */
const OTHER_MODELS: ReadonlySet<unknown> = new Set([
  "advisor_message",
  "fallback_message",
]);

/** The figures that are counts of tokens. */
type Count = {
  [K in keyof Usage]-?: NonNullable<Usage[K]> extends number ? K : never;
}[keyof Usage];

/**
 * Decodes a `usage` object. Iterations that its totals leave out are billed as well, so they are
 * added. A zero after a known prompt figure, with no other prompt figure beside it, is a proxy's
 * placeholder and is ignored.
 */
export function readUsage(wire: unknown, before: Usage): Usage {
  const usage = objectOr(wire);
  const totals = figures(usage);
  const iterations = arrayOr(usage["iterations"]).map(objectOr);
  const beside = iterations.filter(({ type }) => BESIDE_TOTALS.has(type))
    .map(figures);
  const mode = modeOf(usage);
  const result: { -readonly [K in keyof Usage]: Usage[K] } = mode === USUAL
    ? totals
    : { ...totals, ...mode };
  for (const one of beside) {
    for (const field of COUNTS) {
      // A total that is not reported stays so; a part of one that is counts.
      if (one[field] === undefined) continue;
      if (result[field] === undefined && TOTALS.has(field)) continue;
      result[field] = (result[field] ?? 0) + one[field];
    }
  }
  if (!saysPrompt(result) && !beside.some(saysPrompt)) {
    for (const field of PROMPT_FIELDS) {
      if (result[field] === 0 && (before[field] ?? 0) > 0) delete result[field];
    }
  }
  const served = iterations.flatMap((one): ServedUsage[] => {
    const model = textIn(one["model"]);
    return model !== undefined && OTHER_MODELS.has(one["type"])
      ? [{ ...figures(one), ...modeOf(one), model }]
      : [];
  });
  return served.length === 0 ? result : { ...result, served };
}

const PROMPT_FIELDS = ["input", "cacheRead", "cacheWrite"] as const;

function saysPrompt({ input, cacheRead, cacheWrite }: Usage): boolean {
  return (input ?? 0) > 0 || (cacheRead ?? 0) > 0 || (cacheWrite ?? 0) > 0;
}

const COUNTS = [
  ...PROMPT_FIELDS,
  "output",
  "cacheWrite5m",
  "cacheWrite1h",
  "unknownInput",
  "unknownOutput",
] as const satisfies readonly Count[];

const TOTALS: ReadonlySet<Count> = new Set([...PROMPT_FIELDS, "output"]);

/** Where one of them is no count, the prompt is estimated. */
const WIRE_PROMPT = [
  "input_tokens",
  "cache_read_input_tokens",
  "cache_creation_input_tokens",
] as const;

/** Names of counts in a `usage` object. Other counts of tokens beside them are of unknown kinds. */
const KNOWN_COUNTS: ReadonlySet<string> = new Set([
  ...WIRE_PROMPT,
  "output_tokens",
]);

/** The counts of a `usage` object or of one of its iterations. */
function figures(usage: JsonObject): Usage {
  const lives = usage["cache_creation"];
  const byLife = objectOr(lives);
  const short = countIn(byLife["ephemeral_5m_input_tokens"]);
  const long = countIn(byLife["ephemeral_1h_input_tokens"]);
  const unknown = unknownCounts(usage);
  const input = countIn(usage["input_tokens"]);
  const output = outputCountIn(usage["output_tokens"]);
  const prompt: Partial<Record<Count, number | undefined>> =
    WIRE_PROMPT.some((field) => isNoCount(usage[field])) ? {} : {
      input: unknown.input === 0 ? input : (input ?? 0) + unknown.input,
      cacheRead: countIn(usage["cache_read_input_tokens"]),
      cacheWrite: countIn(usage["cache_creation_input_tokens"]) ??
        (short === undefined && long === undefined
          ? undefined
          : (short ?? 0) + (long ?? 0)),
      cacheWrite5m: short || undefined,
      cacheWrite1h: long || undefined,
      unknownInput: unknown.input || undefined,
    };
  return present({
    ...prompt,
    output: unknown.output === 0 ? output : (output ?? 0) + unknown.output,
    reasoning: countIn(
      objectOr(usage["output_tokens_details"])["thinking_tokens"],
    ),
    unknownOutput: unknown.output || undefined,
  });
}

/** This format's kinds of tokens are disjoint and add up: an unknown one is beside the known. */
function unknownCounts(
  usage: JsonObject,
): { readonly input: number; readonly output: number } {
  let input = 0;
  let output = 0;
  for (const name in usage) {
    if (!name.endsWith("put_tokens") || KNOWN_COUNTS.has(name)) continue;
    const count = countIn(usage[name]) ?? 0;
    if (name.endsWith("_input_tokens")) input += count;
    else if (name.endsWith("_output_tokens")) output += count;
  }
  return { input, output };
}

/** How the reply was served, and what the vendor's tools did for it. */
function modeOf(usage: JsonObject): Usage {
  const tier = other(usage["service_tier"], "standard");
  const speed = other(usage["speed"], "standard");
  const region = other(usage["inference_geo"], "global", "not_available");
  const uses = usesOf(objectOr(usage["server_tool_use"]));
  const isUsual = tier === undefined && speed === undefined &&
    region === undefined && uses === undefined;
  return isUsual ? USUAL : {
    ...(tier === undefined ? {} : { tier }),
    ...(speed === undefined ? {} : { speed }),
    ...(region === undefined ? {} : { region }),
    ...(uses === undefined ? {} : { uses }),
  };
}

const USUAL: Usage = {};

/** Uses of the vendor's tools by their names; undefined: none. */
function usesOf(counts: JsonObject): Usage["uses"] {
  let uses: Record<string, number> | undefined;
  for (const name in counts) {
    const count = countIn(counts[name]) ?? 0;
    if (count > 0 && name.endsWith(REQUESTS)) {
      uses ??= {};
      uses[name.slice(0, -REQUESTS.length)] = count;
    }
  }
  return uses;
}

const REQUESTS = "_requests";

/** A value other than the usual ones. */
function other(
  value: unknown,
  ...usual: readonly string[]
): string | undefined {
  const text = textIn(value);
  return text === undefined || usual.includes(text) ? undefined : text;
}

/** The figures that are not absent. By name: a loop over names takes several times as long. */
function present(
  all: { readonly [field in Count]?: number | undefined },
): Usage {
  const usage: { [field in Count]?: number } = {};
  if (all.input !== undefined) usage.input = all.input;
  if (all.cacheRead !== undefined) usage.cacheRead = all.cacheRead;
  if (all.cacheWrite !== undefined) usage.cacheWrite = all.cacheWrite;
  if (all.cacheWrite5m !== undefined) usage.cacheWrite5m = all.cacheWrite5m;
  if (all.cacheWrite1h !== undefined) usage.cacheWrite1h = all.cacheWrite1h;
  if (all.unknownInput !== undefined) usage.unknownInput = all.unknownInput;
  if (all.output !== undefined) usage.output = all.output;
  if (all.reasoning !== undefined) usage.reasoning = all.reasoning;
  if (all.unknownOutput !== undefined) usage.unknownOutput = all.unknownOutput;
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
    ...encodeEnd(usage),
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
    ...encodeEnd(usage),
  };
}

/** The tools that the format counts; null where none of them was used. */
function toolUse(uses: Usage["uses"]): JsonObject | null {
  const { web_fetch: fetches = 0, web_search: searches = 0 } = uses ?? {};
  return fetches + searches === 0 ? null : {
    web_fetch_requests: fetches,
    web_search_requests: searches,
  };
}

/**
 * What a reply may know only at its end. Fields that no other format reports are null; the last
 * two are declared by beta types.
 */
function encodeEnd(usage: Usage): JsonObject {
  const { cacheWrite5m, cacheWrite1h, uses } = usage;
  return {
    output_tokens: usage.output ?? 0,
    output_tokens_details: usage.reasoning === undefined
      ? null
      : { thinking_tokens: usage.reasoning },
    ...(cacheWrite5m === undefined && cacheWrite1h === undefined ? {} : {
      cache_creation: {
        ephemeral_5m_input_tokens: cacheWrite5m ?? 0,
        ephemeral_1h_input_tokens: cacheWrite1h ?? 0,
      },
    }),
    server_tool_use: toolUse(uses),
    iterations: null,
    fallback_credit: null,
  };
}
