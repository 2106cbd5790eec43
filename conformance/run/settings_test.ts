import assert from "node:assert/strict";
import type { Check } from "../suite/check.ts";
import { main } from "../cli.ts";
import type { Verdict } from "./judge.ts";
import { matching } from "./choose.ts";
import { exitOf } from "./run.ts";
import { helpText, readSettings, UsageError } from "./settings.ts";
import { startReplay } from "@model-gateway/replay";

const CHECK: Check = {
  id: "models.x",
  rule: { source: "here", text: "x" },
  level: "convention",
  mode: "both",
  reads: ["s"],
  judge: () => [],
  faults: {},
};

Deno.test("readSettings() refuses unknown flags and wrong values", () => {
  for (
    const arg of [
      "--nope",
      "positional",
      "--list=x",
      "--timeout=soon",
      "--report=pdf:x",
      "--profile=all",
      "--replay=127.0.0.1:1",
      "--base-url=ftp://x",
      "--header=nothing",
      "--header=x-a:b\r\nx-c: d",
    ]
  ) {
    assert.throws(() => readSettings([arg], undefined), UsageError, arg);
  }
});

Deno.test("readSettings() reads the other key from its flag, else from the environment", () => {
  const key = (...args: string[]) =>
    readSettings(args, undefined, "sk-from-environment").otherKey;
  assert.equal(key(), "sk-from-environment");
  assert.equal(key("--other-key=sk-from-flag"), "sk-from-flag");
  assert.equal(readSettings([], undefined).otherKey, undefined);
});

Deno.test("readSettings() judges contracts only on this project's gateway, unless the profile is given", () => {
  assert.ok(readSettings([], undefined).levels.has("contract"));
  const foreign = readSettings(["--base-url=http://x"], "k");
  assert.ok(
    !foreign.levels.has("contract") && foreign.levels.has("convention"),
  );
});

Deno.test("main() exits with 2 for a filter that matches nothing, and with 3 for a target that is not there", async () => {
  assert.equal(await main(["--filter=no.such.check"], undefined), 2);
  assert.equal(await main(["--base-url=http://127.0.0.1:9"], undefined), 2);
  assert.equal(await main(["--base-url=http://127.0.0.1:9"], "sk-12345678"), 3);
});

Deno.test("readSettings() accepts repeated headers, whose values may contain commas and colons", () => {
  const { headers } = readSettings(
    ["--base-url=http://x", "--header=X-A: b,c:d", "--header=x-e:f"],
    "k",
  );
  assert.deepEqual(headers, [["x-a", "b,c:d"], ["x-e", "f"]]);
});

Deno.test("readSettings() joins the values of repeatable flags, and refuses other flags that are repeated", () => {
  const { filters, model, chatModel, reports } = readSettings(
    [
      "--base-url=http://x",
      "--filter=a,b",
      "--filter=c",
      "--model=m-1",
      "--model=m-2",
      "--chat-model=m-3",
      "--chat-model=m-4",
      "--report=json:j",
      "--report=html:h,junit:x",
    ],
    "k",
  );
  assert.deepEqual(filters, ["a", "b", "c"]);
  assert.deepEqual([model, chatModel], ["m-1,m-2", "m-3,m-4"]);
  assert.deepEqual(reports.map(({ file }) => file), ["j", "h", "x"]);
  for (const arg of ["--seed=1", "--base-url=http://x", "--list"]) {
    assert.throws(() => readSettings([arg, arg], "k"), UsageError, arg);
  }
});

Deno.test("matching() selects the check with exactly that id, or all whose id contains the text", () => {
  const checks = ["a.one", "a.one-more", "b.one", "b.two"].map((id) => ({
    ...CHECK,
    id,
  }));
  const ids = (...filters: string[]) =>
    matching(checks, filters).map(({ id }) => id);
  assert.deepEqual(ids("a.one"), ["a.one"]);
  assert.deepEqual(ids("one"), ["a.one", "a.one-more", "b.one"]);
  assert.deepEqual(ids("a.*more", "b.two"), ["a.one-more", "b.two"]);
  assert.deepEqual(ids(), ["a.one", "a.one-more", "b.one", "b.two"]);
  assert.deepEqual(ids("a+one"), []);
});

Deno.test("helpText() explains each flag and all exit codes in lines of their own", () => {
  const text = helpText();
  for (
    const flag of ["--replay=HOST:PORT ", "--header=NAME:VALUE ", "--seed="]
  ) {
    assert.ok(text.includes(flag), flag);
  }
  assert.match(text, /0 conformant.*1 not.*2 .*3 .*\n.*4 .*5 /);
});

Deno.test("main() exits with 4 when the replay server cannot listen at the given address", async () => {
  await using taken = await startReplay();
  const args = [
    "--base-url=http://127.0.0.1:9",
    `--replay=127.0.0.1:${taken.port}`,
  ];
  assert.equal(await main(args, "sk-12345678"), 4);
});

Deno.test("exitOf() distinguishes a mistake of the suite, a failure and a partial run", () => {
  const exit = (...verdicts: Verdict[]): number =>
    exitOf(
      verdicts.map((verdict) => ({ verdict, check: CHECK, findings: [] })),
      new Set(),
      [],
    );
  assert.equal(exit("pass", "unclear"), 0);
  assert.equal(exit("pass", "not-run", "fail"), 1);
  assert.equal(exit("fail", "error"), 4);
  assert.equal(exit("pass", "not-run"), 5);
  assert.equal(exitOf([], new Set(), ["models.x"]), 1);
});

Deno.test("startReplay() listens on the given host", async () => {
  await using everywhere = await startReplay({ hostname: "0.0.0.0" });
  assert.equal(everywhere.url, `http://127.0.0.1:${everywhere.port}`);
  const list = await fetch(`${everywhere.url}/v1/models`);
  assert.equal(list.status, 200);
  await list.body?.cancel();
});
