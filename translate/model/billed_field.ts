/**
 * Request fields that change what a vendor bills, beside the number of tokens. Which price each has is
 * the gateway's matter.
 */
import { isObject, type JsonObject, objectOr, textIn } from "../bytes/json.ts";
import type { Usage } from "./reply.ts";

/** What a field asks for. */
export type BilledAsk =
  /** How the request is served, in the client's word. */
  | { readonly type: "tier" | "speed" | "region"; readonly value: string }
  /** Tokens of a kind that only requests with the field can cause. */
  | {
    readonly type: "tokens";
    readonly figure: keyof Pick<
      Usage,
      | "cacheWrite1h"
      | "cacheWrite12h"
      | "audioInput"
      | "audioOutput"
      | "imageOutput"
    >;
  }
  /** A tool that the vendor runs; `most` uses, where the request bounds them. */
  | { readonly type: "use"; readonly tool: string; readonly most?: number }
  /** Another model that may serve the reply or a part of it, by the vendor's id. */
  | { readonly type: "model"; readonly model: string }
  /** Somebody else pays. */
  | { readonly type: "payer" };

/** A field that is billed, and what it asks for. */
export interface BilledField {
  /** In the client's words: `tools[0]`. */
  readonly path: string;
  readonly ask: BilledAsk;
  /** Whether a request in another format asks for it as well. */
  readonly isTranslated: boolean;
}

/** Fields of every format that choose who pays. */
export function payerFields(body: JsonObject): readonly BilledField[] {
  const policy = body["billing_policy"];
  // Almost no request has them.
  if (policy === undefined && body["bill_to"] === undefined) return NONE;
  const found: string[] = [];
  const to = objectOr(policy)["bill_to"];
  if (policy !== null && policy !== undefined && (to ?? "self") !== "self") {
    found.push("billing_policy");
  } else if (policy !== undefined && policy !== null && !isObject(policy)) {
    found.push("billing_policy");
  }
  if ((body["bill_to"] ?? null) !== null) found.push("bill_to");
  return found.map((path) => ({
    path,
    ask: { type: "payer" },
    isTranslated: false,
  }));
}

const NONE: readonly BilledField[] = [];

/** A field with a word for how the request is served; none if it is absent. */
export function modeField(
  path: string,
  type: "tier" | "speed" | "region",
  value: unknown,
): readonly BilledField[] {
  const word = textIn(value);
  return word === undefined
    ? NONE
    : [{ path, ask: { type, value: word }, isTranslated: false }];
}
