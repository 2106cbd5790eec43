/**
 * Spoils JSON by its structure, for tests: fields are removed, swapped, renamed, given other types,
 * copied, moved, duplicated and nested. The same seed gives the same bodies.
 */
import { isObject } from "../../../translate/bytes/json.ts";

/** Returns a pseudo-random integer from 0 up to, but not including, `below`. */
export type Dice = (below: number) => number;

/** A seeded generator (mulberry32). */
export function diceOf(seed: number): Dice {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor(((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296 * below);
  };
}

export function pick<T>(dice: Dice, list: readonly T[]): T {
  const picked = list[dice(list.length)];
  if (picked === undefined) throw new Error("nothing to pick from");
  return picked;
}

type Holder = unknown[] | Record<string, unknown>;

/** A value inside a body: its array or object, and its key there. */
interface Place {
  readonly holder: Holder;
  readonly key: string | number;
}

/** Values of wrong types and sizes. */
const ODD: readonly (() => unknown)[] = [
  () => null,
  () => true,
  () => false,
  () => 0,
  () => -1,
  () => 1.5,
  () => 1e308,
  () => 2 ** 53,
  () => "",
  () => " ",
  () => "text",
  () => "__proto__",
  () => "\ud800",
  () => "ünïcödé\u0000\r\n",
  () => "https://127.0.0.1/a.png",
  () => "data:image/png;base64,AAAA",
  () => "data:,%",
  () => "x".repeat(20_000),
  () => [],
  () => [[]],
  () => [null],
  () => [0, "", {}],
  () => ({}),
  () => ({ type: "text" }),
  () => ({ type: "text", text: "t" }),
  () => ({ type: null }),
  () => ({ type: "__proto__" }),
  () => ({ role: "user", content: [] }),
  () => ({ toString: 1, constructor: 2, length: -1 }),
  () => nested(40),
  () => nested(1_000),
  () => `{"a":[12345678901234567890,${'{"5":'.repeat(40)}1${"}".repeat(40)}]}`,
  () => `${'{"5":'.repeat(9_000)}1${"}".repeat(9_000)}`,
  () =>
    `{"a":[12345678901234567890,${"[".repeat(3_500)}`.concat(
      "]".repeat(3_501),
      "}",
    ),
];

function nested(depth: number): unknown {
  let value: unknown = {};
  for (let level = 0; level < depth; level++) {
    value = level % 2 === 0 ? [value] : { items: value };
  }
  return value;
}

/** Values of `role` and `type` that distinguish parts, turns, tools and events. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  role: ["user", "assistant", "system", "developer", "tool", "function"],
  type: [
    "text",
    "image",
    "image_url",
    "document",
    "file",
    "input_audio",
    "refusal",
    "search_result",
    "thinking",
    "redacted_thinking",
    "tool_use",
    "tool_result",
    "tool_reference",
    "server_tool_use",
    "web_search_tool_result",
    "container_upload",
    "compaction",
    "function",
    "custom",
    "allowed_tools",
    "web_search_20250305",
    "base64",
    "url",
    "content",
    "json_schema",
    "json_object",
    "enabled",
    "disabled",
    "adaptive",
    "auto",
    "any",
    "tool",
    "none",
    "object",
    "string",
    "array",
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
    "text_delta",
    "input_json_delta",
    "thinking_delta",
    "signature_delta",
    "citations_delta",
    "error",
    "message",
    "input_text",
    "output_text",
    "input_image",
    "input_file",
    "reasoning",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "additional_tools",
    "namespace",
    "item_reference",
    "response.output_item.added",
    "response.output_item.done",
    "response.output_text.delta",
    "response.function_call_arguments.done",
    "response.incomplete",
    "response.completed",
    "response.failed",
  ],
};

/** At most this many places of a body are collected; a deep or long body has more. */
const MAX_PLACES = 4_000;

function placesOf(body: unknown): readonly Place[] {
  const places: Place[] = [];
  const waiting: unknown[] = [body];
  for (const value of waiting) {
    if (places.length > MAX_PLACES) break;
    if (Array.isArray(value)) {
      for (let key = 0; key < value.length; key++) {
        places.push({ holder: value, key });
        waiting.push(value[key]);
      }
    } else if (isObject(value)) {
      const holder: Record<string, unknown> = value;
      for (const key of Object.keys(holder)) {
        places.push({ holder, key });
        waiting.push(holder[key]);
      }
    }
  }
  return places;
}

function at({ holder, key }: Place): unknown {
  return Reflect.get(holder, key);
}

function put({ holder, key }: Place, value: unknown): void {
  // Defined, not assigned, because a key may be `__proto__`.
  Reflect.defineProperty(holder, key, {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  });
}

function taken({ holder, key }: Place): void {
  if (Array.isArray(holder)) holder.splice(Number(key), 1);
  else Reflect.deleteProperty(holder, key);
}

/** A deep copy of a JSON value. Nothing is shared, so that no spoiled body contains itself. */
function copy(value: unknown): unknown {
  return value === undefined ? null : JSON.parse(jsonOf(value));
}

/** JSON text; `null` for a value nested beyond V8's stack, which repeated faults can produce. */
function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return "null";
  }
}

