import assert from "node:assert/strict";
import { CSV_HEAD, csvLine, jsonLine } from "./ledger_report.ts";
import type { LedgerEntry } from "../records.ts";

const ENTRY: LedgerEntry = {
  seq: 7,
  kind: "charge",
  requestId: "req_1",
  accountId: "acct_1",
  keyId: "key_1",
  model: "vendora-sonnet-4-6 (context-1m beta)",
  user: 'hello "hi", then\nleft',
  inputTokens: 1,
  cacheReadTokens: 2,
  cacheWriteTokens: 3,
  outputTokens: 4,
  reasoningTokens: 0,
  price: "1/2/3/4",
  estimated: true,
  ended: "caller_left",
  microUsd: -5,
  atMs: Date.UTC(2026, 10, 21),
};

Deno.test("csvLine() quotes where needed and leaves unknown values empty", () => {
  assert.equal(
    CSV_HEAD + csvLine(ENTRY),
    "seq,time,kind,request_id,account,key,model,balance_model,user,input_tokens,cache_read_tokens,cache_write_tokens,output_tokens,reasoning_tokens,price,estimated,ended,note,micro_usd,corrects,lines\r\n" +
      '7,2026-11-21T00:00:00.000Z,charge,req_1,acct_1,key_1,vendora-sonnet-4-6 (context-1m beta),,"hello ""hi"", then\nleft",1,2,3,4,0,1/2/3/4,true,caller_left,,-5,,\r\n',
  );
});

Deno.test("csvLine() escapes a text that a spreadsheet would evaluate", () => {
  const line = csvLine({ ...ENTRY, user: "=HYPERLINK(1)" });
  assert.ok(line.includes(",'=HYPERLINK(1),"));
});

Deno.test("jsonLine() writes one object per line, with null for unknown values", () => {
  const lines = (jsonLine(ENTRY) + jsonLine({ ...ENTRY, seq: 8 })).split("\n");
  assert.equal(lines.length, 3);
  const first: unknown = JSON.parse(lines[0] ?? "");
  assert.ok(typeof first === "object" && first !== null);
  assert.equal(Object.entries(first).length, 21);
  assert.ok("balance_model" in first && first.balance_model === null);
  assert.ok("user" in first && first.user === ENTRY.user);
});
