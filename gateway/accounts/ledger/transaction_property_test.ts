/**
 * Two simulated processes share one store; calls, settlements, repetitions, faults, crashes,
 * and cuts between a process and the store come in any order. `testing/ledger_model.ts` computes the expected ledger.
 */
import fc from "fast-check";
import { openStore } from "../store/open_store.ts";
import type { Store } from "../store/store.ts";
import { type LedgerAction, ledgerModel } from "../testing/ledger_model.ts";
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
const action: fc.Arbitrary<LedgerAction> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant("reserve"), ...callFields }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("settle"),
      which: fc.nat(),
      part: fc.nat(100),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("settle again"), which: fc.nat() }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("flush"), process }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("fault"),
      process,
      when: when,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("crash"), process }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("cut"), process }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("cut reserving"),
      when,
      ...callFields,
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("heal"), process }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("top up"),
      account,
      ownBalance: fc.boolean(),
      // With a large balance, calls go ahead of their decision.
      microUsd: fc.oneof(
        fc.integer({ min: 1, max: 500 }),
        fc.integer({ min: 1, max: 10_000 }),
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("wait"), ms: fc.nat(10_000) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("die reserving"),
      when,
      ...callFields,
    }),
  },
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
        const store = await open(stack);
        stack.defer(() => store.close());
        const model = ledgerModel(store);
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

Deno.test("the ledger is correct after any order of calls, faults, crashes and cuts", async () => {
  await check(() => openStore("sqlite::memory:"), 300);
});

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
