/**
 * Pairs the items of the whole reply, which the last frame of a stream repeats, with the items that
 * earlier frames contained. Some hosts give the repeated items other ids and other places, add
 * items before them, or split them.
 */
import {
  arrayOr,
  type JsonObject,
  objectOr,
  stringIn,
} from "../../bytes/json.ts";
import { isCall, type ItemState, kindOf } from "./item_state.ts";

/** An item of the whole reply, and the state of the same item in earlier frames. */
type PairedItem = readonly [whole: JsonObject, read?: ItemState];

/**
 * The items of the whole reply, in its order; without the state where no frame contained the item.
 * An item is recognized by its content, otherwise by its place among the items of its kind. One
 * whose text is a part of text that was read is a repetition and is left out.
 */
export function pairItems(
  read: Iterable<ItemState>,
  output: readonly JsonObject[],
): readonly PairedItem[] {
  const known = [...read];
  const left = new Set(known);
  const pairs = new Map<JsonObject, ItemState>();
  const pair = (isSame: (item: ItemState, whole: JsonObject) => boolean) => {
    for (const whole of output) {
      if (pairs.has(whole)) continue;
      const kind = kindOf(whole);
      for (const item of left) {
        if (item.kind !== kind || !isSame(item, whole)) continue;
        pairs.set(whole, item);
        left.delete(item);
        break;
      }
    }
  };
  pair(hasSameContent);
  pair(() => true);
  return output.flatMap((whole): readonly PairedItem[] => {
    const item = pairs.get(whole);
    if (item !== undefined) return [[whole, item]];
    const text = textIn(whole);
    const isRepeated = text !== "" &&
      known.some((other) =>
        other.kind === kindOf(whole) && textOf(other).includes(text)
      );
    return isRepeated ? [] : [[whole]];
  });
}

/** A closed item's text is the whole one; an open item has the beginning of it. */
function hasSameContent(item: ItemState, whole: JsonObject): boolean {
  if (isCall(item)) {
    return item.callId !== undefined && item.callId === whole["call_id"];
  }
  const text = textOf(item);
  const wholeText = textIn(whole);
  return text !== "" &&
    (item.closed ? text === wholeText : wholeText.startsWith(text));
}

/** The text of a message or of reasoning, as far as it was read. */
function textOf(item: ItemState): string {
  return isCall(item) ? "" : [...item.parts.values()].join("");
}

function textIn(whole: JsonObject): string {
  const summary = joinTexts(whole["summary"]);
  return summary === "" ? joinTexts(whole["content"]) : summary;
}

function joinTexts(parts: unknown): string {
  return arrayOr(parts).map((part) => {
    const { text, refusal } = objectOr(part);
    return stringIn(text) ?? stringIn(refusal) ?? "";
  }).join("");
}
