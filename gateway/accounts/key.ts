/**
 * The text of a key: how it is generated and hashed. The key itself is never stored.
 */
import { hash, timingSafeEqual } from "node:crypto";
import { ApiError } from "../../translate/model/error.ts";

const ALPHABET =
  "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const ENCODER = new TextEncoder();
const SECRET_CHARS = 40;
const CHECK_CHARS = 6;

/** Random bytes fetched in bulk, each used once: one call per key is slower. */
const RANDOM_BYTES = new Uint8Array(4096);
let usedBytes = RANDOM_BYTES.length;

/** Letters and digits, uniformly random. */
export function randomText(length: number): string {
  let text = "";
  while (text.length < length) {
    if (usedBytes === RANDOM_BYTES.length) {
      crypto.getRandomValues(RANDOM_BYTES);
      usedBytes = 0;
    }
    const byte = RANDOM_BYTES[usedBytes++] ?? 255;
    // 248 is the largest multiple of 62 below 256: higher bytes would favour the first letters.
    if (byte < 248) text += ALPHABET[byte % 62];
  }
  return text;
}

/** The first characters of a credential: API key, account token, operator token, sign-in code. */
export type CredentialPrefix = "sk" | "at" | "op" | "code";

/** A new credential: prefix, dash, 40 random letters and digits, 6 characters of checksum. */
export function newCredential(prefix: CredentialPrefix): string {
  const secret = randomText(SECRET_CHARS);
  return `${prefix}-${secret}${checksum(secret)}`;
}

export function newKey(): string {
  return newCredential("sk");
}

/**
 * Whether a text has the form and checksum of a credential made by {@linkcode newCredential}:
 * mistyped ones are detected without a look-up.
 */
export function isWellFormed(
  text: string,
  prefix: CredentialPrefix = "sk",
): boolean {
  const match = /^([a-z]+)-([0-9A-Za-z]{40})([0-9A-Za-z]{6})$/.exec(text);
  return match !== null && match[1] === prefix &&
    checksum(match[2] ?? "") === match[3];
}

function checksum(secret: string): string {
  let rest = BigInt(`0x${sha256(`key:${secret}`).slice(0, 12)}`);
  let text = "";
  while (text.length < CHECK_CHARS) {
    text += ALPHABET[Number(rest % 62n)];
    rest /= 62n;
  }
  return text;
}

/**
 * SHA-256 of a key, in hexadecimal: the stored form. Keys are long and random, so a slow
 * hash is not needed.
 */
export function keyHash(key: string): string {
  return sha256(key);
}

/** Compares two hashes in constant time. */
export function hashesEqual(one: string, other: string): boolean {
  return timingSafeEqual(ENCODER.encode(one), ENCODER.encode(other));
}

/** The part of an issued key that may be shown: enough to recognise it, too little to call with. */
export function keyHint(key: string): string {
  return `${key.slice(0, 7)}…${key.slice(-4)}`;
}

/** The one-shot `hash()`: creating a hash object costs more than the hashing. */
function sha256(text: string): string {
  return hash("sha256", text, "hex");
}

/** The error for an account token where an API key is needed. */
export function tokenInsteadOfKey(): ApiError {
  return new ApiError(
    "authentication",
    "this is an account token (at-…): it manages an account's keys and cannot call models; send an API key (sk-…)",
    { retryable: false },
  );
}

/** The error for a missing or wrong key; it reveals nothing about the store. */
export function invalidKey(presented: boolean): ApiError {
  return new ApiError(
    "authentication",
    presented
      ? "invalid API key: it is unknown, revoked or expired, or was changed in copying (a key contains no blanks or quotes)"
      : "no API key: send it as `x-api-key: KEY` or `authorization: Bearer KEY`",
    { retryable: false },
  );
}
