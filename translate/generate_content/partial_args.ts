/**
 * Arguments of a call that Vertex streams piece by piece (`streamFunctionCallArguments`): each piece names its place by a JSON path
 * and gives a value or a bit of text. Whole arguments never come here.
 *
 * @module
 */
import { isObject, type JsonDraft, type JsonObject } from "../json.ts";

type Step = string | number;

/** A JSON path's steps: `$.a`, `$['a']`, `$[0]`, in any sequence. */
const STEP = /\.([^.[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["([^"]*)"\]/y;

/** No argument lies deeper; a longer path is not followed. */
const MAX_STEPS = 64;

/** Puts the pieces of one call together. */
export interface PartialArgs {
  /** Adds one element of `partialArgs`; what cannot be read is passed over. */
  add(piece: unknown): void;
  /** What the pieces add up to. */
  whole(): JsonObject;
}

/** Makes a {@linkcode PartialArgs} for one call. */
export function partialArgs(): PartialArgs {
  const root = emptyObject();
  return {
    add(piece) {
      if (!isObject(piece)) return;
      const steps = pathSteps(piece["jsonPath"]);
      const value = pieceValue(piece);
      if (steps !== undefined && value !== undefined) put(root, steps, value);
    },
    whole: () => root,
  };
}

/** Without a prototype, so that an argument called `__proto__` is an argument. */
function emptyObject(): JsonDraft {
  const made: JsonDraft = Object.create(null);
  return made;
}

/** The piece's value; undefined for one that only announces its place. */
function pieceValue(piece: JsonObject): unknown {
  if ("stringValue" in piece) return piece["stringValue"];
  if ("numberValue" in piece) return piece["numberValue"];
  if ("boolValue" in piece) return piece["boolValue"];
  return "nullValue" in piece ? null : undefined;
}

function pathSteps(path: unknown): readonly Step[] | undefined {
  if (typeof path !== "string" || !path.startsWith("$")) return undefined;
  const steps: Step[] = [];
  STEP.lastIndex = 1;
  while (STEP.lastIndex < path.length && steps.length <= MAX_STEPS) {
    const found = STEP.exec(path);
    if (found === null) return undefined;
    const [, plain, index, single, double] = found;
    steps.push(
      index !== undefined
        ? Number(index)
        : plain ?? single?.replaceAll(/\\(.)/g, "$1") ?? double ?? "",
    );
  }
  return steps.length === 0 || steps.length > MAX_STEPS ? undefined : steps;
}

function put(root: JsonDraft, steps: readonly Step[], value: unknown): void {
  let place: JsonDraft | unknown[] = root;
  for (const [at, step] of steps.entries()) {
    const next = steps[at + 1];
    const old = read(place, step);
    if (next === undefined) {
      write(place, step, joined(old, value));
      return;
    }
    const below: JsonDraft | unknown[] = Array.isArray(old) || isObject(old)
      ? old
      : typeof next === "number"
      ? []
      : emptyObject();
    if (below !== old && !write(place, step, below)) return;
    place = below;
  }
}

/** Text goes on where text already stands: that is what the pieces of one place are for. */
function joined(old: unknown, value: unknown): unknown {
  return typeof old === "string" && typeof value === "string"
    ? old + value
    : value;
}

function read(place: JsonDraft | unknown[], step: Step): unknown {
  if (Array.isArray(place)) {
    return typeof step === "number" ? place[step] : undefined;
  }
  return place[step];
}

/** Writes unless the place is of the wrong kind, or the index would leave a hole. */
function write(
  place: JsonDraft | unknown[],
  step: Step,
  value: unknown,
): boolean {
  if (!Array.isArray(place)) {
    place[step] = value;
    return true;
  }
  if (typeof step !== "number" || step > place.length) return false;
  place[step] = value;
  return true;
}
