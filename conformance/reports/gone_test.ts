import assert from "node:assert/strict";
import { goneText } from "./gone.ts";
import type { Exchange } from "../evidence/exchange.ts";
import type { ScenarioRecord } from "../suite/evidence.ts";

const EXCHANGE: Exchange = {
  label: "x",
  scenario: "x",
  endpoint: "models",
  via: undefined,
  request: {
    client: "fetch",
    method: "GET",
    path: "/v1/models",
    headers: [],
    body: "",
  },
  body: new Uint8Array(),
  text: "",
  validUtf8: true,
  json: undefined,
  arrivals: [],
  frames: [],
  witness: [],
  ending: "no-reply",
  endedMs: 1,
  upstream: [],
};

const record = (scenario: string, isAnswered: boolean): ScenarioRecord => ({
  scenario,
  exchanges: [
    isAnswered
      ? { ...EXCHANGE, head: { status: 200, headers: [], atMs: 1 } }
      : EXCHANGE,
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
