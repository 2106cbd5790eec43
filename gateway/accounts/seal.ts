/**
 * Seals stored replies for the key of the client that received them. Two keys are derived from the
 * client's own key: one encrypts, the other turns ids into the addresses under which rows are
 * stored. The store holds only a hash of the client's key, so its rows can neither be read nor be
 * attributed to an id without a key that the client alone has; another client's key finds nothing.
 */
import { Buffer } from "node:buffer";
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
} from "node:crypto";

/** Encrypts and addresses the rows of one key. */
export interface Seal {
  /** The address of a row: the same for the same key and id, unrelated for another key. */
  addressOf(kind: "reply" | "item", id: string): string;
  /** Encrypts a text for the row at an address. */
  close(address: string, text: string): Promise<string>;
  /**
   * Decrypts the row at an address.
   *
   * @throws {Error} for a text of another key or another address, or one that was changed
   */
  open(address: string, sealed: string): Promise<string>;
  /** As {@linkcode Seal.open}; returns the text as UTF-8. */
  openBytes(address: string, sealed: string): Promise<Uint8Array>;
}

const ENCODER = new TextEncoder();
const DECODER = new TextDecoder();
/** Binds the derived keys to their purpose. */
const SALT = "model-gateway stored replies";
/** Length of the nonce of AES-GCM, which is random per row. */
const NONCE_BYTES = 12;
/** Length of the tag of AES-GCM, which follows the encrypted text. */
const TAG_BYTES = 16;
/** First characters of every sealed text: the version of this scheme. */
const VERSION = "1.";
/**
 * Longest text that is encrypted on the event loop, about 0.2 ms. WebCrypto encrypts longer ones on
 * a thread of its own; for short ones the way there and back takes longer than the encryption.
 */
const LOOP_BYTES = 32_768;

/** Derives the seal of a client's key: HKDF with SHA-256, AES-256-GCM, HMAC with SHA-256. */
export function deriveSeal(key: string): Seal {
  const derive = (purpose: string): Uint8Array<ArrayBuffer> =>
    new Uint8Array(hkdfSync("sha256", key, SALT, purpose, 32));
  const cipher = derive("encryption");
  const mac = derive("addresses");
  let imported: Promise<CryptoKey> | undefined;
  const threadKey = (): Promise<CryptoKey> =>
    imported ??= crypto.subtle.importKey("raw", cipher, "AES-GCM", false, [
      "encrypt",
      "decrypt",
    ]);
  const openBytes: Seal["openBytes"] = async (address, sealed) => {
    if (!sealed.startsWith(VERSION)) {
      throw new Error("a stored reply has an unknown seal");
    }
    const bytes = new Uint8Array(
      Buffer.from(sealed.slice(VERSION.length), "base64"),
    );
    const nonce = bytes.subarray(0, NONCE_BYTES);
    const encrypted = bytes.subarray(NONCE_BYTES);
    return encrypted.length <= LOOP_BYTES
      ? decryptNow(cipher, nonce, address, encrypted)
      : new Uint8Array(
        await crypto.subtle.decrypt(
          parameters(address, nonce),
          await threadKey(),
          encrypted,
        ),
      );
  };
  return {
    addressOf: (kind, id) =>
      createHmac("sha256", mac).update(`${kind} ${id}`).digest("base64url"),
    async close(address, text) {
      const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
      const plain = ENCODER.encode(text);
      const encrypted = plain.length <= LOOP_BYTES
        ? encryptNow(cipher, nonce, address, plain)
        : [
          new Uint8Array(
            await crypto.subtle.encrypt(
              parameters(address, nonce),
              await threadKey(),
              plain,
            ),
          ),
        ];
      return VERSION + Buffer.concat([nonce, ...encrypted]).toString("base64");
    },
    open: async (address, sealed) =>
      DECODER.decode(await openBytes(address, sealed)),
    openBytes,
  };
}

function parameters(address: string, nonce: Uint8Array<ArrayBuffer>) {
  return {
    name: "AES-GCM",
    iv: nonce,
    // A row that was moved to another address cannot be read.
    additionalData: ENCODER.encode(address),
  };
}

/** The encrypted text and its tag, as WebCrypto returns them in one piece. */
function encryptNow(
  key: Uint8Array,
  nonce: Uint8Array,
  address: string,
  plain: Uint8Array,
): readonly Uint8Array[] {
  const cipher = createCipheriv("aes-256-gcm", key, nonce);
  cipher.setAAD(ENCODER.encode(address));
  return [cipher.update(plain), cipher.final(), cipher.getAuthTag()];
}

/** @throws {Error} if the tag is not that of the key, the address and the bytes */
function decryptNow(
  key: Uint8Array,
  nonce: Uint8Array,
  address: string,
  encrypted: Uint8Array,
): Uint8Array {
  if (encrypted.length < TAG_BYTES) {
    throw new Error("a stored reply is too short");
  }
  const end = encrypted.length - TAG_BYTES;
  const decipher = createDecipheriv("aes-256-gcm", key, nonce);
  decipher.setAAD(ENCODER.encode(address));
  decipher.setAuthTag(encrypted.subarray(end));
  return Buffer.concat([
    decipher.update(encrypted.subarray(0, end)),
    decipher.final(),
  ]);
}
