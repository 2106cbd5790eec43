/** Replies of configured endpoints on their way to the client. */
import assert from "node:assert/strict";
import { UPSTREAM_KEY, withPassed } from "../support/passed_upstream.ts";
import { chargesIn } from "../support/tables/billing.ts";
import { TEST_KEY, type TestGateway } from "../support/test_gateway.ts";
import { withTimeout } from "../support/with_timeout.ts";

const BODY = { model: "house-thing", input: "a text" };

const ask = ({ post }: TestGateway, signal?: AbortSignal): Promise<Response> =>
  post("/v1/things", BODY, { accept: "audio/mpeg" }, signal);

Deno.test("the upstream receives the body with its own model and its own key", async () => {
  let seen: Record<string, unknown> = {};
  await withPassed(
    async (request) => {
      const { pathname, search } = new URL(request.url);
      const names = ["authorization", "x-api-key", "accept", "content-type"];
      seen = {
        path: pathname + search,
        ...Object.fromEntries(
          names.map((one) => [one, request.headers.get(one)]),
        ),
        body: await request.text(),
      };
      return Response.json({ model: "upstream-thing-0", n: 1.0 });
    },
    { route: { path: "/things/{model}?version=2" } },
    async ({ post }) => {
      const text = '{"n": 1.0, "model": "house-thing", "x": [ ]}';
      const reply = await post("/v1/things?key=other", text, {
        accept: "audio/mpeg",
      });
      assert.deepEqual(seen, {
        path: "/base/things/upstream-thing-0?version=2",
        authorization: `Bearer ${UPSTREAM_KEY}`,
        "x-api-key": null,
        accept: "audio/mpeg",
        "content-type": "application/json",
        body: text.replace("house-thing", "upstream-thing-0"),
      });
      assert.deepEqual(await reply.json(), { model: "house-thing", n: 1 });
      assert.equal(reply.headers.get("x-gateway-dropped"), null);
    },
  );
});

Deno.test("a reply that the upstream breaks off is broken off for the client, and charged", async () => {
  const broken = Promise.withResolvers<void>();
  await withPassed(
    () =>
      new Response(
        new ReadableStream({
          async start(controller) {
            controller.enqueue(new Uint8Array(1_000));
            await broken.promise;
            controller.error(new Error("cut"));
          },
        }),
        { headers: { "content-type": "audio/mpeg" } },
      ),
    {},
    async (server) => {
      const reply = await ask(server);
      assert.equal(reply.status, 200);
      broken.resolve();
      await assert.rejects(reply.arrayBuffer());
      const entry = await server.logEntry(({ model }) =>
        model === "house-thing"
      );
      assert.equal(entry.ended, "failed");
      assert.equal(entry.cost_micro_usd, 500);
    },
  );
});

Deno.test("a client that leaves in the middle ends the upstream's reply", async () => {
  const cancelled = Promise.withResolvers<void>();
  await withPassed(
    () =>
      new Response(
        new ReadableStream({
          pull(controller) {
            controller.enqueue(new Uint8Array(10_000));
          },
          cancel: () => cancelled.resolve(),
        }),
        { headers: { "content-type": "audio/mpeg" } },
      ),
    {},
    async (server) => {
      const leaving = new AbortController();
      const reply = await ask(server, leaving.signal);
      await reply.body?.getReader().read();
      leaving.abort();
      await cancelled.promise;
      const entry = await server.logEntry(({ model }) =>
        model === "house-thing"
      );
      assert.equal(entry.ended, "caller_left");
      assert.equal(entry.cost_micro_usd, 500);
    },
  );
});

