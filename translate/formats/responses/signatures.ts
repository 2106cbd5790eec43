/**
 * Signatures in this format. The `encrypted_content` of a reasoning item holds either the
 * upstream's own value or, after a tag, a signature of another format, which is sent back to that
 * format only.
 */
import type { Signature } from "../../model/request.ts";
import { isTagged, taggedValue, untag } from "../../turns/signature_tags.ts";

/**
 * Tags a signature that belongs to the call before the reasoning item, not to the call after it.
 */
const OF_CALL_BEFORE = "gw1:before:";

/** A decoded `encrypted_content`. */
interface ReadSignature {
  /** Absent if the value is tagged with an unknown format. */
  readonly signature?: Signature;
  /** True if the signature belongs to the call before the item. */
  readonly ofCallBefore: boolean;
}

/** Decodes an `encrypted_content`. */
export function readSignature(value: string): ReadSignature {
  const ofCallBefore = value.startsWith(OF_CALL_BEFORE);
  const bare = ofCallBefore ? value.slice(OF_CALL_BEFORE.length) : value;
  const signature = isTagged(bare)
    ? untag(bare)
    : { from: "responses" as const, value: bare };
  return {
    ...(signature === undefined ? {} : { signature }),
    ofCallBefore,
  };
}

/** Encodes a signature as an `encrypted_content`. */
export function writeSignature(
  signature: Signature,
  place: "own" | "call before" = "own",
): string {
  if (signature.from === "responses") return signature.value;
  const before = place === "call before" ? OF_CALL_BEFORE : "";
  return `${before}${taggedValue(signature)}`;
}
