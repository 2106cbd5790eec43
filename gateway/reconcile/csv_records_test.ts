import assert from "node:assert/strict";
import { ApiError } from "../../translate/model/error.ts";
import { readInvoice } from "./invoice.ts";

const HEAD = "date,model,input_tokens,output_tokens,cost\n";
const ROW = "2026-11-21,m,10,5,0.01\n";
/** 50 MB in pieces, as an upload arrives. */
async function* long(head: string, piece: string): AsyncGenerator<string> {
  yield head;
  for (let sent = 0; sent < 50_000_000; sent += piece.length) yield piece;
}

async function* once(text: string): AsyncGenerator<string> {
  yield text;
}

const X = "x".repeat(65_536);

/** Hostile files; each is refused with a field, or read without harm. */
const FILES: readonly (readonly [
  name: string,
  file: () => AsyncGenerator<string>,
  refused: RegExp | undefined,
])[] = [
  ["a line of 50 MB", () => long(HEAD, X), /longer than/],
  ["a first line of 50 MB", () => long("", X), /longer than/],
  ["a million columns", () => long("", ",".repeat(65_536)), /longer than/],
  [
    "a row of a million cells",
    () => long(HEAD, "1,".repeat(32_768)),
    /longer than/,
  ],
  [
    "a quote that is never closed",
    () => long(`${HEAD}"`, `${ROW}`.repeat(2_000)),
    /longer than|not valid CSV/,
  ],
  ["UTF-16", () => once([...HEAD, ...ROW].join("\0")), /./],
  ["NULs", () => once(`${HEAD}2026-11-21,\0m\0,10,5,0.01\n`), undefined],
  [
    "formulas",
    () => once(`${HEAD}2026-11-21,"=HYPERLINK(""http://x"")",10,5,0.01\n`),
    undefined,
  ],
  [
    "a formula as an amount",
    () => once(`${HEAD}2026-11-21,m,10,5,=1+1\n`),
    /./,
  ],
  [
    "an amount with a comma and without quotes",
    () => once(`${HEAD}2026-11-21,m,10,5,1,000.50\n`),
    /line 2 has 6 cells, but there are 5 columns/,
  ],
  [
    "empty cells behind the last column",
    () => once(`${HEAD}2026-11-21,m,10,5,0.01,, \n`),
    undefined,
  ],
  [
    // In the time that its bytes take: their square would be minutes.
    "kinds of tokens of nothing but one word",
    () =>
      once(
        "date,model,ConsumedUnit,ConsumedQuantity,token_type,cost\n" +
          `2026-11-21,m,tokens,1,${"cache".repeat(13_000)},0.01\n`.repeat(100),
      ),
    undefined,
  ],
  ["names of properties", () => once(`__proto__,constructor\n1,2\n`), /./],
];

Deno.test("a hostile file is refused with its line, or read without harm", async (t) => {
  for (const [name, file, refused] of FILES) {
    await t.step(name, () => check(file, refused));
  }
});

async function check(
  file: () => AsyncGenerator<string>,
  refused: RegExp | undefined,
): Promise<void> {
  const error = await readInvoice(file()).then(() => undefined, (one) => one);
  if (refused === undefined) return assert.equal(error, undefined);
  assert.ok(error instanceof ApiError, String(error));
  assert.equal(error.kind, "invalid_request");
  assert.match(error.message, refused);
  assert.ok(error.message.length < 1_000);
}
