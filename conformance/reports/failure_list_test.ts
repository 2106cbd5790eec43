import assert from "node:assert/strict";
import { CHECKS } from "../areas/checks.ts";
import { failureTexts, SHOWN_IN_FULL } from "./failure_list.ts";
import type { Result } from "../run/judge.ts";
import type { Exchange } from "../evidence/exchange.ts";
import { exchangeOf } from "../evidence/testing/exchange_of.ts";
import { sharedReplyText } from "../run/shared_reply.ts";

const EXCHANGE: Exchange = exchangeOf({
  head: { status: 500, headers: [["content-type", "text/plain"]], atMs: 1 },
  text: "boom",
  ending: "complete",
});

const RESULTS: readonly Result[] = CHECKS.slice(0, SHOWN_IN_FULL + 2).map((
  check,
) => ({
  check,
  verdict: "fail",
  findings: [{
    verdict: "fail",
    fact: "status",
    expected: "200",
    actual: "500",
    exchange: EXCHANGE,
  }],
}));

Deno.test("failureTexts() shows the first failures in full, the others in a line", () => {
  const full = new Map(
    RESULTS.map(({ check }) => [check.id, `in full ${check.id}`]),
  );
  const texts = failureTexts(RESULTS, full, new Set(), (verdict) => verdict);
  assert.equal(texts.length, RESULTS.length);
  for (const [at, { check }] of RESULTS.entries()) {
    const text = texts[at] ?? "";
    assert.match(text, new RegExp(check.id));
    assert.equal(text.includes("in full"), at < SHOWN_IN_FULL, text);
    if (at < SHOWN_IN_FULL) continue;
    assert.equal(text.trim().split("\n").length, 1);
    assert.match(text, /status: expected 200, was 500$/);
  }
});

Deno.test("sharedReplyText() names the reply that many failures begin with", () => {
  assert.equal(
    sharedReplyText(RESULTS),
    `${RESULTS.length} of ${RESULTS.length} failures begin with the same reply: 500 text/plain: boom`,
  );
  assert.equal(sharedReplyText(RESULTS.slice(0, 3)), undefined);
});
