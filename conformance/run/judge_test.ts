import assert from "node:assert/strict";
import type { Check } from "../suite/check.ts";
import { Redaction } from "../evidence/redaction.ts";
import type { ScenarioRecord } from "../suite/evidence.ts";
import { recordOf } from "../suite/recorder.ts";
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

/** A request without an answer in time, and the same answered with an empty list. */
const [SILENT, ANSWERED] = (["timeout", "complete"] as const).map((ending) =>
  recordOf({
    label: ending,
    scenario: "s",
    endpoint: "models",
    via: undefined,
    request: {
      client: "fetch",
      method: "GET",
      path: "/v1/models",
      headers: [],
      body: "",
    },
    received: {
      ...(ending === "timeout"
        ? {}
        : { head: { status: 200, headers: [], atMs: 1 } }),
      body: new TextEncoder().encode(ending === "timeout" ? "" : "[]"),
      arrivals: [],
      ending,
      endedMs: 5,
    },
    redaction: new Redaction(),
  })
);
assert.ok(SILENT !== undefined && ANSWERED !== undefined);

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
