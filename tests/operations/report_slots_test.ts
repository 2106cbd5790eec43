/** Reports have slots of their own: beyond them they are refused, and calls go on. */
import assert from "node:assert/strict";
import type { ApiError } from "../../translate/model/error.ts";
import { ReadSlots } from "../../gateway/admin/read_slots.ts";
import { startTestGateway, TEST_KEY } from "../support/test_gateway.ts";

/** Reports that do not end until `end()`. */
function held(
  slots: ReadSlots,
  credentials: readonly string[],
): { end(): Promise<void> } {
  const ended = Promise.withResolvers<void>();
  const running = credentials.map((one) => slots.run(one, () => ended.promise));
  return {
    async end() {
      ended.resolve();
      await Promise.all(running);
    },
  };
}

const REPORTS: readonly string[] = [
  "/v1/usage?by=user",
  "/v1/calls",
];

Deno.test("reports beyond the slots of a credential or of the process are a 429 with retry-after, and calls go on", async () => {
  await using gateway = await startTestGateway();
  const { reportSlots } = gateway.gateway;
  const get = async (path: string): Promise<Response> => {
    const response = await fetch(gateway.url + path, {
      headers: { "x-api-key": TEST_KEY },
    });
    await response.text();
    return response;
  };
  for (const path of REPORTS) assert.equal((await get(path)).status, 200);
  const all = Array.from({ length: 16 }, (_, n) => `key_${n >> 2}`);
  const others = held(reportSlots, all);
  for (const path of REPORTS) {
    const refused = await get(path);
    assert.equal(refused.status, 429, path);
    assert.equal(refused.headers.get("retry-after"), "1");
  }
  const call = await gateway.call();
  assert.equal(call.status, 200);
  await call.text();
  await others.end();
  for (const path of REPORTS) assert.equal((await get(path)).status, 200);
});

Deno.test("a credential has four reports at a time, and another one its own", async () => {
  const slots = new ReadSlots("reports", 16);
  const four = held(slots, ["a", "a", "a", "a"]);
  const refused = { kind: "rate_limit", details: { retryAfterSeconds: 1 } };
  await assert.rejects(slots.run("a", () => {}), (error: typeof refused) => {
    assert.equal(error.kind, refused.kind);
    assert.equal(error.details.retryAfterSeconds, 1);
    return true;
  });
  assert.equal(await slots.run("b", () => 1), 1);
  await four.end();
  assert.equal(await slots.run("a", () => 2), 2);
  await assert.rejects(
    slots.run("a", () => {
      throw new RangeError("failed");
    }),
    RangeError,
  );
  const again = held(slots, ["a", "a", "a", "a"]);
  await again.end();
});

Deno.test("many refusals of a credential within a second are told to return at different times, others soon", async () => {
  const slots = new ReadSlots("reports", 4);
  const four = held(slots, ["a", "a", "a", "a"]);
  const waits = (credential: string, count: number): Promise<number[]> =>
    Promise.all(
      Array.from({ length: count }, () =>
        slots.run(credential, () => 0).catch(
          ({ details }: ApiError) => details.retryAfterSeconds ?? 0,
        )),
    );
  const of = await waits("a", 400);
  assert.ok(of.every((seconds) => seconds >= 1 && seconds <= 10), of.join());
  assert.ok(new Set(of).size > 5, of.join());
  assert.deepEqual(await waits("b", 4), [1, 1, 1, 1]);
  await four.end();
});