type Spoil = (
  place: Place,
  places: readonly Place[],
  dice: Dice,
  others: readonly unknown[],
) => void;

const SPOILS: readonly Spoil[] = [
  (place) => taken(place),
  (place, _, dice) => put(place, pick(dice, ODD)()),
  (place, _, dice) => put(place, pick(dice, ODD)()),
  (place, places, dice) => put(place, copy(at(pick(dice, places)))),
  (place, places, dice) => {
    const other = pick(dice, places);
    const [mine, its] = [copy(at(place)), copy(at(other))];
    put(place, its);
    put(other, mine);
  },
  // Duplicates an element, or a field under another name.
  ({ holder, key }, places, dice) => {
    const value = copy(Reflect.get(holder, key));
    if (Array.isArray(holder)) holder.splice(Number(key), 0, value);
    else put({ holder, key: String(pick(dice, places).key) }, value);
  },
  // Renames a field to a key that occurs elsewhere.
  (place, places, dice) => {
    if (Array.isArray(place.holder)) return;
    const value = at(place);
    taken(place);
    put({ holder: place.holder, key: String(pick(dice, places).key) }, value);
  },
  // Moves an element from one list to another, such as a block to the next turn.
  (place, places, dice) => {
    const lists = places.map(at).filter(Array.isArray);
    if (!Array.isArray(place.holder) || lists.length === 0) return;
    const value = copy(at(place));
    taken(place);
    const list: unknown[] = pick(dice, lists);
    list.splice(dice(list.length + 1), 0, value);
  },
  // Swaps two elements.
  ({ holder }, _, dice) => {
    if (!Array.isArray(holder) || holder.length < 2) return;
    const [one, two] = [dice(holder.length), dice(holder.length)];
    [holder[one], holder[two]] = [holder[two], holder[one]];
  },
  (place, _, dice) =>
    put(
      place,
      pick(dice, [
        [at(place)],
        { type: "text", text: at(place) },
        { value: at(place) },
        { content: at(place) },
      ]),
    ),
  // Changes a `type` or `role`; one time in three also removes the fields beside it.
  (_, places, dice) => {
    const kinds = places.filter(({ key }) => Object.hasOwn(WORDS, key));
    if (kinds.length === 0) return;
    const place = pick(dice, kinds);
    const word = pick(dice, WORDS[place.key] ?? []);
    if (dice(3) === 0 && !Array.isArray(place.holder)) {
      for (const key of Object.keys(place.holder)) {
        Reflect.deleteProperty(place.holder, key);
      }
    }
    put(place, word);
  },
  // Replaces a value with a part of another body.
  (place, _, dice, others) => {
    const places = placesOf(pick(dice, others));
    if (places.length > 0) put(place, copy(at(pick(dice, places))));
  },
  // Cuts the beginning off a text.
  (place, _, dice) => {
    const value = at(place);
    if (typeof value !== "string") return;
    put(place, value.slice(dice(value.length + 1)));
  },
];

/**
 * A copy of a body with one to four faults, as JSON text. Copied parts come from the body itself or
 * from `others`.
 */
export function spoiled(
  body: unknown,
  others: readonly unknown[],
  dice: Dice,
): string {
  const copied = copy(body);
  const faults = 1 + dice(4);
  for (let fault = 0; fault < faults; fault++) {
    const places = placesOf(copied);
    if (places.length === 0) break;
    pick(dice, SPOILS)(pick(dice, places), places, dice, others);
  }
  return jsonOf(copied);
}
