/**
 * Work in steps, between which its caller may let other work run. Each step is short: some hundred
 * entries of a list.
 */

/** Work that pauses between its steps. */
export type Steps<Result> = Generator<void, Result, void>;

const STEP_ENTRIES = 256;

/** Takes all steps without a pause. */
export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** `list.forEach`, in steps. */
export function* visitEach<T>(
  list: readonly T[],
  visit: (entry: T, index: number) => void,
): Steps<void> {
  let index = 0;
  for (const entry of list) {
    visit(entry, index++);
    if (index % STEP_ENTRIES === 0) yield;
  }
}

/** `list.map`, in steps. */
export function* mapEach<T, Out>(
  list: readonly T[],
  map: (entry: T, index: number) => Out,
): Steps<Out[]> {
  const out: Out[] = [];
  yield* visitEach(list, (entry, index) => void out.push(map(entry, index)));
  return out;
}
