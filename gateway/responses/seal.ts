/**
 * Seals stored replies for the key of the client that received them. Two keys are derived from the
 * client's own key: one encrypts, the other turns ids into the addresses under which rows are
 * stored. The store holds only a hash of the client's key, so its rows can neither be read nor be
 * attributed to an id without a key that the client alone has; another client's key finds nothing.
 *
 * @module
 */
import { Buffer } from "node:buffer";

/** Encrypts and addresses the rows of one key. */
export interface Seal {
  /** The address of a row: the same for the same key and id, unrelated for another key. */
  addressOf(kind: "reply" | "item", id: string): Promise<string>;
  /** Encrypts a text for the row at an address. */
  close(address: string, text: string): Promise<string>;
  /**
   * Decrypts the row at an address.
   *
   * @throws {Error} for a text of another key or another address, or one that was changed
   */
  open(address: string, sealed: string): Promise<string>;
}

const ENCODER = new TextEncoder();
const DECODER = new TextDecoder();
/** Binds the derived keys to their purpose. */
const SALT = ENCODER.encode("model-gateway stored replies");
/** Of AES-GCM; random per row. */
const NONCE_BYTES = 12;
/** First characters of every sealed text: the version of this scheme. */
const VERSION = "1.";

/** Derives the seal of a client's key: HKDF with SHA-256, AES-256-GCM, HMAC with SHA-256. */
export async function deriveSeal(key: string): Promise<Seal> {
  const { subtle } = crypto;
  const secret = await subtle.importKey(
    "raw",
    ENCODER.encode(key),
    "HKDF",
    false,
    ["deriveKey"],
  );
  const derive = <T extends KeyUsage>(
    purpose: string,
    algorithm: AesKeyAlgorithm | HmacKeyGenParams,
    usages: T[],
  ): Promise<CryptoKey> =>
    subtle.deriveKey(
      {
        name: "HKDF",
        hash: "SHA-256",
        salt: SALT,
        info: ENCODER.encode(purpose),
      },
      secret,
      algorithm,
      false,
      usages,
    );
  const [cipher, mac] = await Promise.all([
    derive("encryption", { name: "AES-GCM", length: 256 }, [
      "encrypt",
      "decrypt",
    ]),
    derive("addresses", { name: "HMAC", hash: "SHA-256", length: 256 }, [
      "sign",
    ]),
  ]);
  const parameters = (address: string, nonce: Uint8Array<ArrayBuffer>) => ({
    name: "AES-GCM",
    iv: nonce,
    // A row that was moved to another address cannot be read.
    additionalData: ENCODER.encode(address),
  });
  return {
    async addressOf(kind, id) {
      const signed = await subtle.sign(
        "HMAC",
        mac,
        ENCODER.encode(`${kind} ${id}`),
      );
      return Buffer.from(signed).toString("base64url");
    },
    async close(address, text) {
      const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
      const encrypted = await subtle.encrypt(
        parameters(address, nonce),
        cipher,
        ENCODER.encode(text),
      );
      return VERSION +
        Buffer.concat([nonce, new Uint8Array(encrypted)]).toString("base64");
    },
    async open(address, sealed) {
      if (!sealed.startsWith(VERSION)) {
        throw new Error("a stored reply has an unknown seal");
      }
      const bytes = Uint8Array.from(
        Buffer.from(sealed.slice(VERSION.length), "base64"),
      );
      return DECODER.decode(
        await subtle.decrypt(
          parameters(address, bytes.subarray(0, NONCE_BYTES)),
          cipher,
          bytes.subarray(NONCE_BYTES),
        ),
      );
    },
  };
}
