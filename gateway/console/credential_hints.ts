/**
 * Replaces credentials in a text that a person enters by their hints, which find what they belong
 * to: an address with the text is kept by browsers and proxies.
 */
import { keyHint } from "../accounts/key.ts";

/** Credentials by how they begin: the gateway's, those of vendors, clouds and code hosts. */
const KNOWN: readonly RegExp[] = [
  /\b(?:sk|at|op|code)-[\dA-Za-z]{30,}/g,
  // Names may begin alike, such as those of models, but have no capital and digit in such length.
  /\bsk-(?=[\w-]*\d)(?=[\w-]*[A-Z])[\w-]{16,}/g,
  /\b(?:gsk|hf|r8|gh[a-z]|github_pat|[prs]k_(?:live|test)|whsec)_\w{20,}/g,
  /\b(?:xai|nvapi|glpat|xox[a-z])-[\w-]{20,}/g,
  /\bAIza[\w-]{16,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{12,}/g,
  /\bya29\.[\w.-]{16,}/g,
  // JSON web tokens, with a signature or without.
  /\beyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]*)*/g,
];
/** A header, or the setting of a variable, with its credential. */
const NAMED =
  /(?:[\w-]*(?:authorization|key|token|secret|password)\s*[:=]\s*(?:(?:bearer|basic)\s+)?|\b(?:bearer|basic)\s+)["']?([^\s"']{8,})["']?/gi;
const PREFIXED = /\b(?:sk|pk|rk)[-_][\w-]{12,}/g;
const HEXADECIMAL = /\b[\da-f]{32,}\b/gi;
const RUN = /[\w+/=-]{20,}/g;
/** A shorter one occurs by chance. */
const MIN_CHARS = 16;
/** The gateway's own ids look as random as credentials, and open nothing. */
const ID =
  /^(?:req|key|acct|token|session|topup|audit|plan|resp|msg|call|model)_[\dA-Za-z]+$/;

/** Replaces what has the form of a credential, and what is one of the `configured`. */
export function credentialHints(
  text: string,
  configured: readonly string[] = [],
): string {
  const known = configured.filter(({ length }) => length >= MIN_CHARS);
  return KNOWN.reduce(
    (rest, form) => rest.replaceAll(form, hintOf),
    known.reduce((rest, one) => rest.replaceAll(one, hintOf(one)), text),
  );
}

/**
 * Replaces also what is named as a credential, begins like one or is as random: for a text that was
 * entered just now.
 */
export function enteredHints(
  text: string,
  configured: readonly string[] = [],
): string {
  return credentialHints(
    text.replaceAll(NAMED, (_, secret: string) => hintOf(secret)),
    configured,
  )
    .replaceAll(PREFIXED, hintOf).replaceAll(HEXADECIMAL, hintOf)
    .replaceAll(
      RUN,
      (run) => ID.test(run) || !isRandom(run) ? run : hintOf(run),
    );
}

/** Too little to guess the rest from, and enough to find what it belongs to. */
function hintOf(secret: string): string {
  const { length } = secret;
  if (secret.includes("…")) return secret;
  if (length >= 40) return keyHint(secret);
  const shown = length >= 24 ? 4 : length >= 16 ? 2 : 0;
  return shown === 0
    ? "[removed]"
    : `${secret.slice(0, shown)}…${secret.slice(-shown)}`;
}

/** Whether small letters, capitals and digits change places as often as by chance. */
function isRandom(run: string): boolean {
  return (run.replaceAll(/[+/=]/g, "").match(/[\dA-Za-z]{20,}/g) ?? []).some(
    (part) => {
      const changes = part.match(
        /[a-z](?=[\dA-Z])|[A-Z](?=[\da-z])|\d(?=[A-Za-z])/g,
      )?.length ?? 0;
      return changes / part.length > (part.length < 32 ? 0.4 : 0.25);
    },
  );
}
