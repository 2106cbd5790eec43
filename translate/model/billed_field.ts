/**
 * Request fields that change what a vendor bills, beside the number of tokens. Which price each has
 * is the gateway's matter.
 */
import {
  countIn,
  isObject,
  type JsonObject,
  listOf,
  objectOr,
  textIn,
} from "../bytes/json.ts";
import { invalidField } from "./error.ts";
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
  | { readonly type: "payer" }
  /** Another company serves the reply, at a price of its own. */
  | { readonly type: "provider" };

/** A field that is billed, and what it asks for. */
export interface BilledField {
  /** In the client's words: `tools[0]`. */
  readonly path: string;
  readonly ask: BilledAsk;
  /** Whether a request in another format asks for it as well. */
  readonly isTranslated: boolean;
  /** True where models of other formats that search the web are asked for it. */
  readonly isSearch?: true;
}

/** A field that only requests of the client's format have. */
function ownField(path: string, ask: BilledAsk): BilledField {
  return { path, ask, isTranslated: false };
}

/**
 * The name of a vendor's tool, as a rate for its uses has it: the type without its date. A type
 * that is no text has none that a rate could have.
 */
export function toolName(type: unknown): string {
  const word = typeof type === "string" ? type : JSON.stringify(type);
  return word.toLowerCase().replace(/_\d{4}_?\d\d_?\d\d$/, "")
    .replaceAll(/\W/g, "_").slice(0, 64);
}

/**
 * The most uses of a tool; undefined where they are not bounded.
 *
 * @throws {ApiError} `invalid_request` for what a vendor may read as another number
 */
export function mostUses(value: unknown, path: string): number | undefined {
  const most = countIn(value);
  if (most === undefined && value !== undefined && value !== null) {
    throw invalidField(path, "must be a number of uses");
  }
  return most;
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

/** Figures of kinds of output that are billed apart. An unknown kind may be any of them. */
const MODALITIES: ReadonlyMap<
  unknown,
  readonly ("audioOutput" | "imageOutput")[]
> = new Map([
  ["text", []],
  ["modality_unspecified", []],
  ["audio", ["audioOutput"]],
  ["image", ["imageOutput"]],
]);

/** The kinds of output that are billed apart. */
export function modalityFields(
  path: string,
  modalities: unknown,
): readonly BilledField[] {
  return listOf(modalities).flatMap((word, at) =>
    (MODALITIES.get(typeof word === "string" ? word.toLowerCase() : word) ??
      ["audioOutput", "imageOutput"] as const).map((figure) =>
        ownField(Array.isArray(modalities) ? `${path}[${at}]` : path, {
          type: "tokens",
          figure,
        })
      )
  );
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

/** What the choice of a provider may state without a change of price. */
const UNPRICED_CHOICES: ReadonlySet<string> = new Set([
  "allow_fallbacks",
  "data_collection",
  "require_parameters",
  "zdr",
]);

/** A field that chooses which company serves the reply. */
export function providerField(
  path: string,
  value: unknown,
): readonly BilledField[] {
  if (value === undefined || value === null) return NONE;
  const isUnpriced = isObject(value) &&
    Object.keys(value).every((key) => UNPRICED_CHOICES.has(key));
  return isUnpriced ? NONE : [ownField(path, { type: "provider" })];
}

const NONE: readonly BilledField[] = [];

/**
 * A field with a word for how the request is served; none if it is absent. What is no word is one
 * that no card has: a vendor may read a number or a list for it.
 */
export function modeField(
  path: string,
  type: "tier" | "speed" | "region",
  value: unknown,
): readonly BilledField[] {
  if (value === undefined || value === null || value === "") return NONE;
  const word = typeof value === "string" ? value : JSON.stringify(value);
  return [ownField(path, { type, value: word })];
}
