import assert from "node:assert/strict";
import { goneText } from "./gone.ts";
import { exchangeOf } from "../evidence/testing/exchange_of.ts";
import type { ScenarioRecord } from "../suite/evidence.ts";

const record = (scenario: string, isAnswered: boolean): ScenarioRecord => ({
  scenario,
  exchanges: [
    exchangeOf(
      isAnswered ? { head: { status: 200, headers: [], atMs: 1 } } : {},
    ),
  ],
  notes: {},
});

Deno.test("goneText() names the last scenario that was answered", () => {
  const records = [
    record("first", true),
    ...["a", "b", "c"].map((name) => record(name, false)),
  ];
  assert.match(goneText(records) ?? "", /after scenario first .* 3 more/);
});

Deno.test("goneText() is silent about single requests without a reply", () => {
  assert.equal(
    goneText([record("a", false), record("b", false), record("c", true)]),
    undefined,
  );
  assert.equal(goneText([record("a", true), record("b", false)]), undefined);
});
