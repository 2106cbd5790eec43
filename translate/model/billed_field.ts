/**
 * Request fields that change what a vendor bills, beside the number of tokens. Which price each has
 * is the gateway's matter.
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

/** A field that only requests of the client's format have. */
function ownField(path: string, ask: BilledAsk): BilledField {
  return { path, ask, isTranslated: false };
}

/** A field that asks for a tool which the vendor runs, at most so often. */
export function useField(
  path: string,
  tool: string,
  most?: number,
): BilledField {
  return ownField(path, {
    type: "use",
    tool,
    ...(most === undefined ? {} : { most }),
  });
}

/** A field that lets another model answer. */
export function modelField(path: string, model: unknown): BilledField {
  return ownField(path, { type: "model", model: textIn(model) ?? "" });
}

/** A kind of output that is billed apart; none for other words. */
export function modalityField(
  path: string,
  word: unknown,
): readonly BilledField[] {
  if (word !== "audio" && word !== "image") return NONE;
  const figure = word === "audio" ? "audioOutput" : "imageOutput";
  return [ownField(path, { type: "tokens", figure })];
}

/** A part of the prompt whose tokens are billed apart, whatever the format. */
export function partField(
  path: string,
  figure: "audioInput" | "cacheWrite1h" | "cacheWrite12h",
): BilledField {
  return { path, ask: { type: "tokens", figure }, isTranslated: true };
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
  return found.map((path) => ownField(path, { type: "payer" }));
}

const NONE: readonly BilledField[] = [];

/** A field with a word for how the request is served; none if it is absent. */
export function modeField(
  path: string,
  type: "tier" | "speed" | "region",
  value: unknown,
): readonly BilledField[] {
  const word = textIn(value);
  return word === undefined ? NONE : [ownField(path, { type, value: word })];
}
