/**
 * Marks of what to cache, for formats that write them: which of them an upstream takes, and how
 * many.
 */
import type { Capabilities } from "../model/capabilities.ts";
import type {
  CacheMark,
  GenerationRequest,
  MarkPaths,
  Part,
  Tool,
} from "../model/request.ts";

/** The parts on which a model takes marks. */
const TAKEN: Readonly<
  Record<Capabilities["cacheMarks"], readonly (keyof MarkPaths)[]>
> = {
  none: [],
  prompt: ["system", "turns"],
  all: ["system", "turns", "tools"],
};

export function takesMarks(
  place: keyof MarkPaths,
  { cacheMarks }: Capabilities,
): boolean {
  return TAKEN[cacheMarks].includes(place);
}

/** The request's unknown fields without those of the marks that the model takes. */
export function withoutTakenMarks(
  { unknownFields, cacheMarks = {} }: GenerationRequest,
  can: Capabilities,
): readonly string[] {
  const taken: ReadonlySet<string | undefined> = new Set(
    TAKEN[can.cacheMarks].map((place) => cacheMarks[place]),
  );
  const left: ReadonlySet<string | undefined> = new Set(
    TAKEN.all.filter((place) => !takesMarks(place, can)).map((place) =>
      cacheMarks[place]
    ),
  );
  return unknownFields.filter((path) => !taken.has(path) || left.has(path));
}

/** Where a client's marks are, from the paths of its unknown fields. */
export function markPaths(
  unknownFields: ReadonlySet<string>,
  paths: MarkPaths,
): { readonly cacheMarks?: MarkPaths } {
  if (unknownFields.size === 0) return {};
  const found = Object.entries(paths).filter(([, path]) =>
    unknownFields.has(path)
  );
  return found.length === 0 ? {} : { cacheMarks: Object.fromEntries(found) };
}

/** A part or a tool with another mark, or without one. */
export function withMark<T extends Part | Tool>(one: T, mark?: CacheMark): T {
  const { cacheMark: _, ...rest } = { cacheMark: undefined, ...one };
  // The type of a spread does not keep which member of the union it is.
  return (mark === undefined ? rest : { ...rest, cacheMark: mark }) as T;
}

/**
 * The request with the marks that an upstream takes which counts them and wants the long ones
 * first: the last `most` of them, and before a long one no short one. What is before a mark is part
 * of what it keeps, so a short one there becomes long.
 *
 * @param after how long the upstream keeps the whole prompt, which is after all marks
 */
export function withFewMarks(
  request: GenerationRequest,
  can: Capabilities,
  most: number,
  after: CacheMark | undefined,
): { readonly request: GenerationRequest; readonly leftOut: boolean } {
  let left = most;
  let leftOut = false;
  let isLong = after === "1h";
  const place = <T extends Part | Tool>(one: T, isTaken: boolean): T => {
    if (!("cacheMark" in one) || one.cacheMark === undefined) return one;
    if (!isTaken) return withMark(one);
    leftOut ||= left === 0;
    if (left === 0) return withMark(one);
    left--;
    isLong ||= one.cacheMark === "1h";
    return withMark(one, isLong ? "1h" : "5m");
  };
  /** From the last to the first. */
  const all = <T extends Part | Tool>(
    list: readonly T[],
    isTaken: boolean,
  ): readonly T[] =>
    list.toReversed().map((one) => place(one, isTaken)).reverse();
  if (request.cacheMarks === undefined) return { request, leftOut };
  const turns = request.turns.toReversed().map((turn) => ({
    ...turn,
    parts: all(turn.parts, takesMarks("turns", can)),
  })).reverse();
  const system = all(request.system, takesMarks("system", can));
  const { tools } = request;
  return {
    request: {
      ...request,
      turns,
      system,
      ...(tools === undefined
        ? {}
        : { tools: all(tools, takesMarks("tools", can)) }),
    },
    leftOut,
  };
}
