import assert from "node:assert/strict";
import { reportLines } from "./report.ts";
import {
  keepResult,
  readResult,
  resultText,
  type RunResult,
} from "./results.ts";
import { reportTable } from "./report_table.ts";
import { figure, tableLines } from "./table.ts";

const SPREAD = { median: 1.5, low: 1.25, high: 2 };

const RESULT: RunResult = {
  date: "2026-11-22T10:20:30.000Z",
  machine: {
    cores: 2,
    processor: "Some Processor",
    memoryGiB: 8,
    system: "linux x64",
    loadBefore: 0.5,
  },
  versions: { Deno: "2.8.2" },
  rounds: 5,
  pacedRounds: 3,
  ms: 450,
  targets: [],
  skipped: [{ what: "portkey", why: "npm is not installed" }],
  rows: [{
    scenario: "messages/whole-small",
    target: "gateway",
    unit: "request",
    cpuMicros: { median: 123.123456, low: 100, high: 200 },
    cpuRatio: SPREAD,
    perSecond: 1235,
    waitMs: { p50: 1, p99: 2 },
    goals: [{ of: "raw pipe", is: 1.5, atMost: 1.4, reached: false }],
    faults: 2,
    problems: ["3 of 60 events are lost"],
    overlooked: [],
  }],
  memory: [],
  steady: [{
    target: "gateway",
    perSecond: 499.6,
    waitMs: { p50: 51, p99: 53 },
    addedMs: { p50: SPREAD, p99: { median: 3, low: 2, high: 4 } },
    blockMs: { median: 5, low: 4, high: 8.5 },
    longBlocks: 0,
    residentBytes: [100 * 2 ** 20, 120 * 2 ** 20],
    goals: [
      { of: "added p50", is: 1.5, atMost: 0.5, reached: false },
      { of: "block", is: 8.5, atMost: 10, reached: true },
    ],
    faults: 0,
    problems: [],
  }],
  starts: [{
    target: "gateway",
    readyMs: { median: 250, low: 240, high: 260 },
    goals: [{ of: "start", is: 250, atMost: 400, reached: true }],
  }],
};

Deno.test("reportLines() shows figures, goals, faults and skipped targets", () => {
  const text = reportLines(RESULT).join("\n");
  for (
    const wanted of [
      /Some Processor/,
      /messages +gateway +123 +1\.50 +\[1\.25–2\.00\] +1\.40 +OVER .* 1235 +2 WRONG: 3 of 60 events are lost/,
      /gateway +500 +1\.50 +0\.50 +OVER +3\.00 +8\.50 +10\.0 +ok +0 +100 +120$/m,
      /gateway +250 +\[240–260\] +400 +ok/,
      /portkey: SKIPPED, because npm is not installed/,
      /2 of 4 goals are reached/,
      /2 replies were WRONG/,
    ]
  ) assert.match(text, wanted);
});

Deno.test("resultText() keeps four digits and can be read back", () => {
  const read: unknown = JSON.parse(resultText(RESULT));
  assert.deepEqual(
    read,
    JSON.parse(JSON.stringify(RESULT).replace("123.123456", "123.1")),
  );
});

Deno.test("a written result is named after its date and produces the same report", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const url = new URL(`file://${folder}/results/`);
    const name = await keepResult(RESULT, url);
    assert.equal(name, "2026-11-22-10-20.json");
    const read = await readResult(new URL(name, url).pathname);
    assert.deepEqual(reportLines(read), reportLines(RESULT));
    await Deno.writeTextFile(`${folder}/other.json`, "{}");
    await assert.rejects(readResult(`${folder}/other.json`), TypeError);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a file of an older run over TLS is read with the names of today", async () => {
  const file = await Deno.makeTempFile({ suffix: ".json" });
  try {
    await Deno.writeTextFile(file, resultText({ ...RESULT, tls: true }));
    const read = await readResult(file);
    assert.deepEqual(read.rows.map(({ scenario }) => scenario), [
      "tls/messages/whole-small",
    ]);
    assert.match(
      reportLines(read).join("\n"),
      /^tls\/messages +gateway +123 /m,
    );
    assert.match(
      reportTable([read]).join("\n"),
      /^\| whole-small, TLS \| 1\.50 /m,
    );
  } finally {
    await Deno.remove(file);
  }
});

Deno.test("every result in the folder can be printed", async () => {
  const folder = new URL("../results/", import.meta.url);
  let files = 0;
  for await (const { name } of Deno.readDir(folder)) {
    const result = await readResult(new URL(name, folder).pathname);
    const text = reportLines(result).join("\n");
    assert.match(text, /^messages +gateway +\d/m, name);
    assert.match(text, /goals are reached/, name);
    assert.match(reportTable([result]).join("\n"), /^\| whole-small \|/m);
    files++;
  }
  assert.ok(files > 0);
});

Deno.test("tableLines() aligns columns", () => {
  assert.deepEqual(tableLines([["a", "1"], ["bcd", "100", "x"]]), [
    "a      1",
    "bcd  100  x",
  ]);
});

Deno.test("figure() has three significant digits, and a dash for an absent value", () => {
  assert.deepEqual([0.123, 12.34, 123.4, undefined, NaN].map(figure), [
    "0.12",
    "12.3",
    "123",
    "–",
    "–",
  ]);
});

Deno.test("rows over TLS are printed before the plain ones of their kind", () => {
  const [row] = RESULT.rows;
  assert.ok(row !== undefined);
  const over = { median: 1.25, low: 1, high: 1.5 };
  const tls = { ...row, scenario: `tls/${row.scenario}`, cpuRatio: over };
  const both: RunResult = { ...RESULT, rows: [tls, row] };
  const lines = reportLines(both);
  const at = lines.findIndex((line) => line.startsWith("whole-small: "));
  assert.match(lines[at + 2] ?? "", /^tls\/messages +gateway +123 +1\.25 /);
  assert.match(lines[at + 3] ?? "", /^messages +gateway +123 +1\.50 /);
  const table = reportTable([both, RESULT]).join("\n");
  assert.match(table, /^\| whole-small, TLS \| 1\.25, – \|/m);
  assert.match(table, /^\| whole-small \| 1\.50, 1\.50 \|/m);
});

Deno.test("reportTable() has one figure a run in each cell", () => {
  const second: RunResult = { ...RESULT, rows: [], steady: [] };
  const text = reportTable([RESULT, second]).join("\n");
  assert.match(text, /^\| whole-small \| 1\.50, – \|/m);
  assert.match(text, /^\| added p50 at 500 calls\/s, ms \| 1\.50, – \|$/m);
  assert.match(text, /^\| start to ready, ms \| 250, 250 \|$/m);
});
