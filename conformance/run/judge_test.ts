import assert from "node:assert/strict";
import type { Check } from "../suite/check.ts";
import { exchangeOf } from "../evidence/testing/exchange_of.ts";
import type { ScenarioRecord } from "../suite/evidence.ts";
import { fact, offered, skill } from "../suite/finding.ts";
import { judge } from "./judge.ts";

function check(judged: Check["judge"]): Check {
  return {
    id: "models.x",
    rule: { source: "here", text: "x" },
    level: "convention",
    mode: "both",
    reads: ["s"],
    judge: judged,
    faults: {},
  };
}

const RECORDS = new Map<string, ScenarioRecord>([
  ["s", { scenario: "s", exchanges: [], notes: {}, stopped: "no model" }],
]);

Deno.test("judge() reports a check without a finding as a mistake of the suite", () => {
  assert.equal(judge(check(() => []), "live", RECORDS).verdict, "error");
});

Deno.test("judge() fails a check whose evidence is missing, and names the reason", () => {
  const { verdict, findings } = judge(
    check((e) => [fact(true, e.exchange("a").label, "", "")]),
    "live",
    RECORDS,
  );
  assert.equal(verdict, "fail");
  assert.match(findings[0]?.actual ?? "", /^not testable: .*no model/);
});

Deno.test("judge() reports as unclear what only a model's skill decides", () => {
  const judged = check(() => [skill(false, "a", "b", "c")]);
  assert.equal(judge(judged, "live", RECORDS).verdict, "unclear");
});

Deno.test("judge() reports as unclear what no upstream of the target has", () => {
  const judged = check(
    () => [fact(offered([], "is one").length > 0, "", "", "")],
  );
  const { verdict, findings } = judge(judged, "replay", RECORDS);
  assert.equal(verdict, "unclear");
  assert.equal(findings[0]?.actual, "no upstream is one");
});

Deno.test("judge() does not judge a check whose scenario a cap stopped", () => {
  const judged = check(() => [fact(true, "a", "b", "c")]);
  const { verdict } = judge(judged, "live", RECORDS, new Map([["s", "a cap"]]));
  assert.equal(verdict, "not-run");
});

/** A request without an answer in time, and one that was answered. */
const SILENT = exchangeOf({
  scenario: "s",
  label: "timeout",
  ending: "timeout",
});
const ANSWERED = exchangeOf({
  scenario: "s",
  label: "complete",
  head: { status: 200, headers: [], atMs: 1 },
  ending: "complete",
});

Deno.test("judge() takes a request without an answer as no evidence, except where silence is the fault", () => {
  const records = new Map<string, ScenarioRecord>([
    ["s", { scenario: "s", exchanges: [SILENT, ANSWERED], notes: {} }],
  ]);
  const statusOf = (...labels: string[]): Check =>
    check((e) =>
      labels.map((label) => {
        const x = e.exchange(label);
        return fact(x.head?.status === 200, "status", "200", "other", x);
      })
    );
  const verdict = (judged: Check): string =>
    judge(judged, "live", records).verdict;
  assert.equal(verdict(statusOf("timeout")), "not-run");
  assert.equal(verdict(statusOf("timeout", "complete")), "pass");
  assert.equal(
    verdict(check((e) => [fact(true, e.note("x") as string, "", "")])),
    "not-run",
  );
  assert.equal(
    verdict({ ...statusOf("timeout"), judgesSilence: true }),
    "fail",
  );
});
