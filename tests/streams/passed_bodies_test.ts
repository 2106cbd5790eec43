/** Bodies of configured endpoints on their way to an upstream. */
import assert from "node:assert/strict";
import { formBytes, formOf, withPassed } from "../support/passed_upstream.ts";
import { TEST_KEY } from "../support/test_gateway.ts";

const MIB = 1024 * 1024;
const FORM = { "content-type": "multipart/form-data; boundary=b" };

function send(
  url: string,
  body: BodyInit,
  headers: Readonly<Record<string, string>> = FORM,
  signal?: AbortSignal,
): Promise<Response> {
  return fetch(`${url}/v1/things`, {
    method: "POST",
    headers: { authorization: `Bearer ${TEST_KEY}`, ...headers },
    body,
    signal: signal ?? null,
  });
}

/** The form in two halves; the second one after `when`. */
function inHalves(
  bytes: Uint8Array,
  when: Promise<void>,
): ReadableStream<Uint8Array> {
  const half = Math.floor(bytes.length / 2);
  return new ReadableStream({
    async start(controller) {
      controller.enqueue(bytes.subarray(0, half));
      await when;
      controller.enqueue(bytes.subarray(half));
      controller.close();
    },
  });
}

/** An upstream that reads a form, and notices one that does not end. */
function reading() {
  const arrived = Promise.withResolvers<void>();
  const broken = Promise.withResolvers<void>();
  return {
    arrived: arrived.promise,
    broken: broken.promise,
    async answer(request: Request): Promise<Response> {
      try {
        for await (const _ of request.body ?? []) arrived.resolve();
      } catch {
        broken.resolve();
      }
      return Response.json({ ok: true });
    },
  };
}

Deno.test("a long form passes on while it arrives, with the model replaced", async () => {
  const form = formOf(6 * MIB);
  const arrived = Promise.withResolvers<void>();
  let text = "";
  let length: string | null = "";
  await withPassed(
    async (request) => {
      length = request.headers.get("content-length");
      const decoder = new TextDecoder();
      for await (const chunk of request.body ?? []) {
        text += decoder.decode(chunk);
        arrived.resolve();
      }
      return Response.json({ ok: true });
    },
    {},
    async ({ url, logEntry }) => {
      const reply = await send(url, inHalves(formBytes(form), arrived.promise));
      assert.deepEqual(await reply.json(), { ok: true });
      assert.equal(length, null);
      const whole = new TextDecoder().decode(formBytes(form));
      assert.ok(text === whole.replace("house-thing", "upstream-thing-0"));
      const entry = await logEntry(({ model }) => model === "house-thing");
      assert.equal(entry.cost_micro_usd, 500);
    },
  );
});

Deno.test("the length of a long form is told where the client told it", async () => {
  const bytes = formBytes(formOf(3 * MIB));
  await withPassed(
    async (request) => {
      const { length } = new Uint8Array(await request.arrayBuffer());
      return Response.json({
        length,
        announced: Number(request.headers.get("content-length")),
      });
    },
    {},
    async ({ url }) => {
      const { length, announced } = await (await send(url, bytes)).json();
      assert.equal(length, bytes.length + "upstream-thing-0".length - 11);
      assert.equal(announced, length);
    },
  );
});

Deno.test("a form whose price is in it is read before it passes", async () => {
  const { head, file, tail } = formOf(2 * MIB);
  const number =
    `\r\n--b\r\nContent-Disposition: form-data; name="n"\r\n\r\n3${tail}`;
  await withPassed(
    async (request) => {
      await request.arrayBuffer();
      return Response.json({ ok: true });
    },
    {
      route: { counts: { image: { request: "n" } } },
      model: { price: { image: 1_000 } },
    },
    async ({ url, logEntry }) => {
      const reply = await send(url, formBytes({ head, file, tail: number }));
      assert.equal(reply.status, 200);
      await reply.body?.cancel();
      const entry = await logEntry(({ model }) => model === "house-thing");
      assert.equal(entry.cost_micro_usd, 3_000);
    },
  );
});

const unavailable = async (request: Request): Promise<Response> => {
  await request.arrayBuffer();
  return Response.json({ error: { message: "away" } }, { status: 503 });
};

