/**
 * Fuzzing of vendors' exports, for tests: whatever a file contains, it is compared with the books
 * or refused with the line at fault, and the books balance.
 */
import assert from "node:assert/strict";
import { ADMIN_TOKEN, startConsole } from "../console/visitor.ts";
import { type Dice, diceOf, pick } from "./spoil.ts";
import type { Defect } from "./spoiled_requests.ts";

/** Right files: their columns and a line. */
const FILES: readonly (readonly [head: string, line: string])[] = [
  ["day,model,cost", "2026-11-01,vendora-opus-4-8,1.5"],
  [
    "date;model_id;input_tokens;output_tokens;cost",
    "2026-11-01;vendora-opus-4-8;1000;20;0.25",
  ],
  [
    "BilledCost,BillingCurrency,ChargePeriodStart,SkuId,ConsumedQuantity,ConsumedUnit",
    "0.5,USD,2026-11-01T00:00:00Z,vendora-opus-4-8,100,Tokens",
  ],
  [
    "line_item_usage_start_date,line_item_usage_type,line_item_usage_amount,pricing_unit,line_item_unblended_cost",
    "2026-11-01T00:00:00Z,USE1-Claude4.8Opus-input-tokens,1.5,1K tokens,0.5",
  ],
  [
    '{"data":[],"has_more":true}',
    '{"data":[{"start_time":1793491200,"results":[{"amount":{"value":0.5,"currency":"usd"},"line_item":"vendora-opus-4-8, input"}]}]}',
  ],
  ["model\ttimestamp\tcost", "vendora-opus-4-8\t2026-11-01T10:00:00Z\t2"],
  ['"day","model","cost"', '"2026-11-01","vendora-opus-4-8","0"'],
];
const CELLS: readonly string[] = [
  "2026-11-01",
  "2026-02-30",
  "2026-11-01T25:61:00Z",
  "9999-12-31",
  "vendora-opus-4-8",
  "req_0mwwsspht88ZfD1OtkERMG3i",
  "0",
  "-1.5",
  "1e308",
  "0.0000000000000001",
  "99999999999999999999999",
  "NaN",
  "$1,000.00",
  "1.000,00 €",
  "",
  " ",
  '"',
  '""',
  '"open',
  '"a""b"',
  '"line\nend"',
  "=1+1",
  "@SUM(A1)",
  "__proto__",
  "constructor",
  "\0",
  "\ufeff",
  "\ud800",
  "ünïcödé\u202e",
  "<script>zz</script>",
  "x".repeat(70_000),
  ",".repeat(5_000),
];
const ENDS: readonly string[] = ["\n", "\r\n", "\r", "\n\n", ""];

function spoiledFile(dice: Dice): Uint8Array<ArrayBuffer> {
  const [head, line] = pick(dice, FILES);
  const separator = /[,;\t]/.exec(head)?.[0] ?? ",";
  const spoiled = (text: string, most: number): string => {
    const cells = text.split(separator);
    for (let n = dice(most); n > 0; n--) {
      cells[dice(cells.length + 1)] = pick(dice, CELLS);
    }
    return cells.join(separator);
  };
  const rows = Array.from({ length: dice(6) }, () => spoiled(line, 3));
  const text = [
    `${dice(8) === 0 ? "\ufeff" : ""}${
      dice(4) === 0 ? spoiled(head, 3) : head
    }`,
    ...rows,
  ].join(pick(dice, ENDS));
  const bytes = new TextEncoder().encode(text);
  for (let n = dice(4) === 0 ? dice(4) : 0; n > 0 && bytes.length > 0; n--) {
    bytes[dice(bytes.length)] = dice(256);
  }
  return bytes.subarray(0, dice(10) === 0 ? dice(bytes.length + 1) : undefined);
}

/** Sends `count` files, and calls `found` for every defect. Returns how many were compared. */
export async function trySpoiledInvoices(
  count: number,
  seed: number,
  found: (defect: Defect) => void,
): Promise<number> {
  const dice = diceOf(seed);
  await using gateway = await startConsole();
  let done = 0;
  for (let n = 0; n < count; n++) {
    const body = spoiledFile(dice);
    try {
      const reply = await fetch(
        `${gateway.url}/admin/v1/reconciliations?vendor=vendora`,
        {
          method: "POST",
          headers: {
            authorization: `Bearer ${ADMIN_TOKEN}`,
            "content-type": "text/csv",
          },
          body,
        },
      );
      const text = await reply.text();
      assert.ok([200, 400].includes(reply.status), text.slice(0, 500));
      assert.ok(text.length < 200_000, `${text.length} characters`);
      JSON.parse(text);
      if (reply.status === 200) done++;
    } catch (error) {
      found({
        body: new TextDecoder().decode(body),
        where: "reconciliations",
        error,
      });
    }
  }
  assert.deepEqual(await gateway.accounts.admin.audit(), []);
  return done;
}
