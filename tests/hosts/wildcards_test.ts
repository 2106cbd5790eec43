/** Wildcard rows: a gateway offers what a host lists. */
import assert from "node:assert/strict";
import {
  COMPLETION,
  type HostUpstream,
  startHostUpstream,
} from "../support/upstreams/host_upstream.ts";
import {
  startTestGateway,
  TEST_KEY,
  type TestGateway,
} from "../support/test_gateway.ts";
import { bearer } from "../support/clients/bearer.ts";

const PRICE = {
  input: 1_000_000,
  output: 1_000_000,
  cache_read: 0,
  cache_write: 0,
};

function fileOf(host: HostUpstream, models: unknown): string {
  return JSON.stringify({
    vendors: {
      host: {
        kind: "openai_compatible",
        base_url: `${host.url}/v1`,
        api_key_env: "HOST_KEY",
      },
    },
    models,
  });
}

/** A host that answers calls, and lists these ids. */
function listing(host: HostUpstream, ids: readonly string[]): void {
  host.answer(({ path }) =>
    path === "/v1/models"
      ? Response.json({ data: ids.map((id) => ({ id })) })
      : Response.json(COMPLETION)
  );
}

async function withGateway(
  models: unknown,
  prepare: (host: HostUpstream) => void,
  run: (gateway: TestGateway, host: HostUpstream) => Promise<void>,
): Promise<void> {
  await using host = startHostUpstream();
  prepare(host);
  await using gateway = await startTestGateway({
    realVendors: true,
    env: { HOST_KEY: "host-key" },
    configFile: fileOf(host, models),
  });
  await run(gateway, host);
}

async function modelIds(gateway: TestGateway): Promise<readonly string[]> {
  const response = await fetch(`${gateway.url}/v1/models`, bearer(TEST_KEY));
  const { data } = await response.json();
  return data.map(({ id }: { id: string }) => id);
}

async function called(
  gateway: TestGateway,
  model: string,
): Promise<readonly [number, unknown]> {
  const response = await gateway.post("/v1/chat/completions", {
    model,
    messages: [{ role: "user", content: "Hi" }],
  });
  const body = await response.json();
  if (response.status !== 200) return [response.status, body.error.code];
  const id = response.headers.get("request-id");
  const entry = await gateway.logEntry((one) => one.request_id === id);
  return [200, entry.cost_micro_usd];
}

Deno.test("a wildcard offers what the host lists, at the price of the longest pattern; the rest is refused", () =>
  withGateway(
    { "host/*": { vendor: "host" }, "host/llama-*": { price: PRICE } },
    (host) => listing(host, ["llama-3", "meta/llama", "other"]),
    async (gateway, host) => {
      assert.deepEqual(
        await gateway.event(({ type }) => type === "models_listed"),
        { type: "models_listed", vendor: "host", models: 3 },
      );
      assert.equal(
        host.requests[0]?.headers.get("authorization"),
        "Bearer host-key",
      );
      assert.deepEqual(await modelIds(gateway), ["host/llama-3"]);
      assert.deepEqual(await called(gateway, "host/llama-3"), [200, 5]);
      assert.equal(
        JSON.parse(host.requests.at(-1)?.text ?? "").model,
        "llama-3",
      );
      assert.deepEqual(await called(gateway, "host/other"), [
        403,
        "model_not_priced",
      ]);
      assert.equal((await called(gateway, "host/llama-9"))[0], 404);
      assert.equal((await called(gateway, "host/*"))[0], 404);
    },
  ));

Deno.test("a host that is down does not stop the start; its models appear when it is back", () =>
  withGateway(
    { "host/*": { price: PRICE } },
    (host) => host.answer(() => new Response("", { status: 503 })),
    async (gateway, host) => {
      await gateway.event(({ type }) => type === "models_not_listed");
      assert.deepEqual(await modelIds(gateway), []);
      assert.equal((await called(gateway, "host/m"))[0], 404);
      listing(host, ["m"]);
      await gateway.event(({ type }) => type === "models_listed");
      assert.deepEqual(await called(gateway, "host/m"), [200, 5]);
    },
  ));

Deno.test("a reload keeps the known models, applies new prices at once, and reads the list again", () =>
  withGateway(
    { "host/*": { price: PRICE } },
    (host) => listing(host, ["a", "b"]),
    async (gateway, host) => {
      await gateway.event(({ type }) => type === "models_listed");
      listing(host, ["a", "b", "c"]);
      gateway.configure(fileOf(host, {
        "host/*": { price: { ...PRICE, output: 10_000_000 } },
        "host/b": null,
      }));
      assert.deepEqual(await called(gateway, "host/a"), [200, 23]);
      assert.equal((await called(gateway, "host/b"))[0], 404);
      await gateway.event((event) =>
        event.type === "models_listed" && event.models === 3
      );
      assert.deepEqual(await modelIds(gateway), ["host/a", "host/c"]);
      gateway.configure(fileOf(host, {}));
      assert.equal((await called(gateway, "host/a"))[0], 404);
    },
  ));
