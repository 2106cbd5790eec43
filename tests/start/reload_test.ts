/** A configuration file that changes while the gateway runs. */
import assert from "node:assert/strict";
import type { ChangeRecord } from "../../gateway/accounts/changes/change.ts";
import { openAdmin } from "../../gateway/accounts/repositories/admin.ts";
import { openStore } from "../../gateway/accounts/store/open_store.ts";
import { visit } from "../support/console/visitor.ts";
import {
  COMPLETION,
  type HostUpstream,
  startHostUpstream,
} from "../support/upstreams/host_upstream.ts";
import { startProgram } from "../support/programs/program.ts";
import { startTestGateway, TEST_KEY } from "../support/test_gateway.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";
import { bearer } from "../support/clients/bearer.ts";

const MODEL = "house-model";

/** A file whose only model is at one host, at one price. */
function fileOf(host: HostUpstream, price: number): string {
  return JSON.stringify({
    vendors: {
      host: {
        kind: "openai_compatible",
        base_url: `${host.url}/v1`,
        auth: "none",
      },
    },
    models: {
      [MODEL]: {
        price: {
          input: price * 1_000_000,
          output: price * 1_000_000,
          cache_read: 0,
          cache_write: 0,
        },
        candidates: [{ vendor: "host", upstream_model: "m" }],
      },
    },
  });
}

const BODY = { model: MODEL, messages: [{ role: "user", content: "Hi" }] };

Deno.test("a call under way keeps its upstream and price; the next call has the new ones", async () => {
  await using first = startHostUpstream();
  await using second = startHostUpstream();
  const arrived = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  using _released = { [Symbol.dispose]: () => release.resolve() };
  first.answer(async () => {
    arrived.resolve();
    await release.promise;
    return Response.json(COMPLETION);
  });
  second.answer(() => Response.json(COMPLETION));
  await using gateway = await startTestGateway({
    realVendors: true,
    env: { GATEWAY_CONFIG: "gateway.json" },
    configFile: fileOf(first, 1),
  });
  const costOf = async (response: Response): Promise<number | undefined> => {
    assert.equal(response.status, 200);
    await response.body?.cancel();
    const id = response.headers.get("request-id");
    return (await gateway.logEntry((entry) => entry.request_id === id))
      .cost_micro_usd;
  };
  const underWay = gateway.post("/v1/chat/completions", BODY);
  await arrived.promise;
  gateway.configure(fileOf(second, 10));
  assert.equal(
    await costOf(await gateway.post("/v1/chat/completions", BODY)),
    50,
  );
  release.resolve();
  assert.equal(await costOf(await underWay), 5);
  assert.deepEqual(
    [first.requests.length, second.requests.length],
    [1, 1],
  );
  assert.deepEqual(await gateway.accounts.admin.audit(), []);
});

Deno.test("candidates of an unchanged vendor keep their health; those of a changed one begin anew", async () => {
  await using first = startHostUpstream();
  await using second = startHostUpstream();
  first.answer(() =>
    new Response("{}", { status: 429, headers: { "retry-after": "60" } })
  );
  second.answer(() =>
    new Response("{}", { status: 429, headers: { "retry-after": "60" } })
  );
  await using gateway = await startTestGateway({
    realVendors: true,
    env: { GATEWAY_CONFIG: "gateway.json" },
    configFile: fileOf(first, 1),
  });
  const isResting = (): boolean =>
    gateway.gateway.models.allCandidates.some(({ name, health }) =>
      name === "host/m" && health.coolingDownUntilMs(Date.now()) !== undefined
    );
  const response = await gateway.post("/v1/chat/completions", BODY);
  await response.body?.cancel();
  assert.equal(isResting(), true);
  gateway.configure(fileOf(first, 2));
  assert.equal(isResting(), true);
  gateway.configure(fileOf(second, 2));
  assert.equal(isResting(), false);
});

Deno.test("the program takes a changed file on SIGHUP and by looking at it, and refuses a wrong one with its reason", async () => {
  await using host = startHostUpstream();
  host.answer(() => Response.json(COMPLETION));
  await using folder = await temporaryFolder();
  const path = `${folder.path}/gateway.json`;
  await Deno.writeTextFile(path, fileOf(host, 1));
  await using program = await startProgram({
    folder: folder.path,
    env: {
      GATEWAY_CONFIG: path,
      GATEWAY_KEY: TEST_KEY,
      GATEWAY_ADMIN_TOKEN: "0123456789abcdef",
    },
  });
  const inForce = async (): Promise<string> => {
    const response = await fetch(
      `${program.url}/readyz?verbose`,
      bearer("0123456789abcdef"),
    );
    return (await response.json()).configuration.hash;
  };
  const before = await inForce();
  await program.printed(
    new RegExp(`"configuration_loaded","hash":"${before}"`),
  );
  await Deno.writeTextFile(path, fileOf(host, 2));
  program.signal("SIGHUP");
  // The first line is that of the start.
  await program.printed(/configuration_loaded[^]*configuration_loaded/);
  const after = await inForce();
  assert.notEqual(after, before);
  const operator = await visit(program.url, "operator", "0123456789abcdef");
  const page = await operator.get("/console/operator/upstreams");
  assert.match(await page.text(), new RegExp(`<code>${after}</code>`));
  await Deno.writeTextFile(path, '{"modles": {}}');
  await program.printed(/configuration_refused.*modles/);
  assert.equal(await inForce(), after);
  const metrics = await fetch(
    `${program.url}/metrics`,
    bearer("0123456789abcdef"),
  );
  assert.match(
    await metrics.text(),
    /^gateway_configuration_refused 1$[^]*^gateway_events_total\{type="configuration_loaded"\} 1$/m,
  );
  const response = await fetch(`${program.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "x-api-key": TEST_KEY, "content-type": "application/json" },
    body: JSON.stringify(BODY),
  });
  assert.equal(response.status, 200);
  await response.body?.cancel();
  program.signal("SIGTERM");
  assert.equal(await program.ended, 0, program.output());
  const recorded = await configurationChanges(folder.path);
  assert.deepEqual(
    recorded.map(({ action, target }) => [action, target]),
    [
      ["configuration.load", before],
      ["configuration.load", after],
      ["configuration.refuse", after],
    ],
  );
  const [first, second, third] = recorded;
  assert.match(
    String(first?.after?.["GATEWAY_ADMIN_TOKEN"]),
    /^set, mark \w{4}$/,
  );
  assert.equal(first?.after?.["GATEWAY_CONFIG"], path);
  const priceOf = (price: number): string =>
    `input ${price}000000, cache read 0, cache write 0, output ${price}000000`;
  assert.deepEqual([second?.before, second?.after], [
    { file: before, [`model ${MODEL}`]: priceOf(1) },
    { file: after, [`model ${MODEL}`]: priceOf(2) },
  ]);
  assert.match(String(third?.after?.["reason"]), /modles/);
});

async function configurationChanges(
  folder: string,
): Promise<readonly ChangeRecord[]> {
  await using store = await openStore(`sqlite:${folder}/data/gateway.sqlite3`);
  const { changes } = await openAdmin(store, () => true);
  const { data } = await changes.list({ actorKind: "gateway" });
  return data.filter(({ action }) => action.startsWith("configuration."))
    .toReversed();
}