Deno.test("the upstream's key is removed from every kind of reply", async () => {
  for (const type of ["application/json", "text/plain", "text/event-stream"]) {
    const text = `{"key":"${UPSTREAM_KEY}"}`;
    const headers = {
      "content-type": `${type}; a=${UPSTREAM_KEY}`,
      "content-disposition": `attachment; filename="${UPSTREAM_KEY}"`,
    };
    await withPassed(
      () => new Response(text, { headers }),
      {},
      async (server) => {
        const reply = await ask(server);
        assert.equal(await reply.text(), '{"key":"[removed]"}');
        assert.equal(
          reply.headers.get("content-type"),
          `${type}; a=[removed]`,
        );
        assert.equal(
          reply.headers.get("content-disposition"),
          'attachment; filename="[removed]"',
        );
      },
    );
  }
});

Deno.test("what is no reply is an error, and costs nothing", async () => {
  const page = { headers: { "content-type": "text/html" } };
  const json = { headers: { "content-type": "application/json" } };
  const table: readonly (readonly [Response, number, RegExp])[] = [
    [new Response("<html>", page), 502, /web page/],
    [new Response('{"a":', json), 502, /not JSON/],
    [Response.json({ error: { message: "no voice" } }), 502, /no voice/],
    [
      Response.json({ error: { message: "bad voice", param: "voice" } }, {
        status: 400,
      }),
      400,
      /bad voice/,
    ],
    [Response.redirect("http://127.0.0.1:9/"), 502, /./],
  ];
  for (const [response, status, text] of table) {
    await withPassed(() => response.clone(), {}, async (server) => {
      const reply = await ask(server);
      assert.equal(reply.status, status);
      assert.match((await reply.json()).error.message, text);
      const entry = await server.logEntry(({ model }) =>
        model === "house-thing"
      );
      assert.equal(entry.cost_micro_usd ?? 0, 0);
    });
  }
});

Deno.test("an empty reply is passed as one", () =>
  withPassed(
    () => new Response(null, { status: 204 }),
    {},
    async (server) => {
      const reply = await ask(server);
      assert.equal(reply.status, 200);
      assert.equal((await reply.arrayBuffer()).byteLength, 0);
    },
  ));

Deno.test("tokens of a streamed reply are charged from its events, up to its last one", async (t) => {
  const event = (json: unknown): string => `data: ${JSON.stringify(json)}\n\n`;
  const events = event({ delta: "a" }) +
    event({ done: true, usage: { input_tokens: 10, output_tokens: 4 } });
  const done = `${events}data: [DONE]\n\n`;
  const late = event({ usage: { input_tokens: 90, output_tokens: 90 } });
  const headers = { "content-type": "Text/Event-Stream; charset=utf-8" };
  const price = { input: 2_000_000, output: 5_000_000 };
  for (
    const [name, body, staysOpen] of [
      ["the body ends", events, false],
      ["[DONE]", done, true],
      ["usage after [DONE]", done + late, true],
    ] as const
  ) {
    await t.step(name, () =>
      withPassed(
        () =>
          new Response(
            new ReadableStream({
              start(controller) {
                controller.enqueue(new TextEncoder().encode(body));
                if (!staysOpen) controller.close();
              },
            }),
            { headers },
          ),
        { model: { price } },
        async (server) => {
          const reply = await ask(server);
          assert.equal(await withTimeout(reply.text(), "the end"), body);
          const entry = await server.logEntry(({ model }) =>
            model === "house-thing"
          );
          assert.equal(entry.ended, "complete");
          assert.equal(entry.cost_micro_usd, 10 * 2 + 4 * 5);
          assert.equal((await chargesIn(server)).at(-1)?.estimated, false);
        },
      ));
  }
});

