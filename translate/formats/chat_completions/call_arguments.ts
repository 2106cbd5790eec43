/**
 * The arguments of one call as one JSON document. Hosts send them in pieces that follow each other,
 * but also repeat what has come so far, send the finished document once more, an empty object before
 * it, or an object in place of text.
 */
import { upstreamJson } from "../../bytes/exact_json.ts";
import { isObject, type JsonObject, parseJson } from "../../bytes/json.ts";
import { jsonScan } from "./json_scan.ts";

/** Gathers the arguments of one call. */
export interface CallArguments {
  /**
   * Adds a piece; gives the text that is new.
   *
   * @param isWhole whether it is the whole document so far, which a later one may replace
   */
  add(piece: string, isWhole?: boolean): string;
  /** Whether there is a whole document. */
  isComplete(): boolean;
  /** The text that was held back because another document might replace it; no piece may follow. */
  end(): string;
}

/** The object that some hosts send before the arguments. */
const EMPTY = "{}";

export function callArguments(): CallArguments {
  const scan = jsonScan();
  let soFar = "";
  let held: string | undefined;
  const follow = (piece: string): string => {
    scan.feed(piece);
    soFar += piece;
    return piece;
  };
  return {
    add(piece, isWhole = false) {
      if (piece.trim() === "" && (held !== undefined || scan.complete())) {
        return "";
      }
      const mayBeHeld = soFar === "" && (isWhole || piece.trim() === EMPTY);
      if (mayBeHeld) {
        held = piece;
        return "";
      }
      if (held !== undefined && held.trim() !== EMPTY) return "";
      held = undefined;
      if (scan.complete()) return "";
      return repeats(piece, soFar)
        ? follow(piece.slice(soFar.length))
        : follow(piece);
    },
    isComplete: () => held !== undefined || scan.complete(),
    end: () => held ?? "",
  };
}

/**
 * Whether a piece begins with all that has come before it. One that closes more than it opens
 * follows it instead.
 */
function repeats(piece: string, soFar: string): boolean {
  if (soFar.trim() === "" || !piece.startsWith(soFar)) return false;
  const scan = jsonScan();
  scan.feed(piece);
  return !scan.complete() || parseJson(piece) !== undefined;
}

/** The arguments of a called function as JSON text. Some vendors send an object instead. */
export function argumentsIn(
  { arguments: value }: JsonObject,
): { readonly text: string; readonly isWhole?: true } {
  if (typeof value === "string") return { text: value };
  return isObject(value)
    ? { text: upstreamJson(value), isWhole: true }
    : { text: "" };
}
