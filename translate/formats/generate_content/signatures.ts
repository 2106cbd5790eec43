/**
 * Signatures of other formats in `thoughtSignature`. The field holds bytes, so client libraries
 * decode and encode its base64: a tagged signature is base64 as well.
 */
import { isObject, type JsonObject, textIn } from "../../bytes/json.ts";
import type { Signature } from "../../model/request.ts";
import {
  isTagged,
  taggedValue,
  UNSIGNED,
  untag,
} from "../../turns/signature_tags.ts";

/** How the base64 of every tag begins. */
const TAG_START = "Z3cxO";

/** The signature of a `thoughtSignature`; undefined where its tag is unknown. */
export function readSignature(value: string): Signature | undefined {
  const text = taggedText(value);
  return text === undefined ? { from: "generate_content", value } : untag(text);
}

/** The `thoughtSignature` of a signature; no field where there is none. */
export function signatureField(signature: Signature | undefined): JsonObject {
  if (signature === undefined) return {};
  return {
    thoughtSignature: signature.from === "generate_content"
      ? signature.value
      : base64Of(taggedValue(signature)),
  };
}

/**
 * The `thoughtSignature` of a thought of another model. One that its model did not sign is marked
 * all the same, so that it does not return to upstreams of this format.
 */
export function thoughtField(signature: Signature | undefined): JsonObject {
  return signature === undefined
    ? { thoughtSignature: base64Of(UNSIGNED) }
    : signatureField(signature);
}

/** Whether a part has a signature that the gateway tagged for another format. */
export function hasForeignSignature(part: unknown): part is JsonObject {
  if (!isObject(part)) return false;
  const value = textIn(part["thoughtSignature"]) ??
    textIn(part["thought_signature"]);
  return value !== undefined && taggedText(value) !== undefined;
}

function taggedText(value: string): string | undefined {
  if (!value.startsWith(TAG_START)) return undefined;
  const text = textOf(value);
  return isTagged(text) ? text : undefined;
}

function base64Of(text: string): string {
  let binary = "";
  for (const byte of new TextEncoder().encode(text)) {
    binary += String.fromCharCode(byte);
  }
  return btoa(binary);
}

function textOf(value: string): string | undefined {
  try {
    const binary = atob(standardBase64(value));
    return new TextDecoder().decode(
      Uint8Array.from(binary, (char) => char.charCodeAt(0)),
    );
  } catch {
    return undefined;
  }
}

/** Base64 in the usual alphabet, padded: client libraries of this format write that of URLs. */
export function standardBase64(data: string): string {
  const missing = (4 - data.length % 4) % 4;
  const padded = missing === 0 ? data : data + "=".repeat(missing);
  return /[-_]/.test(padded)
    ? padded.replaceAll("-", "+").replaceAll("_", "/")
    : padded;
}