Deno.test("a form that is kept goes to the next upstream", async () => {
  let text = "";
  const form = formBytes(formOf(2 * MIB));
  await withPassed(unavailable, {
    async second(request) {
      text = await request.text();
      return Response.json({ ok: true });
    },
  }, async ({ url, logEntry }) => {
    const reply = await send(url, form);
    assert.deepEqual(await reply.json(), { ok: true });
    assert.ok(
      text ===
        new TextDecoder().decode(form)
          .replace("house-thing", "upstream-thing-1"),
    );
    const entry = await logEntry(({ model }) => model === "house-thing");
    assert.equal(entry.upstream, "host1/upstream-thing-1");
    assert.equal(entry.tried?.[0]?.upstream, "host0/upstream-thing-0");
  });
});

Deno.test("a form that is too long to be kept is sent once", async () => {
  let wasCalled = false;
  await withPassed(unavailable, {
    second() {
      wasCalled = true;
      return Response.json({ ok: true });
    },
  }, async ({ url }) => {
    const reply = await send(url, formBytes(formOf(8 * MIB)));
    assert.equal(reply.status, 503);
    assert.match((await reply.json()).error.message, /away/);
    assert.ok(!wasCalled);
  });
});

Deno.test("a refusal while the form is sent reaches the client, which sends on", async () => {
  const refused = Promise.withResolvers<void>();
  await withPassed(
    () => {
      refused.resolve();
      return Response.json({ error: { message: "no sound" } }, { status: 400 });
    },
    {},
    async ({ url }) => {
      const body = inHalves(formBytes(formOf(6 * MIB)), refused.promise);
      const reply = await send(url, body);
      assert.equal(reply.status, 400);
      assert.match((await reply.json()).error.message, /no sound/);
    },
  );
});

Deno.test("a form without a length is refused at its limit, and no upstream has all of it", async () => {
  const upstream = reading();
  await withPassed(
    upstream.answer,
    { route: { max_body_bytes: 3 * MIB } },
    async ({ url, logEntry }) => {
      const body = inHalves(formBytes(formOf(5 * MIB)), upstream.arrived);
      const reply = await send(url, body);
      assert.equal(reply.status, 413);
      assert.match((await reply.json()).error.message, /larger than 3145728/);
      await upstream.broken;
      const entry = await logEntry(({ model }) => model === "house-thing");
      assert.equal(entry.cost_micro_usd ?? 0, 0);
    },
  );
});

Deno.test("a form that turns out to name a second model is refused, and no upstream has all of it", async () => {
  const { head, file } = formOf(2 * MIB);
  const tail =
    '\r\n--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nother\r\n--b--\r\n';
  const upstream = reading();
  await withPassed(
    upstream.answer,
    {},
    async ({ url }) => {
      const bytes = formBytes({ head, file: file.subarray(MIB / 2), tail });
      const encoder = new TextEncoder();
      const reply = await send(
        url,
        new ReadableStream({
          async start(controller) {
            controller.enqueue(bytes.subarray(0, bytes.length - 60));
            await upstream.arrived;
            controller.enqueue(bytes.subarray(bytes.length - 60));
            controller.enqueue(encoder.encode(""));
            controller.close();
          },
        }),
      );
      assert.equal(reply.status, 400);
      const { error } = await reply.json();
      assert.equal(error.param, "model");
      await upstream.broken;
    },
  );
});

Deno.test("an upstream sees the end of a client that leaves while it sends", async () => {
  const upstream = reading();
  await withPassed(
    upstream.answer,
    {},
    async ({ url, logEntry }) => {
      const leaving = new AbortController();
      const sent = send(
        url,
        inHalves(formBytes(formOf(6 * MIB)), new Promise(() => {})),
        FORM,
        leaving.signal,
      );
      await upstream.arrived;
      leaving.abort();
      await assert.rejects(sent);
      await upstream.broken;
      const entry = await logEntry(({ model }) => model === "house-thing");
      assert.equal(entry.cost_micro_usd ?? 0, 0);
    },
  );
});

Deno.test("a body of another type is refused, and one without a model", () =>
  withPassed(() => Response.json({}), {}, async ({ url }) => {
    const status = async (body: BodyInit, type: string) => {
      const reply = await send(url, body, { "content-type": type });
      const { error } = await reply.json();
      return [reply.status, error.param];
    };
    assert.deepEqual(await status("x", "text/plain"), [415, null]);
    assert.deepEqual(await status("x", "multipart/form-data"), [400, null]);
    assert.deepEqual(await status("{}", "application/json"), [400, "model"]);
    assert.deepEqual(await status('{"model":1}', "application/json"), [
      400,
      "model",
    ]);
    assert.deepEqual(await status("--b--\r\n", FORM["content-type"]), [
      400,
      "model",
    ]);
  }));
