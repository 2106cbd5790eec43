/** Forecasts against admission: on an exact state, every foreseen call is granted. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { compact } from "../../../translate/bytes/compact.ts";
import {
  type Account,
  type Billing,
  type LimitSettings,
  type Plan,
  type ReservedCall,
} from "../records.ts";
import { PRICE } from "../testing/open_test_accounts.ts";
import type { AccountState } from "./account_state.ts";
import { admit } from "./admission.ts";
import type { LedgerEvent } from "./events.ts";
import { Foresight } from "./foresight.ts";
import type { KeyState } from "./key_state.ts";
import { UNUSED } from "../limits/limit_use.ts";
import { WriteCache } from "./write_cache.ts";

const NOW_MS = Date.UTC(2026, 10, 21, 12);

const limits: fc.Arbitrary<LimitSettings> = fc.record({
  requestsPerMinute: fc.integer({ min: 1, max: 150 }),
  tokensPerMinute: fc.integer({ min: 1, max: 15_000 }),
  concurrentRequests: fc.integer({ min: 1, max: 150 }),
  spendPerDayMicroUsd: fc.nat(60_000),
  tokensPerMonth: fc.nat(30_000),
}, { requiredKeys: [] });

const sizes = fc.array(
  fc.record({ input: fc.nat(60), output: fc.nat(60), large: fc.boolean() }),
  { minLength: 1, maxLength: 60 },
);

const account = fc.record({
  account: fc.record({
    status: fc.constantFrom<Account["status"][]>(
      "active",
      "active",
      "disabled",
    ),
    billing: fc.constantFrom<Billing[]>("prepaid", "postpaid"),
    balanceMicroUsd: fc.nat(60_000),
  }),
  ownBalance: fc.option(fc.nat(30_000), { nil: undefined }),
  models: fc.option(fc.constant(["small"]), { nil: undefined }),
  limits,
  keyLimits: fc.option(limits, { nil: undefined }),
});

function callOf(
  { input, output, large = false }: {
    readonly input: number;
    readonly output: number;
    readonly large?: boolean;
  },
  index = 0,
): ReservedCall {
  return {
    requestId: `req_${index}`,
    accountId: "a",
    keyId: "k",
    model: large ? "large" : "small",
    inputTokens: input,
    maxOutputTokens: output,
    price: PRICE,
    reservedMicroUsd: input + 2 * output,
    reservedTokens: input + output,
    atMs: NOW_MS,
  };
}

function stateOf(
  account: Partial<AccountState["account"]>,
  plan: Partial<Plan> = {},
  ownBalance?: number,
): AccountState {
  return {
    account: {
      id: "a",
      name: "",
      planId: "p",
      status: "active",
      billing: "prepaid",
      balanceMicroUsd: 0,
      reservedMicroUsd: 0,
      createdAtMs: 0,
      ...account,
    },
    plan: { id: "p", createdAtMs: 0, ...plan },
    modelBalances: new Map(
      ownBalance === undefined
        ? []
        : [["large", { balanceMicroUsd: ownBalance, reservedMicroUsd: 0 }]],
    ),
    use: UNUSED,
  };
}

Deno.test("admission grants every foreseen call, after all calls that are not decided yet", () => {
  let foreseen = 0;
  let refused = 0;
  fc.assert(
    fc.property(account, sizes, (given, sizes) => {
      let state = stateOf(
        given.account,
        { ...given.limits, ...compact({ models: given.models }) },
        given.ownBalance,
      );
      let key: KeyState | undefined = given.keyLimits &&
        { id: "k", limits: given.keyLimits, use: UNUSED };
      const calls = sizes.map(callOf);
      const foresight = new Foresight(() => NOW_MS);
      const cache = new WriteCache();
      cache.states.set("a", state);
      cache.keyStates.set("k", key);
      foresight.learn(calls.map(reserveEvent), cache);
      const forecasts = calls.map((call) => {
        const grants = foresight.grants(call);
        foresight.begin(call);
        return grants;
      });
      for (const [index, call] of calls.entries()) {
        const admission = admit(state, key, call, NOW_MS);
        if (admission.granted) {
          state = admission.state;
          key = admission.key;
        } else refused++;
        if (forecasts[index] === true) {
          foreseen++;
          assert.ok(admission.granted);
        }
      }
    }),
    { numRuns: 1000 },
  );
  // Both happen often, so that the assertion above means something.
  assert.ok(foreseen > 100 && refused > 100, `${foreseen} and ${refused}`);
});

Deno.test("nothing is foreseen without a state, from an old one, or for another account or key", () => {
  const clock = { ms: NOW_MS };
  const foresight = new Foresight(() => clock.ms);
  const call = callOf({ input: 1, output: 1 });
  assert.equal(foresight.grants(call), false);
  const cache = new WriteCache();
  cache.states.set("a", stateOf({ billing: "postpaid", balanceMicroUsd: 0 }));
  foresight.learn([reserveEvent(call)], cache);
  assert.equal(foresight.grants(call), true);
  assert.equal(foresight.grants({ ...call, accountId: "b" }), false);
  assert.equal(foresight.grants({ ...call, keyId: "l" }), false);
  clock.ms += 1000;
  assert.equal(foresight.grants(call), true);
  clock.ms++;
  assert.equal(foresight.grants(call), false);
});

Deno.test("a call counts until it is decided", () => {
  const foresight = new Foresight(() => NOW_MS);
  const call = callOf({ input: 0, output: 50 });
  const cache = new WriteCache();
  cache.states.set("a", stateOf({ billing: "prepaid", balanceMicroUsd: 1100 }));
  foresight.learn([reserveEvent(call)], cache);
  assert.equal(foresight.grants(call), true);
  foresight.begin(call);
  assert.equal(foresight.grants(call), true);
  foresight.begin(call);
  assert.equal(foresight.grants(call), false);
  foresight.end(call);
  assert.equal(foresight.grants(call), true);
});

function reserveEvent(call: ReservedCall): LedgerEvent {
  return { type: "reserve", call, leaseId: "o" };
}
