/** Each `response.create` is charged and limited as the same request over HTTP. */
import assert from "node:assert/strict";
import { type JsonObject, objectOr } from "../../translate/bytes/json.ts";
import {
  billedUsage,
  chargesIn,
  ledgerEntryOf,
} from "../support/tables/billing.ts";
import { openSocket } from "../support/clients/socket_client.ts";
import {
  FAMILIES,
  startTestGateway,
  type TestGateway,
} from "../support/test_gateway.ts";

const [MODEL = ""] = FAMILIES;

function requestIdOf([first]: readonly JsonObject[]): string {
  return String(objectOr(first?.["headers"])["request-id"]);
}

async function withGateway(
  run: (gateway: TestGateway) => Promise<void>,
): Promise<void> {
  await using gateway = await startTestGateway();
  await run(gateway);
  assert.deepEqual(await gateway.accounts.admin.audit(), []);
}

Deno.test("a turn is charged once, as over HTTP", (t) =>
  withGateway(async (gateway) => {
    const client = await openSocket(gateway.url);
    for (const model of FAMILIES) {
      await t.step(model, async () => {
        const fields = { model, input: "[[fx:text]]", store: false };
        const http = await gateway.post("/v1/responses", fields);
        await http.text();
        const events = await client.create(fields);
        const [overHttp, overSocket] = await Promise.all(
          [http.headers.get("request-id") ?? "", requestIdOf(events)].map((
            id,
          ) => ledgerEntryOf(gateway, id)),
        );
        assert.ok(overHttp !== undefined && overSocket !== undefined);
        assert.deepEqual(billedUsage(overSocket), billedUsage(overHttp));
        assert.equal(overSocket.microUsd, overHttp.microUsd);
        assert.ok(overSocket.microUsd !== 0);
      });
    }
    await client.close();
  }));

Deno.test("turns count towards the limits of a key, and are refused beyond its balance", () =>
  withGateway(async (gateway) => {
    const { admin } = gateway.accounts;
    const { id: planId } = await admin.plans.create({ requestsPerMinute: 2 });
    const { id: accountId } = await admin.accounts.create({ planId });
    const { text = "" } = await admin.keys.issue({ accountId });
    const client = await openSocket(gateway.url, { "x-api-key": text });
    const fields = { model: MODEL, input: "[[fx:text]]", store: false };
    const outcome = async (): Promise<readonly unknown[]> => {
      const last = (await client.create(fields)).at(-1) ?? {};
      const { type, status, error, headers } = last;
      return [
        type,
        status,
        objectOr(error)["code"],
        objectOr(headers)["retry-after"] !== undefined,
      ];
    };
    assert.deepEqual(await outcome(), [
      "error",
      429,
      "insufficient_quota",
      false,
    ]);
    await admin.accounts.topUp(accountId, { microUsd: 1_000_000 });
    for (let turn = 0; turn < 2; turn++) {
      assert.equal((await outcome())[0], "response.completed");
    }
    const [, status, code, hasDelay] = await outcome();
    assert.deepEqual([status, code, hasDelay], [
      429,
      "requests_per_minute",
      true,
    ]);
    await client.close();
    assert.equal((await chargesIn(gateway)).length, 2);
  }));

Deno.test("a turn that its client leaves is charged for what was generated", () =>
  withGateway(async (gateway) => {
    const client = await openSocket(gateway.url);
    client.send({
      type: "response.create",
      model: MODEL,
      store: false,
      input: "[[fx:text-long?gate=half&at=100]]",
    });
    const created = await client.next();
    await gateway.replay.gateReached("half");
    await client.close();
    const entry = await ledgerEntryOf(gateway, requestIdOf([created]));
    assert.ok(entry.microUsd !== 0);
    assert.equal((await chargesIn(gateway)).length, 1);
  }));
