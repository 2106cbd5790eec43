/**
 * Seals the secrets that the gateway itself needs in clear text later, such as those that sign
 * webhooks, with a key that is not in the database: a file beside it, or a setting. A copy of the
 * database alone, such as a backup, has none of them.
 */
import { Buffer } from "node:buffer";
import {
  createCipheriv,
  createDecipheriv,
  hkdfSync,
  randomBytes,
} from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";

/** Seals texts; each is bound to the record that it belongs to. */
export interface SecretSeal {
  /** Encrypts a text for a record. */
  close(record: string, text: string): string;
  /**
   * Decrypts the text of a record; undefined if it was sealed with another key or for another
   * record.
   */
  open(record: string, sealed: string): string | undefined;
}

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const EMPTY_TRIES = 200;
const EMPTY_PAUSE_MS = 5;
/** First characters of every sealed text: the version of this scheme. */
const VERSION = "sealed1.";

/** Whether a text is sealed: those of older versions are not. */
export function isSealed(text: string): boolean {
  return text.startsWith(VERSION);
}

/** A seal with AES-256-GCM. `key` has 32 bytes. */
function secretSeal(key: Uint8Array): SecretSeal {
  return {
    close(record, text) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", key, nonce);
      cipher.setAAD(new TextEncoder().encode(record));
      const bytes = [
        nonce,
        cipher.update(new TextEncoder().encode(text)),
        cipher.final(),
        cipher.getAuthTag(),
      ];
      return VERSION + Buffer.concat(bytes).toString("base64");
    },
    open(record, sealed) {
      if (!isSealed(sealed)) return undefined;
      const bytes = Buffer.from(sealed.slice(VERSION.length), "base64");
      if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined;
      const end = bytes.length - TAG_BYTES;
      const decipher = createDecipheriv(
        "aes-256-gcm",
        key,
        bytes.subarray(0, NONCE_BYTES),
      );
      decipher.setAAD(new TextEncoder().encode(record));
      decipher.setAuthTag(bytes.subarray(end));
      try {
        return Buffer.concat([
          decipher.update(bytes.subarray(NONCE_BYTES, end)),
          decipher.final(),
        ]).toString();
      } catch {
        return undefined;
      }
    },
  };
}

/** The seal of a long random text that all processes on a store have. */
export function textSeal(text: string): SecretSeal {
  return secretSeal(
    new Uint8Array(hkdfSync("sha256", text, "", "gateway store", KEY_BYTES)),
  );
}

/** A seal that ends with the process, for a store in memory. */
export function passingSeal(): SecretSeal {
  return secretSeal(randomBytes(KEY_BYTES));
}

/**
 * The seal of the key in a file, which is made for this user alone if it is missing.
 *
 * @throws {Error} if the file can be neither read nor made, or holds no key
 */
export function fileSeal(path: string): SecretSeal {
  try {
    writeFileSync(path, randomBytes(KEY_BYTES), { flag: "wx", mode: 0o600 });
  } catch (error) {
    // Another process has made it at the same time.
    const { code } = error as { readonly code?: unknown };
    if (code !== "EEXIST") throw error;
  }
  const pause = new Int32Array(new SharedArrayBuffer(4));
  let key = readFileSync(path);
  // Another start may have made the file, and not written it yet.
  for (let tries = 0; key.length === 0 && tries < EMPTY_TRIES; tries++) {
    Atomics.wait(pause, 0, 0, EMPTY_PAUSE_MS);
    key = readFileSync(path);
  }
  if (key.length !== KEY_BYTES) {
    throw new Error(
      `could not read ${path}: it does not hold the 32 bytes that seal the store's secrets`,
    );
  }
  return secretSeal(key);
}
