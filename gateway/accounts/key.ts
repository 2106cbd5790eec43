/**
 * The text of a key: how one is made, and the hash under which it is kept. A key itself is never stored.
 *
 * @module
 */
import { hash, timingSafeEqual } from "node:crypto";
import { ApiError } from "../../translate/error.ts";

const ALPHABET =
  "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const ENCODER = new TextEncoder();
const SECRET_CHARS = 40;
const CHECK_CHARS = 6;

/** Random bytes fetched ahead, each used once: asking for them costs more than they do. */
const POOL = new Uint8Array(4096);
let used = POOL.length;

/** Letters and digits drawn evenly from random bytes. */
export function randomText(length: number): string {
  let text = "";
  while (text.length < length) {
    if (used === POOL.length) {
      crypto.getRandomValues(POOL);
      used = 0;
    }
    const byte = POOL[used++] ?? 255;
    // 248 is the largest multiple of 62 below 256: what lies above would favour the first letters.
    if (byte < 248) text += ALPHABET[byte % 62];
  }
  return text;
}

/** A new key: `sk-`, 40 random letters and digits, 6 of checksum. */
export function newKey(): string {
  const secret = randomText(SECRET_CHARS);
  return `sk-${secret}${checksum(secret)}`;
}

/** Whether a text has the form and checksum of a key made by {@linkcode newKey}: a mistyped key can be told without a look-up. */
export function isWellFormed(key: string): boolean {
  const match = /^sk-([0-9A-Za-z]{40})([0-9A-Za-z]{6})$/.exec(key);
  return match !== null && checksum(match[1] ?? "") === match[2];
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

/** SHA-256 of a key, in hexadecimal: what is stored. Keys are long and random, so no slow hash is needed. */
export function keyHash(key: string): string {
  return sha256(key);
}

/** Compares two hashes in constant time. */
export function sameHash(one: string, other: string): boolean {
  return timingSafeEqual(ENCODER.encode(one), ENCODER.encode(other));
}

/** What may be shown of a key once it has been issued: enough to recognise it, useless to call with. */
export function keyHint(key: string): string {
  return `${key.slice(0, 7)}…${key.slice(-4)}`;
}

/** At once: an object for a hash that is fed piece by piece costs more than the hashing. */
function sha256(text: string): string {
  return hash("sha256", text, "hex");
}

/** The one answer to a missing or wrong key; it tells nothing of the store. */
export function invalidKey(presented: boolean): ApiError {
  return new ApiError(
    "authentication",
    presented
      ? "invalid API key: it is unknown, revoked or expired, or was changed in copying (no blanks or quotes belong to it)"
      : "no API key: send it as `x-api-key: KEY` or `authorization: Bearer KEY`",
    { retryable: false },
  );
}
