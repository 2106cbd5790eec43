/**
 * Recognizes the error for a prompt that is too long in the wording of every known vendor and
 * server, and reads its numbers. Each dialect writes them in its own wording, because agents
 * compact their conversation only on that exact wording.
 */
import { countIn, type JsonObject } from "../bytes/json.ts";

const OVERFLOW = new RegExp(
  [
    "prompt (?:is )?too long",
    "input is too long for",
    "^input is too long",
    "maximum (?:context|prompt|model) length",
    "maximum input length",
    "exceed(?:s|ed)? (?:the |its )?(?:model's |available |max |maximum )?context (?:length|size|limit)",
    "exceed(?:s|ed)? model token limit",
    "exceeds? max(?:imum)? length",
    "exceed the configured limit of [\\d,]+ tokens",
    "prompt token count of [\\d,]+ exceeds",
    "longer than the model's context length",
    "context length of only",
    "reduce the length of the (?:messages|input)",
    "range of input length should be",
    "must have less than [\\d,]+ tokens",
    "number of tokens in the prompt cannot exceed",
    "context_length_exceeded",
    "exceed(?:s|ed)? (?:the |this |its )?(?:model's |maximum )?context window",
    "context window (?:exceed(?:s|ed)|limit|is full|of [\\d,]+)",
    "(?:larger|longer|bigger) than (?:the |its )?(?:model's )?context window",
    "exceeds the maximum number of tokens",
    "input token count (?:\\([\\d,]+\\) )?(?:is|exceeds)",
    "^too many tokens|too many tokens(?: in|:)",
  ].join("|"),
  "i",
);

const CODES: ReadonlySet<string> = new Set([
  "context_length_exceeded",
  "model_max_prompt_tokens_exceeded",
  "exceed_context_size_error",
  "too_many_prompt_tokens",
]);

/** Whether an error reports a prompt that is too long. */
export function isContextOverflow(error: {
  readonly message?: string;
  readonly type?: string;
  readonly code?: string;
}): boolean {
  return CODES.has(error.code ?? "") || CODES.has(error.type ?? "") ||
    (error.message !== undefined &&
      OVERFLOW.test(withoutQuotes(error.message)));
}

/** Words in quotes, not behind `message:`, where proxies repeat an upstream's error. */
const QUOTED =
  /(?<!(?:message|error|detail|msg)["']?\s{0,3}[:=]\s{0,3})(?:(?<![\p{L}\p{N}])'[^'\n]{1,300}'(?![\p{L}\p{N}])|"[^"\n]{1,300}"|`[^`\n]{1,300}`|“[^”\n]{1,300}”)/gu;

/** A message without what it quotes of the request, where any words may stand. */
function withoutQuotes(message: string): string {
  return message.replaceAll(QUOTED, "…");
}

/** The size of the request and the limit, in tokens. */
export interface OverflowNumbers {
  /** Tokens of the prompt, or of prompt and answer together where the vendor gives only the sum. */
  readonly tokens: number;
  /** The model's limit. */
  readonly maximum: number;
  /** The cap on the answer, where the prompt alone fits but prompt and answer together do not. */
  readonly output?: number;
}

/**
 * The wordings with numbers; the first match counts. Thousands separators have been removed.
 * Nothing between words is without a bound: the search would take the square of a long text's time.
 */
const PATTERNS: readonly RegExp[] = [
  /(?:max_tokens|max_completion_tokens)\S{0,300} is too large: (?<output>\d{1,12})[^]{0,300}?maximum context length is (?<maximum>\d{1,12}) tokens and your request has (?<tokens>\d{1,12}) input tokens/i,
  /exceed context limit: (?<tokens>\d{1,12}) \+ (?<output>\d{1,12}) > (?<maximum>\d{1,12})/i,
  /prompt is too long: (?<tokens>\d{1,12}) tokens > (?<maximum>\d{1,12})/i,
  /prompt is too long: (?<tokens>\d{1,12}), model maximum context length: (?<maximum>\d{1,12})/i,
  /passed (?<tokens>\d{1,12}) input tokens and requested \d{1,12} output tokens[^]{0,300}?context length is only (?<maximum>\d{1,12}) tokens/i,
  /maximum (?:context|prompt) length (?:is|of) (?<maximum>\d{1,12})[^]{0,300}?(?:resulted in|requested(?: about)?|requested a total of|has|contains?) (?<tokens>\d{1,12})/i,
  /configured limit of (?<maximum>\d{1,12}) tokens[^]{0,300}?resulted in (?<tokens>\d{1,12})/i,
  /input token count \(?(?<tokens>\d{1,12})\)? exceeds[^]{0,300}?\(?(?<maximum>\d{1,12})\)?/i,
  /input token count is (?<tokens>\d{1,12}) but [^]{0,300}?up to (?<maximum>\d{1,12})/i,
  /prompt token count of (?<tokens>\d{1,12}) exceeds the limit of (?<maximum>\d{1,12})/i,
  /current length is (?<tokens>\d{1,12}) while limit is (?<maximum>\d{1,12})/i,
  /\(length (?<tokens>\d{1,12})\) is longer than the maximum model length of (?<maximum>\d{1,12})/i,
  /model token limit: (?<maximum>\d{1,12}) \(requested: (?<tokens>\d{1,12})\)/i,
  /less than (?<maximum>\d{1,12}) tokens\. given: (?<tokens>\d{1,12})/i,
  /cannot exceed (?<maximum>\d{1,12}) - received (?<tokens>\d{1,12})/i,
  /first (?<tokens>\d{1,12}) tokens when context[^]{0,300}?context length of only (?<maximum>\d{1,12}) tokens/i,
  /(?<tokens>\d{1,12}) tokens\)? (?:exceeds|is longer than) the [^\d]{0,300}?context (?:size|length) \((?<maximum>\d{1,12}) tokens/i,
  /contains (?<tokens>\d{1,12}) tokens[^]{0,300}?model with (?<maximum>\d{1,12}) maximum context length/i,
  /(?<tokens>\d{4,12}) tokens[^]{0,300}?(?:maximum|limit|context)[^\d]{0,100}(?<maximum>\d{4,12})/i,
];

/** The numbers in an overflow message; undefined where it does not contain both. */
export function overflowNumbers(message: string): OverflowNumbers | undefined {
  const plain = message.replaceAll(/(\d),(?=\d{3})/g, "$1");
  for (const pattern of PATTERNS) {
    const found = pattern.exec(plain)?.groups;
    if (found === undefined) continue;
    const { output } = found;
    return {
      tokens: Number(found["tokens"]),
      maximum: Number(found["maximum"]),
      ...(output === undefined ? {} : { output: Number(output) }),
    };
  }
  return undefined;
}

/** An overflow message with the numbers that some servers put in separate fields. */
export function withNumbers(message: string, detail: JsonObject): string {
  const tokens = countIn(detail["n_prompt_tokens"]);
  const maximum = countIn(detail["n_ctx"]);
  return tokens === undefined || maximum === undefined ||
      overflowNumbers(message) !== undefined
    ? message
    : `${message} (prompt is too long: ${tokens} tokens > ${maximum} maximum)`;
}
