/**
 * Assembles arguments of a call that Vertex streams in pieces (`streamFunctionCallArguments`): each
 * piece has a JSON path and a value or a fragment of text. Not used for whole arguments.
 */
import { isObject, type JsonDraft, type JsonObject } from "../../bytes/json.ts";

type Step = string | number;

/** A JSON path's steps: `$.a`, `$['a']`, `$[0]`, in any sequence. */
const STEP = /\.([^.[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["([^"]*)"\]/y;

/** Longer paths are ignored. */
const MAX_STEPS = 64;

/** Assembles the arguments of one call. */
export interface PartialArgs {
  /** Adds one element of `partialArgs`; malformed ones are ignored. */
  add(piece: unknown): void;
  /** The arguments so far. */
  whole(): JsonObject;
}

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

/** Without a prototype, so that an argument called `__proto__` is an ordinary key. */
function emptyObject(): JsonDraft {
  const made: JsonDraft = Object.create(null);
  return made;
}

/** The piece's value; undefined for one that only announces its path. */
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
      write(place, step, joinValues(old, value));
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

/** Text is appended to existing text at the same path. */
function joinValues(old: unknown, value: unknown): unknown {
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

/**
 * Writes the value unless its place has the wrong type, or the index would leave a gap in an array.
 */
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
