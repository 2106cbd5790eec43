import assert from "node:assert/strict";
import { withoutBillingLine } from "./without_billing_line.ts";

Deno.test("withoutBillingLine() removes only the billing line", async (t) => {
  const rows: readonly (readonly [string, string])[] = [
    ["x-anthropic-billing-header: cc_version=1; cch=a;", ""],
    ["x-anthropic-billing-header: cch=a;\nYou are A.\nB.", "You are A.\nB."],
    ["You are A.", "You are A."],
    [
      "A.\nx-anthropic-billing-header: quoted",
      "A.\nx-anthropic-billing-header: quoted",
    ],
    ["", ""],
  ];
  for (const [given, expected] of rows) {
    await t.step(JSON.stringify(given), () => {
      assert.equal(withoutBillingLine(given), expected);
    });
  }
});
