import assert from "node:assert/strict";
import type { Exchange } from "../evidence/exchange.ts";
import { exchangeOf } from "../evidence/testing/exchange_of.ts";
import type { Check } from "../suite/check.ts";
import { fact } from "../suite/finding.ts";
import type { Result } from "../run/judge.ts";
import { causesText } from "./causes.ts";

function exchange(label: string): Exchange {
  return exchangeOf({
    label,
    scenario: "s",
    head: { status: 502, headers: [["content-type", "text/html"]], atMs: 1 },
    text: "<html>",
    ending: "complete",
  });
}

function failure(at?: Exchange): Result {
  const check: Check = {
    id: "models.x",
    rule: { source: "here", text: "x" },
    level: "convention",
    mode: "both",
    reads: ["s"],
    judge: () => [],
    faults: {},
  };
  return { check, verdict: "fail", findings: [fact(false, "a", "b", "c", at)] };
}

Deno.test("causesText() names the exchanges with which several failures begin", () => {
  const [often, seldom] = [exchange("often"), exchange("seldom")];
  const results = [
    ...Array.from({ length: 4 }, () => failure(often)),
    failure(seldom),
    failure(),
  ];
  assert.equal(
    causesText(results),
    "4 of 6 failures begin with one exchange:\n  4 with s/often: 502 text/html: <html>",
  );
  assert.equal(causesText(results.slice(3)), undefined);
});
