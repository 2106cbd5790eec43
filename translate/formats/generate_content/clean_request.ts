/**
 * What is removed from a passed-through request: signatures of other formats, which the gateway put
 * into earlier replies, and the thoughts that they belong to.
 */
import type { CleanRequest } from "../../dialect.ts";
import type { Capabilities } from "../../model/capabilities.ts";
import { arrayOr, isObject, type JsonObject } from "../../bytes/json.ts";
import { hasForeignSignature } from "./signatures.ts";
import { FOREIGN_CALL_SIGNATURE } from "./wire.ts";

/** The contents without other formats' signatures; undefined where there are none. */
export function cleanRequest(
  body: JsonObject,
  can: Capabilities,
): CleanRequest | undefined {
  const contents = arrayOr(body["contents"]);
  if (!contents.some((turn) => partsOf(turn).some(hasForeignSignature))) {
    return undefined;
  }
  const cleaned = contents.flatMap((turn): readonly unknown[] => {
    const parts = partsOf(turn);
    if (!isObject(turn) || !parts.some(hasForeignSignature)) return [turn];
    const kept = parts.flatMap((part) => cleanPart(part, can));
    return kept.length === 0 ? [] : [{ ...turn, parts: kept }];
  });
  return { fields: { contents: cleaned }, removed: [] };
}

function partsOf(turn: unknown): readonly unknown[] {
  return isObject(turn) ? arrayOr(turn["parts"]) : [];
}

/** A thought of another model is removed; a call or text keeps everything but the signature. */
function cleanPart(part: unknown, can: Capabilities): readonly unknown[] {
  if (!hasForeignSignature(part)) return [part];
  if (part["thought"] === true) return [];
  const { thoughtSignature: _, thought_signature: __, ...rest } = part;
  const isCall = rest["functionCall"] ?? rest["function_call"];
  return isCall !== undefined && can.reasoning === "level"
    ? [{ ...rest, thoughtSignature: FOREIGN_CALL_SIGNATURE }]
    : [rest];
}
