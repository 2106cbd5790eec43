/**
 * Writes a JSON value in pieces of bounded size: together they equal `JSON.stringify`.
 */

/** Characters of a piece, about. */
const PIECE_CHARS = 128 * 1024;
/** Keys and values of a piece at most. */
const PIECE_VALUES = 2_048;
/** A container is written at once if it has at most so many values, which are all short. */
const FEW_VALUES = 64;
const SHORT_CHARS = 1_024;

/** The text of a value that was parsed from JSON or made for it. */
export function* jsonPieces(value: unknown): Generator<string, void, void> {
  let text = "";
  let values = 0;
  function* put(more: string): Generator<string, void, void> {
    text += more;
    if (++values < PIECE_VALUES && text.length < PIECE_CHARS) return;
    const piece = text;
    text = "";
    values = 0;
    yield piece;
  }
  function* write(value: unknown): Generator<string, void, void> {
    if (typeof value === "string" && value.length > PIECE_CHARS) {
      yield* put('"');
      for (let from = 0; from < value.length;) {
        const to = pairEnd(value, from + PIECE_CHARS);
        yield* put(JSON.stringify(value.slice(from, to)).slice(1, -1));
        from = to;
      }
      yield* put('"');
    } else if (!isLarge(value)) {
      yield* put(JSON.stringify(value) ?? "null");
    } else if (Array.isArray(value)) {
      let before = "[";
      for (const inner of value) {
        yield* put(before);
        yield* write(inner);
        before = ",";
      }
      yield* put("]");
    } else {
      let before = "{";
      // A list of all entries would cost more than writing them.
      for (const key in value) {
        const inner: unknown = Reflect.get(value, key);
        if (inner === undefined) continue;
        yield* put(`${before}${JSON.stringify(key)}:`);
        yield* write(inner);
        before = ",";
      }
      yield* put(before === "{" ? "{}" : "}");
    }
  }
  yield* write(value);
  if (text !== "") yield text;
}

/** Whether a value may be too large to be written at once. */
function isLarge(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  // A number that keeps its text (see `exact_json.ts`).
  if (Object.getPrototypeOf(value) === null && Object.isFrozen(value)) {
    return false;
  }
  let count = 0;
  for (const key in value) {
    const one: unknown = Reflect.get(value, key);
    const isShort = typeof one === "string"
      ? one.length <= SHORT_CHARS
      : typeof one !== "object" || one === null;
    if (!isShort || ++count > FEW_VALUES) return true;
  }
  return false;
}

/** A position near another one that is not inside a pair of surrogates. */
export function pairEnd(text: string, at: number): number {
  const unit = text.charCodeAt(at - 1);
  return at < text.length && unit >= 0xd800 && unit <= 0xdbff ? at - 1 : at;
}
