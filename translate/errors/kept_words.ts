/**
 * What may be stored and logged of an upstream's error. Errors repeat their request: quoted, as
 * JSON, escaped, cut or in plain words. So only words are kept that errors are known to use; the
 * client receives the error as it came.
 */
import { isErrorName, isErrorWord } from "./error_vocabulary.ts";

const CUT = "…";
const REMOVED = "[removed]";
/** A message is read so far. */
const MAX_CHARS = 4000;
const MAX_CODE_CHARS = 64;

/** The outermost braces, and brackets other than those of an index. */
const JSON_TEXT = /\{[^]*\}|(?<![\w\]])\[[^]*\]|\{[^]*$|(?<![\w\]])\[[^]*$/g;
/** Quotes of any kind, also escaped ones; one that is not closed lasts to the end. */
const QUOTED =
  /(?<![\p{L}\d])\\*(?:["“„«]([^]*?)(?:["”“»](?![\p{L}\d])|$)|`([^]*?)(?:`|$)|['‘]([^]*?)(?:['’](?![\p{L}\d])|$))/gu;
/** A name, a path such as `messages[0].content`, or a choice such as `high`. */
const PATH = /^[A-Za-z_]+(?:(?:\.|->|\[|\]|-)+(?:\d{1,5}|[A-Za-z_]+)?)*$/;
const TOKEN = /[\p{L}\p{M}\d_’'.@#$%&*+/\\=~^|<>[\]:…-]+/gu;
const NUMBER = /^[$]?\d{1,8}(?:\.\d{1,6})?%?$/;
/** A number before one of these counts something, and one after {@linkcode BOUNDS} bounds it. */
const UNITS =
  /^(?:tokens?|seconds?|secs?|s|ms|milliseconds|minutes?|hours?|days?|requests?|bytes?|[kmg]i?b|items?|elements?|characters?|chars?|messages?|tools?|images?|pixels?|pages?|dimensions?|credits?|times|in|of|input|output|text|prompt|completion|per|maximum|minimum|usd|or|and)\b|^[<>≤≥]/i;
const BOUNDS =
  /(?:^| )(?:(?:length|count|limit|window|size|tokens?|range)(?: (?:is|of|was))?|limit|maximum|max|minimum|min|exceeds?|exceeded|than|most|least|between|and|status|line|column|row|allowed|char|position|index|to|up|after|used|remaining|requested|received|given|has|[<>+]|>=|<=|[≤≥])$/i;

/**
 * The text up to the first word that errors do not use; names, numbers and quotes that may be the
 * request's are cut out. Empty if nothing is left.
 */
export function keptWords(text: string): string {
  const plain = withoutQuotes(text.slice(0, MAX_CHARS))
    .replaceAll(/(?<=\d),(?=\d{3}(?!\d))/g, "");
  const found = [...plain.matchAll(TOKEN)];
  let kept = "";
  let at = 0;
  const between = (end?: number): string =>
    // Symbols may be the request's, too.
    plain.slice(at, end).replaceAll(/[^\s,;()!?]/g, "");
  let isWhole = true;
  for (const [i, match] of found.entries()) {
    const [raw] = match;
    const token = raw.replace(/^['’.:-]+|[.:…'’-]+$/g, "");
    const before = `${found[i - 2]?.[0] ?? ""} ${found[i - 1]?.[0] ?? ""}`;
    const after = found[i + 1]?.[0] ?? "";
    const gap = between(match.index);
    at = match.index + raw.length;
    if (token === "" || isKept(token, before, after)) {
      kept += gap + raw;
    } else if (/^[\p{L}\p{M}’']+$/u.test(token)) {
      kept += gap + CUT;
      isWhole = false;
      break;
    } else kept += gap + CUT + (/[.:]$/.exec(raw)?.[0] ?? "");
  }
  if (isWhole) kept += between();
  const tidy = kept.replaceAll(/\s+/g, " ")
    .replaceAll(/(?:…[\s,;()]*)+…/g, CUT).replaceAll("…:…", CUT).trim();
  return /[\p{L}\d]/u.test(tidy) ? tidy : "";
}

/** The text without quotes and JSON; quoted names of fields stay. */
export function withoutQuotes(text: string): string {
  return text.replaceAll(REMOVED, CUT).replaceAll(JSON_TEXT, ` ${CUT} `)
    .replaceAll(
      QUOTED,
      (_, ...quotes: (string | undefined)[]) => {
        const name = quotes.slice(0, 3).find((one) => one !== undefined) ?? "";
        return isPath(name) ? ` '${name}'` : ` ${CUT} `;
      },
    );
}

/** A code that is composed of words that errors use; undefined if it may be the request's. */
export function keptCode(code: string | undefined): string | undefined {
  return code === undefined || isKnownCode(code) ||
      code.length <= MAX_CODE_CHARS && /^[\w.-]+$/.test(code) &&
        code.split(/[_.-]/).every((part) =>
          /^\d{1,6}$/.test(part) ||
          (/^[A-Za-z]*$/.test(part) && isErrorName(part))
        )
    ? code
    : undefined;
}

function isKept(token: string, before: string, after: string): boolean {
  if (/\d/.test(token) && NUMBER.test(token)) {
    return UNITS.test(after) || BOUNDS.test(before.replace(/[.:]$/, ""));
  }
  return /^(?:[<>=≤≥/|+-]|>=|<=|->)+$/.test(token) ||
    token.replace(/(?:['’](?:s|re|ve|ll|d)|n['’]t)$/i, "").split(/[/-]/)
      .every((part) => part === "" || isErrorWord(part)) ||
    /[_.[]/.test(token) && isPath(token) || isKnownCode(token);
}

/** Names of failures and rights that one cloud's errors have. */
function isKnownCode(text: string): boolean {
  return /^AADSTS\d{4,8}$/.test(text) ||
    /^[a-z]+:[A-Z][A-Za-z]+$/.test(text) && text.split(":").every(isErrorName);
}

function isPath(text: string): boolean {
  return PATH.test(text) &&
    (text.match(/[A-Za-z_]+/g) ?? []).every((name) =>
      name.split("_").every(isErrorName) || isErrorName(name)
    );
}
