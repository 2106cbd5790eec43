import assert from "node:assert/strict";
import { FileWatch } from "./file_watch.ts";

/** Looks once at each version and returns the number of reported changes after each look. */
async function changes(
  versions: readonly (string | undefined)[],
): Promise<readonly number[]> {
  let reported = 0;
  let at = 0;
  const watch = new FileWatch(
    () => {
      const version = versions[at];
      return version === undefined
        ? Promise.reject(new Error("no such file"))
        : Promise.resolve(version);
    },
    () => reported++,
  );
  const counts: number[] = [];
  for (at = 0; at < versions.length; at++) {
    await watch.look();
    counts.push(reported);
  }
  return counts;
}

Deno.test("FileWatch reports a change once it has stayed for two looks", async () => {
  assert.deepEqual(await changes(["a", "a", "b", "b", "b"]), [0, 0, 0, 1, 1]);
});

Deno.test("FileWatch reports nothing while a file is being written, or is absent for a moment", async () => {
  assert.deepEqual(await changes(["a", "b", "c", "c"]), [0, 0, 0, 1]);
  assert.deepEqual(await changes(["a", undefined, "a", "a"]), [0, 0, 0, 0]);
  assert.deepEqual(await changes(["a", undefined, "b", "b"]), [0, 0, 0, 1]);
});

Deno.test("FileWatch reports a file that changes back", async () => {
  assert.deepEqual(await changes(["a", "b", "b", "a", "a"]), [0, 0, 1, 1, 2]);
});
