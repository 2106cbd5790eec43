/**
 * A signature of the generate-content format in `extra_content.google.thought_signature`, where
 * Google's chat endpoint puts those of calls and of messages
 * (https://ai.google.dev/gemini-api/docs/openai, mozilla-ai/any-llm#1320). The gateway's replies in
 * other formats carry it in the same field of the call or the text.
 */
import { isObject, type JsonObject, objectOr, textIn } from "../bytes/json.ts";
import type { Signature } from "../model/request.ts";
import { isTagged, taggedValue, untag } from "./signature_tags.ts";

/** The value in the field of a call or a text; undefined where there is none. */
export function carriedValue(carrier: unknown): string | undefined {
  const { google } = objectOr(objectOr(carrier)["extra_content"]);
  return textIn(objectOr(google)["thought_signature"]);
}

/** The signature of a call or a text, tagged by the gateway or as Google sent it. */
export function carriedSignature(carrier: unknown): Signature | undefined {
  const value = carriedValue(carrier);
  if (value === undefined) return undefined;
  return isTagged(value) ? untag(value) : { from: "generate_content", value };
}

/** The same as a field of a part of a request. */
export function signedBy(carrier: unknown): { signature?: Signature } {
  const signature = carriedSignature(carrier);
  return signature === undefined ? {} : { signature };
}

/**
 * The value of `extra_content` for a signature; undefined where the field cannot carry it.
 *
 * @param form `tagged` for a client whose upstreams have the field, too: only the gateway's own are
 * removed from its requests
 */
export function extraContent(
  signature: Signature | undefined,
  form: "tagged" | "bare",
): JsonObject | undefined {
  if (signature?.from !== "generate_content") return undefined;
  const value = form === "bare" ? signature.value : taggedValue(signature);
  return { google: { thought_signature: value } };
}

/** The field for a client whose upstreams do not have it; no field for other signatures. */
export function extraField(signature: Signature | undefined): JsonObject {
  const extra = extraContent(signature, "bare");
  return extra === undefined ? {} : { extra_content: extra };
}

/** A call or text without the signature; its other fields are the client's and stay. */
export function withoutCarried<T>(carrier: T): T | JsonObject {
  if (!isObject(carrier) || carriedValue(carrier) === undefined) return carrier;
  const { extra_content: extra, ...copy } = carrier;
  const { google, ...others } = objectOr(extra);
  const { thought_signature: _, ...rest } = objectOr(google);
  const left = Object.keys(rest).length > 0
    ? { ...others, google: rest }
    : others;
  return Object.keys(left).length > 0 ? { ...copy, extra_content: left } : copy;
}