Deno.test("what is no count in a reply's usage is estimated, like usage that is missing", async () => {
  const inputTokens = Math.ceil(JSON.stringify(BODY).length / 4);
  for (
    const [usage, input] of [
      [{ prompt_tokens: 10, completion_tokens: "7" }, 10],
      [{ input_tokens: 10, output_tokens: -7, total_tokens: 12 }, 10],
      [{ prompt_tokens: "10", completion_tokens: {} }, inputTokens],
    ] as const
  ) {
    const text = `\ufeff${JSON.stringify({ usage, text: "x".repeat(400) })}`;
    await withPassed(
      () =>
        new Response(text, { headers: { "content-type": "application/json" } }),
      { model: { price: { input: 2_000_000, output: 5_000_000 } } },
      async (server) => {
        const reply = await (await ask(server)).bytes();
        assert.equal(reply[0], "{".charCodeAt(0), "no byte order mark");
        const [charge] = await chargesIn(server);
        assert.equal(
          charge?.microUsd,
          -(input * 2 + Math.ceil(reply.length / 4) * 5),
        );
        assert.equal(charge?.estimated, true);
      },
    );
  }
});

Deno.test("a reply in an encoding that cannot be read is an error, and costs nothing", async () => {
  for (const encoding of ["zstd", "gzip, br", "aes128gcm"]) {
    await withPassed(
      () =>
        new Response(new Uint8Array(100), {
          headers: {
            "content-type": "audio/mpeg",
            "content-encoding": encoding,
          },
        }),
      {},
      async (server) => {
        const reply = await ask(server);
        assert.equal(reply.status, 502);
        assert.match((await reply.json()).error.message, /content-encoding/);
        const [charge] = await chargesIn(server);
        assert.equal(charge?.microUsd, 0);
      },
    );
  }
});

Deno.test("a reply without the tokens that are its only price is charged by an estimate", () =>
  withPassed(
    () =>
      new Response("x".repeat(400), {
        headers: { "content-type": "text/plain" },
      }),
    { model: { price: { input: 2_000_000, output: 5_000_000 } } },
    async (server) => {
      await (await ask(server)).text();
      const entry = await server.logEntry(({ model }) =>
        model === "house-thing"
      );
      const inputTokens = Math.ceil(JSON.stringify(BODY).length / 4);
      assert.equal(entry.cost_micro_usd, inputTokens * 2 + 100 * 5);
      assert.equal((await chargesIn(server)).at(-1)?.estimated, true);
    },
  ));

Deno.test("what a call can cost is reserved before an upstream sees it", async () => {
  let calls = 0;
  await withPassed(
    () => {
      calls++;
      return Response.json({ data: [{}] });
    },
    {
      route: { counts: { image: { request: "n", reply: ["data"] } } },
      model: { price: { image: 400_000 } },
    },
    async ({ post, accounts: { admin, flush } }) => {
      const { id: planId } = await admin.plans.create({
        models: ["house-thing"],
      });
      const { id } = await admin.accounts.create({ planId });
      await admin.accounts.topUp(id, { microUsd: 1_000_000 });
      const { text = "" } = await admin.keys.issue({ accountId: id });
      const status = async (n: unknown): Promise<unknown> => {
        const reply = await post("/v1/things", { ...BODY, n }, {
          "x-api-key": text,
        });
        const { error } = await reply.json();
        return error?.code ?? error?.param ?? reply.status;
      };
      assert.equal(await status(3), "insufficient_balance");
      assert.equal(await status(-1), "n");
      assert.equal(await status({}), "n");
      assert.equal(await status(1e9), "n");
      assert.equal(calls, 0);
      // One of two images arrives, and is charged.
      assert.equal(await status(2), 200);
      await flush();
      const { balanceMicroUsd } = await admin.accounts.get(id);
      assert.equal(balanceMicroUsd, 600_000);
      assert.deepEqual(await admin.audit(), []);
    },
  );
});

Deno.test("a reply that reports more than was asked for is charged what was asked for, marked as an estimate", () =>
  withPassed(
    () => Response.json({ data: [{}, {}, {}] }),
    {
      route: { counts: { image: { request: "n", reply: ["data"] } } },
      model: { price: { image: 1_000 } },
    },
    async (server) => {
      const reply = await server.post("/v1/things", { ...BODY, n: 2 });
      await reply.body?.cancel();
      const [charge] = await chargesIn(server);
      assert.equal(charge?.microUsd, -2_000);
      assert.equal(charge?.estimated, true);
    },
  ));

