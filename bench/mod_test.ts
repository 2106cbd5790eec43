import assert from "node:assert/strict";
import { BENCHES, runBench } from "./mod.ts";

async function run(
  ...args: string[]
): Promise<{ readonly code: number; readonly lines: readonly string[] }> {
  const lines: string[] = [];
  const code = await runBench(args, {
    print: (line) => lines.push(line),
    measureMs: 20,
  });
  return { code, lines };
}

Deno.test("an unknown name, or a flag for one that takes none, lists the benchmarks and is exit code 2", async () => {
  for (
    const args of [["nonsense"], ["ledger", "more"], ["ledger", "--quick"]]
  ) {
    const { code, lines } = await run(...args);
    assert.equal(code, 2);
    for (const name of BENCHES.keys()) {
      assert.ok(lines.some((line) => line.trim().startsWith(name)), name);
    }
  }
});

Deno.test("ledger prints a line for each store and concurrency, and says that Postgres was skipped", async () => {
  const { code, lines } = await run("ledger");
  assert.equal(code, 0);
  assert.deepEqual(
    lines.slice(1, 4).map((line) => line.split(/\s+/).slice(0, 2)),
    [["sqlite", "1"], ["sqlite", "16"], ["sqlite", "128"]],
  );
  assert.match(lines.at(-1) ?? "", /^postgres +SKIPPED, because/);
  assert.equal(lines.length, 5);
});

Deno.test("flags that are not understood are exit code 2, with a name and without", async () => {
  for (const args of [["--nonsense"], ["pipeline", "--nonsense"]]) {
    const { code, lines } = await run(...args);
    assert.equal(code, 2);
    assert.match(lines[0] ?? "", /nonsense/);
    assert.ok(lines.some((line) => line.includes("--scenario")));
  }
});
