import assert from "node:assert/strict";
import type { Exchange } from "../evidence/exchange.ts";
import { exchangeOf } from "../evidence/testing/exchange_of.ts";
import type { Check } from "../suite/check.ts";
import type { ScenarioRecord } from "../suite/evidence.ts";
import { statusIs } from "../suite/finding.ts";
import { KillWatch } from "./kill_watch.ts";

const CHECK: Check = {
  id: "models.x",
  rule: { source: "here", text: "x" },
  level: "convention",
  mode: "both",
  reads: ["s"],
  judge: (e) => ["a", "b"].map((label) => statusIs(e.exchange(label), 200)),
  faults: {},
};

function answered(label: string, status: number): Exchange {
  return exchangeOf({ label, head: { status, headers: [], atMs: 0 } });
}

function watchBeside(expected: Partial<ScenarioRecord>): KillWatch {
  const record = { scenario: "s", exchanges: [], notes: {}, ...expected };
  return new KillWatch("replay", [CHECK], new Map([["s", record]]));
}

Deno.test("KillWatch decides a run as soon as an exchange of the mutant's own fails the check", () => {
  const watch = watchBeside({
    exchanges: [answered("a", 200), answered("b", 200)],
  });
  watch.see("s", answered("a", 200));
  assert.equal(watch.isDecided, false);
  watch.see("s", answered("b", 500));
  assert.equal(watch.isDecided, true);
  assert.equal(watch.failureOf(CHECK)?.verdict, "fail");
});

Deno.test("KillWatch blames a mutant neither for other exchanges nor where requests follow from replies", () => {
  for (
    const expected of [
      { exchanges: [answered("a", 200), answered("b", 500)] },
      {
        exchanges: [answered("a", 200), answered("b", 200)],
        followsReplies: true,
      },
    ]
  ) {
    const watch = watchBeside(expected);
    const status = "followsReplies" in expected ? 500 : 200;
    watch.see("s", answered("a", status));
    assert.equal(watch.isDecided, false);
  }
});
