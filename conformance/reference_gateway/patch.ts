/** Builders of faults that change members of what a hook passes on. */
import type { Context, Hooks } from "./hooks.ts";
import type { Part } from "./part.ts";

/** The hooks that pass on one value. */
type Single = "problem" | "reply" | "modelRequest" | "request" | "upstream";
type Value<Hook extends Single> = Parameters<NonNullable<Hooks[Hook]>>[0];

/** Members to replace, or how they follow from the value. */
type Change<Of> = Partial<Of> | ((value: Of, x: Context) => Partial<Of>);

function changed<Of>(value: Of, change: Change<Of>, x: Context): Of {
  const members = typeof change === "function" ? change(value, x) : change;
  return { ...value, ...members };
}

/** Replaces members of every value of a hook, or of those that satisfy the test. */
export function patch<Hook extends Single>(
  hook: Hook,
  change: Change<Value<Hook>>,
  test: (value: Value<Hook>, x: Context) => boolean = () => true,
): Hooks {
  return {
    [hook]: (value: Value<Hook>, x: Context) =>
      test(value, x) ? changed(value, change, x) : value,
  };
}

/** Replaces members of the parts of one type, or of those that satisfy the test. */
export function patchPart<Type extends Part["type"]>(
  type: Type,
  change: Change<Part & { type: Type }>,
  test: (part: Part & { type: Type }, x: Context) => boolean = () => true,
): Hooks {
  return changePart(
    type,
    (part, x) => test(part, x) ? [changed(part, change, x)] : [part],
  );
}

/** Replaces the parts of one type. */
export function changePart<Type extends Part["type"]>(
  type: Type,
  change: (part: Part & { type: Type }, x: Context) => readonly Part[],
): Hooks {
  const isOfType = (part: Part): part is Part & { type: Type } =>
    part.type === type;
  return { part: (part, x) => isOfType(part) ? change(part, x) : [part] };
}
