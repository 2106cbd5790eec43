import assert from "node:assert/strict";
import { readConfig } from "../config.ts";
import { discover, withRows } from "./discover.ts";

/** A host with a list, and a configuration whose vendor `host` is there. */
async function withList(
  list: unknown,
  run: (
    rows: () => ReturnType<typeof discover>,
    headers: () => Headers | undefined,
  ) => Promise<void>,
  credential: Readonly<Record<string, unknown>> = { auth: "none" },
): Promise<void> {
  let headers: Headers | undefined;
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    (request) => {
      headers = request.headers;
      return new URL(request.url).pathname === "/v1/models"
        ? Response.json(list)
        : new Response(null, { status: 404 });
    },
  );
  const config = readConfig({
    env: { GATEWAY_CONFIG: "gateway.json", HOST_KEY: "host-key" },
    readFile: () =>
      JSON.stringify({
        vendors: {
          host: {
            kind: "openai_compatible",
            base_url: `http://127.0.0.1:${server.addr.port}/v1`,
            ...credential,
          },
        },
      }),
  });
  try {
    await run(() => discover(config, "host"), () => headers);
  } finally {
    await server.shutdown();
  }
}

Deno.test("discover() lists a local host's models as free rows, from every form of list", async (t) => {
  const forms: Readonly<Record<string, unknown>> = {
    data: { object: "list", data: [{ id: "b" }, { id: "a" }, { id: "a" }, {}] },
    models: { models: [{ name: "a" }, { name: "b" }] },
    array: [{ id: "a" }, { id: "b" }],
  };
  for (const [name, list] of Object.entries(forms)) {
    await t.step(name, () =>
      withList(list, async (rows) => {
        assert.deepEqual(await rows(), {
          "host/a": { vendor: "host", upstream_model: "a", price: "free" },
          "host/b": { vendor: "host", upstream_model: "b", price: "free" },
        });
      }));
  }
});

Deno.test("discover() sends the vendor's key", () =>
  withList({ data: [] }, async (rows, headers) => {
    await rows();
    assert.equal(headers()?.get("authorization"), "Bearer host-key");
  }, { api_key_env: "HOST_KEY" }));

Deno.test("discover() states why there is no list", async () => {
  await withList("nothing", async (rows) => {
    await assert.rejects(rows(), /vendor: the host sent no list of models/);
  });
  const config = readConfig({
    env: { VENDORA_API_KEY: "k" },
    readFile: () => "{}",
  });
  await assert.rejects(discover(config, "vendora"), /no list of models/);
  await assert.rejects(discover(config, "x"), /there is no vendor x/);
});

Deno.test("withRows() adds rows and keeps those of the file", () => {
  const row = { vendor: "h", upstream_model: "m", price: null };
  const text = withRows(
    '{"vendors": {}, "models": {"h/m": {"price": "free"}}}',
    {
      "h/m": row,
      "h/n": row,
    },
  );
  assert.deepEqual(JSON.parse(text), {
    vendors: {},
    models: { "h/m": { price: "free" }, "h/n": row },
  });
});
