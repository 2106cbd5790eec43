import assert from "node:assert/strict";
import { CAN_READ_PROCESSES } from "./measure/cpu_time.ts";
import { BENCHES, runBench } from "./mod.ts";
import type { PartResult } from "./report/part_result.ts";
import { reportLines } from "./report/report.ts";
import { readResult } from "./report/results.ts";

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

Deno.test("an unknown name, or a flag for a benchmark without flags, lists the benchmarks and is exit code 2", async () => {
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

Deno.test("--json writes the figures of a part, with the machine", async () => {
  const file = await Deno.makeTempFile({ suffix: ".json" });
  try {
    const { code } = await run("ledger", `--json=${file}`);
    assert.equal(code, 0);
    // The shape is that of `partResult`.
    const { part, machine, figures } = JSON.parse(
      await Deno.readTextFile(file),
    ) as PartResult;
    assert.equal(part, "ledger");
    assert.ok(machine.cores >= 1);
    assert.deepEqual(
      figures.map(({ store, atOnce }) => [store, atOnce]),
      [["sqlite", 1], ["sqlite", 16], ["sqlite", 128]],
    );
  } finally {
    await Deno.remove(file);
  }
});

Deno.test("cores measures two processes on one store", async () => {
  const { code, lines } = await run(
    "cores",
    "--processes=2",
    "--load=shared",
    "--rounds=1",
    "--seconds=0.05",
  );
  assert.equal(code, 0, lines.join("\n"));
  for (const kind of ["whole-small", "stream-unpaced"]) {
    const at = lines.findIndex((line) => line.startsWith(`sqlite, ${kind},`));
    assert.match(lines[at + 2] ?? "", /^2 .* \d+ % \d+ %$/);
  }
});

Deno.test("a benchmark refuses an invalid flag by its name", async () => {
  for (
    const [name = "", flag = "", named = ""] of [
      ["cores", "--processes=1,x", "--processes"],
      ["yardstick", "--rounds=x", "--rounds"],
      ["techniques", "--seconds=x", "--seconds"],
      ["growth", "--nonsense", "nonsense"],
    ]
  ) {
    const { code, lines } = await run(name, flag);
    assert.equal(code, 2);
    assert.ok(lines[0]?.includes(named), lines[0]);
  }
});

Deno.test("ledger prints a line for each store and concurrency, and reports that Postgres is skipped", async () => {
  const { code, lines } = await run("ledger");
  assert.equal(code, 0);
  assert.deepEqual(
    lines.slice(1, 4).map((line) => line.split(/\s+/).slice(0, 2)),
    [["sqlite", "1"], ["sqlite", "16"], ["sqlite", "128"]],
  );
  assert.match(lines.at(-1) ?? "", /^postgres +SKIPPED, because/);
  assert.equal(lines.length, 5);
});

Deno.test("an invalid flag is exit code 2, with a name and without", async () => {
  for (const args of [["--nonsense"], ["pipeline", "--nonsense"]]) {
    const { code, lines } = await run(...args);
    assert.equal(code, 2);
    assert.match(lines[0] ?? "", /nonsense/);
    assert.ok(lines.some((line) => line.includes("--scenario")));
  }
});

Deno.test("a short run compares the gateway with the raw pipe and writes the result", async () => {
  const file = await Deno.makeTempFile({ suffix: ".json" });
  try {
    const { code, lines } = await run(
      "--scenario=messages/whole-small,chat-to-generate/stream-unpaced,steady,tls/messages/whole-small",
      "--rounds=1",
      "--seconds=0.05",
      "--peers=nginx",
      `--json=${file}`,
    );
    assert.equal(code, 0, lines.join("\n"));
    assert.equal(lines.at(-1), "every reply was correct: no event was lost");
    const result = await readResult(file);
    const kept = reportLines(result);
    for (const target of ["direct", "raw pipe", "gateway"]) {
      for (const report of [lines, kept]) {
        assert.ok(report.some((line) => line.includes(` ${target} `)), target);
      }
    }
    const peers = result.skipped.some(({ what }) => what === "nginx")
      ? []
      : ["nginx"];
    for (
      const [scenario, first] of [
        ["messages/whole-small", ["direct"]],
        ["tls/messages/whole-small", []],
      ] as const
    ) {
      const rows = result.rows.filter((row) => row.scenario === scenario);
      assert.deepEqual(rows.map(({ target }) => target), [
        ...first,
        "raw pipe",
        "gateway",
        ...peers,
      ]);
      if (!CAN_READ_PROCESSES) continue;
      const pipe = rows.find(({ target }) => target === "raw pipe");
      const gateway = rows.find(({ target }) => target === "gateway");
      const ratio = (gateway?.cpuMicros?.median ?? NaN) /
        (pipe?.cpuMicros?.median ?? NaN);
      // The file rounds to four digits.
      const rest = (gateway?.cpuRatio?.median ?? NaN) / ratio - 1;
      assert.ok(Math.abs(rest) < 0.005, `${scenario}: ${rest}`);
    }
    assert.deepEqual(
      result.steady?.map(({ target, blockMs, addedMs }) => [
        target,
        blockMs !== undefined,
        addedMs !== undefined,
      ]),
      [
        ["direct", false, false],
        ["raw pipe", true, true],
        ["gateway", true, true],
        ...peers.map((peer) => [peer, false, true]),
        ["idle process", true, false],
      ],
    );
  } finally {
    await Deno.remove(file);
  }
});

Deno.test("a gateway with wrong replies is exit code 1", async () => {
  await using liar = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    () => Response.json({}),
  );
  const { code, lines } = await run(
    "--scenario=messages/whole-small",
    "--rounds=1",
    "--seconds=0.05",
    "--peers=",
    `--target=liar=http://127.0.0.1:${liar.addr.port}`,
    "--model-messages=any",
    "--key=sk-any",
  );
  assert.equal(code, 1, lines.join("\n"));
  assert.ok(lines.some((line) => line.includes("liar")));
});