Deno.test("a request for none is charged what its reply has: upstreams take it for the usual number", () =>
  withPassed(
    () => Response.json({ data: [{}, {}] }),
    {
      route: { counts: { image: { request: "n", reply: ["data"] } } },
      model: { price: { image: 1_000 } },
    },
    async ({ post, logEntry }) => {
      for (const n of [0, "0", "0x0", 0.0, []]) {
        const reply = await post("/v1/things", { ...BODY, n });
        await reply.body?.cancel();
        const entry = await logEntry(({ request_id }) =>
          request_id === reply.headers.get("request-id")
        );
        assert.equal(entry.cost_micro_usd, 2_000, JSON.stringify(n));
      }
    },
  ));

Deno.test("absurd claims are charged up to what the call can have used, marked as estimates", async () => {
  const bytes = JSON.stringify(BODY).length;
  for (
    const [counts, price, usage, microUsd] of [
      [{}, { input: 1_000_000, output: 1_000_000 }, {
        prompt_tokens: 1e308,
        completion_tokens: 1e308,
      }, 2 * bytes + 131_072 + 131_072],
      [{ image: { reply: ["usage.images"] } }, { image: 10 }, {
        images: 1e308,
      }, 1_000],
      [{ second: { reply: ["usage.seconds"] } }, { second: 1_000_000 }, {
        seconds: 1e308,
      }, 86_400],
      [{ second: { reply: ["usage.of.sound"] } }, { second: 1_000_000 }, {
        of: { sound: 1e308 },
      }, 86_400],
    ] as const
  ) {
    await withPassed(
      () => Response.json({ usage }),
      { route: { counts }, model: { price } },
      async (server) => {
        const reply = await server.post("/v1/things", BODY);
        await reply.body?.cancel();
        const [charge] = await chargesIn(server);
        assert.equal(charge?.microUsd, -microUsd);
        assert.equal(charge?.estimated, true);
      },
    );
  }
});

Deno.test("a form is charged no more seconds than its bytes can have", () =>
  withPassed(
    () => Response.json({ usage: { seconds: 80_000 } }),
    {
      route: { counts: { second: { reply: ["usage.seconds"] } } },
      model: { price: { second: 1_000_000 } },
    },
    async (server) => {
      const form = new FormData();
      form.set("model", "house-thing");
      form.set("file", new Blob([new Uint8Array(49_000)]), "a.wav");
      const reply = await fetch(`${server.url}/v1/things`, {
        method: "POST",
        headers: { authorization: `Bearer ${TEST_KEY}` },
        body: form,
      });
      await reply.body?.cancel();
      const [charge] = await chargesIn(server);
      assert.equal(charge?.microUsd, -50);
    },
  ));

Deno.test("the gateway opens no address that a body names", async () => {
  const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  let connections = 0;
  const accepting = (async () => {
    for await (const connection of listener) {
      connections++;
      connection.close();
    }
  })();
  const address = `http://127.0.0.1:${listener.addr.port}/`;
  await withPassed(
    () => Response.json({ url: address }),
    {},
    async ({ post }) => {
      const reply = await post("/v1/things", {
        ...BODY,
        url: address,
        path: address,
        base_url: address,
        image_url: { url: address },
      });
      assert.deepEqual(await reply.json(), { url: address });
    },
  );
  listener.close();
  await accepting;
  assert.equal(connections, 0);
});

Deno.test("an endpoint without a key is refused in the chat format", () =>
  withPassed(() => Response.json({}), {}, async ({ url }) => {
    const reply = await fetch(`${url}/v1/things`, {
      method: "POST",
      body: "{}",
    });
    assert.equal(reply.status, 401);
    const { error } = await reply.json();
    assert.equal(error.code, "invalid_api_key");
    const other = await fetch(`${url}/v1/things`);
    assert.equal(other.status, 405);
    await other.body?.cancel();
  }));
