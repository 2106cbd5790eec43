/**
 * Recognizes a secret in a text that an upstream wrote: as it is, in upper or lower case, reversed,
 * with blanks between its characters, with any of them escaped as in JSON, HTML or a URL, in
 * hexadecimal digits, and in base64, also inside a longer text.
 */

/** Made once for each secret; there are few. */
const PATTERNS = new Map<string, RegExp>();
const MAX_PATTERNS = 1_000;

const NAMED: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
  "+": "&plus;",
  "=": "&equals;",
  "/": "&sol;",
};

/** The pattern of a secret of at least one character; matches all occurrences. */
export function secretPattern(secret: string): RegExp {
  const known = PATTERNS.get(secret);
  if (known !== undefined) return known;
  const characters = [...secret].map(characterPattern);
  const others = secret.length < MIN_OTHER_CHARS ? [] : [
    characters.join(BLANKS),
    characters.toReversed().join(""),
    ...hexPatterns(secret),
  ];
  const pattern = new RegExp(
    [characters.join(""), ...others, ...base64Patterns(secret)].join("|"),
    "g",
  );
  if (PATTERNS.size >= MAX_PATTERNS) PATTERNS.clear();
  PATTERNS.set(secret, pattern);
  return pattern;
}

/** One character in any of its spellings. */
function characterPattern(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const hex = anyCase(code.toString(16).padStart(2, "0"));
  const percent = [...new TextEncoder().encode(character)].map((byte) =>
    `%${anyCase(byte.toString(16).padStart(2, "0"))}`
  ).join("");
  const json = JSON.stringify(character).slice(1, -1);
  const cases = new Set([
    character,
    character.toLowerCase(),
    character.toUpperCase(),
  ]);
  const spellings = [
    percent,
    `&#0*${code};?`,
    `&#[xX]0*${hex};?`,
    `\\\\u${anyCase(code.toString(16).padStart(4, "0"))}`,
    ...NAMED[character] === undefined ? [] : [NAMED[character]],
    ...json === character ? [] : [literal(json)],
    ...[...cases].map(literal),
  ];
  return `(?:${spellings.join("|")})`;
}

/** A shorter secret, in another order or with other digits, may occur by chance. */
const MIN_OTHER_CHARS = 8;
const C_ESCAPE = "\\\\x";
/** Between characters of a secret that is spaced out. */
const BLANKS = "[\\s\\u200b-\\u200d\\ufeff]{0,2}";

/** The secret's bytes as hexadecimal digits, with what programs write between two of them. */
function hexPatterns(secret: string): readonly string[] {
  const digits = [...new TextEncoder().encode(secret)].map((byte) =>
    anyCase(byte.toString(16).padStart(2, "0"))
  );
  return ["", " ", ":", ",? ?0x", C_ESCAPE].map((between) =>
    (between === C_ESCAPE ? `(?:${C_ESCAPE})?` : "") + digits.join(between)
  );
}

function base64Patterns(secret: string): readonly string[] {
  return base64Cores(secret).map((core) =>
    `${[...core].map(urlSafe).join("")}[\\w+/-]?={0,2}`
  );
}

/**
 * The secret in base64, in each of the three alignments that it may have in the encoded bytes, as
 * far as they are long. Characters that also encode neighbouring bytes are left out.
 */
export function base64Cores(secret: string): readonly string[] {
  const bytes = new TextEncoder().encode(secret);
  return [0, 1, 2].flatMap((before) => {
    const padded = new Uint8Array(before + bytes.length);
    padded.set(bytes, before);
    const text = padded.toBase64({ omitPadding: true });
    const from = Math.ceil(before * 8 / 6);
    const to = Math.floor(padded.length * 8 / 6);
    const core = text.slice(from, to);
    return core.length < MIN_BASE64_CHARS ? [] : [core];
  });
}

/** Shorter runs occur by chance. */
const MIN_BASE64_CHARS = 8;

function urlSafe(character: string): string {
  return character === "+" ? "[+-]" : character === "/" ? "[/_]" : character;
}

/** Hexadecimal digits in upper or lower case. */
function anyCase(hex: string): string {
  return hex.replaceAll(
    /[a-f]/g,
    (digit) => `[${digit}${digit.toUpperCase()}]`,
  );
}

function literal(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}
