/**
 * Two simulated processes share one store; calls, settlements, repetitions, faults, crashes, and
 * cuts between a process and the store come in any order. `testing/ledger_model.ts` computes the
 * expected ledger.
 */
import fc from "fast-check";
import { openStore } from "../store/open_store.ts";
import type { Store } from "../store/store.ts";
import { type LedgerAction, LedgerModel } from "../testing/ledger_model.ts";
import { postgresAt } from "../testing/stores.ts";

const process = fc.nat(1);
const account = fc.nat(1);
const callFields = {
  process,
  account,
  model: fc.nat(1),
  input: fc.nat(50),
  max: fc.nat(100),
  leaves: fc.nat(3).map((n) => n === 0),
};
const when = fc.constantFrom("before" as const, "after" as const);

/** An action with its fields, of so many. */
function some<D extends LedgerAction["do"], F extends object>(
  weight: number,
  name: D,
  fields: { readonly [K in keyof F]: fc.Arbitrary<F[K]> },
): fc.WeightedArbitrary<F & { readonly do: D }> {
  const arbitrary = fc.record(fields).map((given) => ({ ...given, do: name }));
  return { weight, arbitrary };
}

const action: fc.Arbitrary<LedgerAction> = fc.oneof(
  some(5, "reserve", callFields),
  some(4, "settle", { which: fc.nat(), part: fc.nat(100) }),
  some(1, "settle again", { which: fc.nat() }),
  some(2, "flush", { process }),
  some(1, "fault", { process, when }),
  some(1, "crash", { process }),
  some(2, "cut", { process }),
  some(1, "cut reserving", { when, ...callFields }),
  some(2, "heal", { process }),
  some(2, "top up", {
    account,
    ownBalance: fc.boolean(),
    // With a large balance, calls go ahead of their decision.
    microUsd: fc.oneof(
      fc.integer({ min: 1, max: 500 }),
      fc.integer({ min: 1, max: 10_000 }),
    ),
  }),
  some(1, "wait", { ms: fc.nat(10_000) }),
  some(1, "die reserving", { when, ...callFields }),
);

/** Plays actions on new stores and compares each with the model. */
async function check(
  open: (stack: AsyncDisposableStack) => Promise<Store>,
  numRuns: number,
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(
      fc.array(action, { minLength: 5, maxLength: 60 }),
      async (actions) => {
        await using stack = new AsyncDisposableStack();
        const store = stack.use(await open(stack));
        const model = new LedgerModel(store);
        await model.start();
        for (const action of actions) {
          await model.perform(action);
          await model.check();
        }
        await model.finish();
      },
    ),
    { numRuns },
  );
}

Deno.test("the ledger is correct after any order of calls, faults, crashes and cuts", () =>
  check(() => openStore("sqlite::memory:"), 300));

const serverUrl = Deno.env.get("TEST_POSTGRES_URL");

Deno.test({
  name: "the ledger is correct on Postgres as well",
  ignore: serverUrl === undefined,
  async fn() {
    const runs = Number(Deno.env.get("POSTGRES_LEDGERS") ?? 8);
    await check(async (stack) => {
      const database = stack.use(
        await postgresAt(serverUrl ?? "").createDatabase(),
      );
      return await database.open();
    }, runs);
  },
});
