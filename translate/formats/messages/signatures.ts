/**
 * Signatures in replies in the messages format.
 */
import { type JsonObject } from "../../bytes/json.ts";
import type { Signature } from "../../model/request.ts";
import { taggedValue } from "../../turns/signature_tags.ts";

/**
 * The signature of a `thinking` or `redacted_thinking` block: the dialect's own, or a tagged one of
 * another dialect whose signed reasoning is sent back too. Undefined for other signatures.
 */
export function thinkingSignature(
  signature: Signature | undefined,
): Signature | undefined {
  if (signature === undefined || signature.from === "messages") {
    return signature;
  }
  if (signature.from === "generate_content") return undefined;
  const { redacted: _, ...proof } = signature;
  return { ...signature, value: taggedValue(proof) };
}

/**
 * The field of a `tool_use` block that carries another dialect's signature of the call, named as
 * that vendor names it in the chat format. `decode_messages.ts` decodes it; `clean_request.ts`
 * removes it from requests to upstreams of this dialect.
 */
export function signatureField(signature: Signature | undefined): JsonObject {
  return signature?.from === "generate_content"
    ? {
      extra_content: { google: { thought_signature: signature.value } },
    }
    : {};
}
