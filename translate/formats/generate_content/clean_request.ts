/**
 * What changes in a passed-through request: signatures of other formats, which the gateway put into
 * earlier replies, and the thoughts that they belong to, are removed, and calls of other models
 * are signed.
 */
import type { CleanRequest } from "../../dialect.ts";
import type { Capabilities } from "../../model/capabilities.ts";
import {
  arrayOr,
  isObject,
  type JsonObject,
  objectOr,
} from "../../bytes/json.ts";
import { hasForeignSignature } from "./signatures.ts";
import { FOREIGN_CALL_SIGNATURE } from "./wire.ts";

/**
 * The contents without other formats' signatures, and with a signature of each step of the running
 * turn where the model demands one; undefined where nothing changes.
 */
export function cleanRequest(
  body: JsonObject,
  can: Capabilities,
): CleanRequest | undefined {
  const contents = arrayOr(body["contents"]);
  const cleaned = withoutForeign(contents, can);
  const signed = can.reasoning === "level" ? withSignedSteps(cleaned) : cleaned;
  return signed.length === contents.length &&
      signed.every((turn, index) => turn === contents[index])
    ? undefined
    : { fields: { contents: signed }, removed: [] };
}

/**
 * The turns without other formats' signatures and thoughts. A signature belongs to all thoughts
 * before it, which a client may keep in pieces; read from the end, it comes first.
 */
function withoutForeign(
  contents: readonly unknown[],
  can: Capabilities,
): readonly unknown[] {
  let isForeign = false;
  return contents.toReversed().flatMap((turn): readonly unknown[] => {
    const parts = partsOf(turn);
    const kept = parts.toReversed().flatMap((part) => {
      const isMarked = hasForeignSignature(part);
      isForeign = objectOr(part)["thought"] === true &&
        (isMarked || (isForeign && !isSigned(part)));
      return isForeign ? [] : [isMarked ? withoutMark(part, can) : part];
    }).toReversed();
    const isSame = kept.length === parts.length &&
      kept.every((part, index) => part === parts[index]);
    if (isSame || !isObject(turn)) return [turn];
    return kept.length === 0 ? [] : [{ ...turn, parts: kept }];
  }).toReversed();
}

/** A call or text keeps everything but the signature. */
function withoutMark(part: JsonObject, can: Capabilities): JsonObject {
  const { thoughtSignature: _, thought_signature: __, ...rest } = part;
  return isCall(rest) && can.reasoning === "level"
    ? { ...rest, thoughtSignature: FOREIGN_CALL_SIGNATURE }
    : rest;
}

/**
 * The turns with a signature on the first call of each step of the running turn: another model may
 * have made them.
 */
function withSignedSteps(turns: readonly unknown[]): readonly unknown[] {
  const start = turns.findLastIndex((turn) =>
    isUsers(turn) && partsOf(turn).some((part) => !isResult(part))
  );
  let hasCall = false;
  return turns.map((turn, index) => {
    if (index <= start || !isObject(turn) || isUsers(turn)) {
      hasCall = false;
      return turn;
    }
    const parts = partsOf(turn);
    const first = parts.findIndex(isCall);
    if (hasCall || first < 0) return turn;
    hasCall = true;
    const call = objectOr(parts[first]);
    if (isSigned(call)) return turn;
    const signed = { ...call, thoughtSignature: FOREIGN_CALL_SIGNATURE };
    return { ...turn, parts: parts.with(first, signed) };
  });
}

function isSigned(part: unknown): boolean {
  return isObject(part) &&
    ("thoughtSignature" in part || "thought_signature" in part);
}

function isUsers(turn: unknown): boolean {
  return objectOr(turn)["role"] !== "model";
}

function isCall(part: unknown): boolean {
  const { functionCall, function_call: call } = objectOr(part);
  return isObject(functionCall ?? call);
}

function isResult(part: unknown): boolean {
  const { functionResponse, function_response: result } = objectOr(part);
  return isObject(functionResponse ?? result);
}

function partsOf(turn: unknown): readonly unknown[] {
  return isObject(turn) ? arrayOr(turn["parts"]) : [];
}
