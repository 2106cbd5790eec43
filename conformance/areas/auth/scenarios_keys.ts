/**
 * Wrong keys: of the right form, with quotes, and with the bytes that are often pasted with a key.
 */

/** Keys that were never issued, derived from the right one, and keys of other services. */
export const WRONG_KEYS = {
  "wrong": (key: string) =>
    `${key.slice(0, -6)}zzzzz${key.endsWith("z") ? "y" : "z"}`,
  "cut": (key: string) => key.slice(0, -1),
  "beheaded": (key: string) => key.slice(1),
  "prefix": (key: string) => key.slice(0, Math.max(8, key.length - 8)),
  "extended": (key: string) => `${key}0`,
  "preceded": (key: string) => `x${key}`,
  "doubled": (key: string) => key + key,
  "listed": (key: string) => `${key},${key}`,
  "other-case": otherCase,
  "foreign": () =>
    "sk-ant-api03-Zm9yZWlnbi1rZXktb2YtYW5vdGhlci1zZXJ2aWNlLTAwMDE-AA",
  "foreign-project": () => "sk-proj-Zm9yZWlnbktleU9mQW5vdGhlclNlcnZpY2UwMDAy",
} as const;

/** The right key with the letter case of one character changed. */
function otherCase(key: string): string {
  const at = key.search(/[a-z](?=[^a-z]*$)/i);
  const letter = key.charAt(at);
  const changed = letter === letter.toLowerCase()
    ? letter.toUpperCase()
    : letter.toLowerCase();
  return key.slice(0, at) + changed + key.slice(at + 1);
}

/** The right key with quote characters, as when both are pasted. */
export const QUOTED_KEYS: Readonly<Record<string, (key: string) => string>> = {
  "double-quoted": (key) => `"${key}"`,
  "single-quoted": (key) => `'${key}'`,
  "back-quoted": (key) => `\`${key}\``,
  "quote-before": (key) => `"${key}`,
  "quote-after": (key) => `${key}"`,
  "single-quote-after": (key) => `${key}'`,
  "escaped-quotes": (key) => `\\"${key}\\"`,
  "encoded-quotes": (key) => `%22${key}%22`,
  "quoted-twice": (key) => `"'${key}'"`,
};

/** Bytes before, after or inside a pasted key; each character is one byte. */
export interface Pasted {
  readonly before?: string;
  readonly after?: string;
  readonly inner?: string;
  /**
   * `text`: bytes allowed in a header. `broken`: bytes not allowed in a header. `stripped`: bytes
   * that HTTP itself removes.
   */
  readonly kind: "control" | "text" | "broken" | "stripped";
}

const text = (parts: Omit<Pasted, "kind">): Pasted => ({
  ...parts,
  kind: "text",
});
const broken = (parts: Omit<Pasted, "kind">): Pasted => ({
  ...parts,
  kind: "broken",
});
const stripped = (parts: Omit<Pasted, "kind">): Pasted => ({
  ...parts,
  kind: "stripped",
});

/** Bytes pasted with the key, as sent on the wire. */
export const PASTED_KEYS: Readonly<Record<string, Pasted>> = {
  "control": { kind: "control" },
  "no-break-space": text({ after: "\u00a0" }),
  "no-break-space-before": text({ before: "\u00c2\u00a0" }),
  "no-break-space-utf8": text({ after: "\u00c2\u00a0" }),
  "zero-width-space": text({ after: "\u00e2\u0080\u008b" }),
  "zero-width-space-before": text({ before: "\u00e2\u0080\u008b" }),
  "byte-order-mark": text({ before: "\u00ef\u00bb\u00bf" }),
  "wide-space": text({ after: "\u00e3\u0080\u0080" }),
  "line-separator": text({ after: "\u00e2\u0080\u00a8" }),
  "curly-quotes": text({
    before: "\u00e2\u0080\u009c",
    after: "\u00e2\u0080\u009d",
  }),
  "curly-single-quotes": text({
    before: "\u00e2\u0080\u0098",
    after: "\u00e2\u0080\u0099",
  }),
  "angle-quotes": text({ before: "\u00c2\u00ab", after: "\u00c2\u00bb" }),
  "escaped-newline": text({ after: "\\n" }),
  "escaped-crlf": text({ after: "\\r\\n" }),
  "escaped-tab": text({ after: "\\t" }),
  "encoded-newline": text({ after: "%0A" }),
  "encoded-blank": text({ after: "%20" }),
  "quoted-blank": text({ before: '"', after: ' "' }),
  "inner-space": text({ inner: " " }),
  "inner-tab": text({ inner: "\t" }),
  "inner-no-break-space": text({ inner: "\u00a0" }),
  "inner-zero-width-space": text({ inner: "\u00e2\u0080\u008b" }),
  "folded": broken({ inner: "\r\n " }),
  "inner-newline": broken({ inner: "\n" }),
  "inner-return": broken({ inner: "\r" }),
  "form-feed": broken({ after: "\u000c" }),
  "vertical-tab": broken({ after: "\u000b" }),
  "null-byte": broken({ after: "\u0000" }),
  "trailing-space": stripped({ after: " " }),
  "trailing-tab": stripped({ after: "\t" }),
  "trailing-newline": stripped({ after: "\n" }),
  "trailing-crlf-fold": stripped({ after: "\r\n " }),
};

/** One form of each kind for live runs, where every request counts. */
const LIVE_PASTED: ReadonlySet<string> = new Set([
  "control",
  "no-break-space",
  "zero-width-space",
  "curly-quotes",
  "escaped-newline",
  "encoded-newline",
  "byte-order-mark",
  "inner-space",
  "folded",
  "inner-newline",
  "trailing-space",
  "trailing-crlf-fold",
]);

/** Names of the pasted keys that this kind of run sends. */
export function pastedIn(mode: "live" | "replay"): string[] {
  return Object.keys(PASTED_KEYS).filter((name) =>
    mode === "replay" || LIVE_PASTED.has(name)
  );
}
