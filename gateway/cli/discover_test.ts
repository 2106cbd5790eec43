import assert from "node:assert/strict";
import { readConfig } from "../settings/config.ts";
import { discover, withRows } from "./discover.ts";
import { serveLoopback } from "../../tests/support/serve_loopback.ts";

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
  await using server = serveLoopback((request) => {
    headers = request.headers;
    return new URL(request.url).pathname === "/v1/models"
      ? Response.json(list)
      : new Response(null, { status: 404 });
  });
  const base_url = `http://127.0.0.1:${server.addr.port}/v1`;
  const host = { kind: "openai_compatible", base_url, ...credential };
  const config = readConfig({
    env: { GATEWAY_CONFIG: "gateway.json", HOST_KEY: "host-key" },
    readFile: () => JSON.stringify({ vendors: { host } }),
  });
  await run(() => discover(config, "host"), () => headers);
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
        assert.deepEqual((await rows()).rows, {
          "host/a": { vendor: "host", upstream_model: "a", price: "free" },
          "host/b": { vendor: "host", upstream_model: "b", price: "free" },
        });
      }));
  }
});

const OBJECT = { object: "model", created: 1_763_000_000 };

/** Lists as local servers send them, the ids that they offer, and how many entries have none. */
const SERVERS: Readonly<
  Record<string, readonly [object, readonly string[], number]>
> = {
  Ollama: [
    {
      object: "list",
      data: [
        { id: "llama3.2:latest", ...OBJECT, owned_by: "library" },
        { id: "hf.co/x/Qwen2.5-7B-GGUF:Q4_K_M", ...OBJECT, owned_by: "hf.co" },
      ],
    },
    ["hf.co/x/Qwen2.5-7B-GGUF:Q4_K_M", "llama3.2:latest"],
    0,
  ],
  vLLM: [
    {
      object: "list",
      data: [{
        id: "Qwen/Qwen2.5-7B-Instruct",
        ...OBJECT,
        owned_by: "vllm",
        root: "Qwen/Qwen2.5-7B-Instruct",
        parent: null,
        max_model_len: 32_768,
        permission: [{ id: "modelperm-1", object: "model_permission" }],
      }],
    },
    ["Qwen/Qwen2.5-7B-Instruct"],
    0,
  ],
  "llama.cpp, with an alias": [
    {
      models: [{ name: "gemma-3", model: "gemma-3", type: "model" }],
      object: "list",
      data: [{ id: "gemma-3", ...OBJECT, meta: { n_ctx_train: 8192 } }],
    },
    ["gemma-3"],
    0,
  ],
  "llama.cpp, with the path of its file": [
    { object: "list", data: [{ id: "/models/gemma-3.gguf" }] },
    [],
    1,
  ],
  "LM Studio": [
    {
      data: [
        { id: "qwen2.5-7b-instruct@q4_k_m", object: "model" },
        { id: "text-embedding-nomic-embed-text-v1.5", object: "model" },
      ],
      object: "list",
    },
    ["qwen2.5-7b-instruct@q4_k_m", "text-embedding-nomic-embed-text-v1.5"],
    0,
  ],
};

Deno.test("discover() reads the lists of local servers, and counts what it leaves out", async (t) => {
  for (const [name, [list, ids, leftOut]] of Object.entries(SERVERS)) {
    await t.step(name, () =>
      withList(list, async (discovered) => {
        const { rows, ...counted } = await discovered();
        const found = Object.values(rows).map((row) => row.upstream_model);
        assert.deepEqual(found, ids);
        assert.deepEqual(counted, { leftOut });
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
  const file = '{"vendors": {}, "models": {"h/m": {"price": "free"}}}';
  const text = withRows(file, { "h/m": row, "h/n": row });
  assert.deepEqual(JSON.parse(text), {
    vendors: {},
    models: { "h/m": { price: "free" }, "h/n": row },
  });
});
