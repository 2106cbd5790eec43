/**
 * Signatures in replies in the messages format.
 */
import type { Signature } from "../../model/request.ts";
import { taggedValue } from "../../turns/signature_tags.ts";

/**
 * The signature of a `thinking` or `redacted_thinking` block: the dialect's own, or a tagged one of
 * another dialect.
 */
export function thinkingSignature(
  signature: Signature | undefined,
): Signature | undefined {
  if (signature === undefined || signature.from === "messages") {
    return signature;
  }
  const { redacted: _, ...proof } = signature;
  return { ...signature, value: taggedValue(proof) };
}
