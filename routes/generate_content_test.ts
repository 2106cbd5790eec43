import assert from "node:assert/strict";
import {
  FAMILIES,
  startTestGateway,
  TEST_KEY,
  type TestGateway,
} from "../tests/support/test_gateway.ts";
import {
  contentCountReply,
  contentErrorReply,
  contentModelListReply,
  contentModelReply,
  contentPiece,
  contentReply,
} from "./reply_schemas.ts";
import { statusOf } from "../tests/support/status_of.ts";

const BODY = {
  contents: [{ role: "user", parts: [{ text: "[[fx:text]]" }] }],
};
const BASE = "/v1beta/models";

async function withGateway(
  run: (gateway: TestGateway) => Promise<void>,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  await using gateway = await startTestGateway({ env });
  await run(gateway);
}

function requests(replay: TestGateway["replay"]) {
  return replay.requestLog.entries.map(({ request }) => request);
}

interface Piece {
  readonly candidates?: readonly {
    readonly content: {
      readonly parts: readonly { readonly text?: string }[];
    };
    readonly finishReason?: string;
  }[];
  readonly usageMetadata?: { readonly totalTokenCount: number };
  readonly modelVersion?: string;
}

const textOf = (pieces: readonly Piece[]): string =>
  pieces.flatMap(({ candidates = [] }) => candidates)
    .flatMap(({ content }) => content.parts)
    .map(({ text = "" }) => text).join("");

/** The data of an event stream's frames. */
function dataOf(stream: string): Piece[] {
  return stream.split("\n\n").flatMap((frame) =>
    frame.startsWith("data: ") ? [JSON.parse(frame.slice(6))] : []
  );
}

Deno.test("a reply is whole, an event stream, or an array, for models of every family", () =>
  withGateway(async ({ post }) => {
    for (const model of FAMILIES) {
      const whole = await post(`${BASE}/${model}:generateContent`, BODY);
      assert.equal(whole.status, 200);
      const reply: Piece = await whole.json();
      contentReply.parse(reply);
      assert.equal(reply.modelVersion, model);
      assert.equal(reply.candidates?.[0]?.finishReason, "STOP");
      const text = textOf([reply]);
      assert.notEqual(text, "");

      const path = `${BASE}/${model}:streamGenerateContent`;
      const stream = await post(`${path}?alt=sse`, BODY);
      assert.match(
        stream.headers.get("content-type") ?? "",
        /^text\/event-stream/,
      );
      const frames = dataOf((await stream.text()).replaceAll("\r\n", "\n"));
      const array = await post(path, BODY);
      assert.equal(array.headers.get("content-type"), "application/json");
      const elements: Piece[] = await array.json();
      for (const pieces of [frames, elements]) {
        assert.equal(textOf(pieces), text);
        assert.equal(pieces.at(-1)?.candidates?.[0]?.finishReason, "STOP");
        assert.ok((pieces.at(-1)?.usageMetadata?.totalTokenCount ?? 0) > 0);
        for (const piece of pieces) {
          contentPiece.parse({ ...piece, responseId: "" });
          assert.equal(piece.modelVersion, model);
        }
      }
    }
  }));

Deno.test("the key may be in three places, and is kept nowhere", () =>
  withGateway(async (gateway) => {
    const path = `${BASE}/vendora-opus-4-8:generateContent`;
    const places: readonly (readonly [string, HeadersInit])[] = [
      [path, { "x-goog-api-key": TEST_KEY }],
      [`${path}?key=${TEST_KEY}`, {}],
      [`${path}?$alt=json&key=${TEST_KEY}`, {}],
      [path, { authorization: `Bearer ${TEST_KEY}` }],
      [path, { "x-api-key": TEST_KEY }],
    ];
    for (const [target, headers] of places) {
      assert.equal(
        await statusOf(fetch(gateway.url + target, {
          method: "POST",
          headers: { "content-type": "application/json", ...headers },
          body: JSON.stringify(BODY),
        })),
        200,
        target,
      );
    }
    const wrong = `sk-${"x".repeat(40)}`;
    const refused = await fetch(`${gateway.url}${path}?key=${wrong}`, {
      method: "POST",
      body: JSON.stringify(BODY),
    });
    assert.equal(refused.status, 401);
    const text = await refused.text();
    assert.equal(
      contentErrorReply.parse(JSON.parse(text)).error.status,
      "UNAUTHENTICATED",
    );
    assert.equal(
      await statusOf(fetch(`${gateway.url}${path}`, { method: "POST" })),
      401,
    );
    await gateway.accounts.calls?.flush();
    const headers = { "x-api-key": TEST_KEY };
    const calls = await fetch(`${gateway.url}/v1/calls`, { headers });
    const metrics = await fetch(`${gateway.url}/metrics`, { headers });
    const kept = [
      text,
      await calls.text(),
      await metrics.text(),
      JSON.stringify(gateway.logged),
      JSON.stringify(
        gateway.replay.requestLog.entries.map(({ request }) => request),
      ),
    ].join("\n");
    assert.ok(!kept.includes(TEST_KEY.slice(3)) && !kept.includes(wrong), kept);
  }));

Deno.test("the same is served under /v1, the model list by the header of the key", () =>
  withGateway(async ({ url, post }) => {
    const path = "/v1/models/vendora-opus-4-8";
    const whole = await post(`${path}:generateContent`, BODY);
    contentReply.parse(await whole.json());
    const stream = await post(`${path}:streamGenerateContent?alt=sse`, BODY);
    assert.notEqual(textOf(dataOf(await stream.text())), "");
    const count = await post(`${path}:countTokens`, BODY);
    contentCountReply.parse(await count.json());
    const headers = { "x-goog-api-key": TEST_KEY };
    const list = await fetch(`${url}/v1/models`, { headers });
    contentModelListReply.parse(await list.json());
    const one = await fetch(url + path, { headers });
    contentModelReply.parse(await one.json());
    assert.equal(
      await statusOf(fetch(`${url}${path}:generateContent`, { headers })),
      404,
    );
  }));

Deno.test("the key of a query opens no other endpoint", () =>
  withGateway(async ({ url }) => {
    for (const path of ["/v1/models", "/v1/usage", "/v1/calls"]) {
      assert.equal(
        await statusOf(fetch(`${url}${path}?key=${TEST_KEY}`)),
        401,
        path,
      );
    }
  }));

Deno.test("the model list is in the format's shape, in pages", () =>
  withGateway(async ({ url }) => {
    const headers = { "x-goog-api-key": TEST_KEY };
    const get = async (query: string) => {
      const response = await fetch(`${url}${BASE}${query}`, { headers });
      return { status: response.status, body: await response.json() };
    };
    const { body: all } = await get("");
    contentModelListReply.parse(all);
    const names = all.models.map(({ name }: { name: string }) => name);
    assert.ok(names.includes("models/vendora-opus-4-8"));
    assert.equal(all.nextPageToken, undefined);
    const { body: first } = await get("?pageSize=3");
    const { body: rest } = await get(
      `?pageToken=${encodeURIComponent(first.nextPageToken)}`,
    );
    assert.deepEqual([...first.models, ...rest.models], all.models);
    const { body: one } = await get("/vendora-opus-4-8");
    contentModelReply.parse(one);
    assert.deepEqual(
      one,
      all.models[names.indexOf("models/vendora-opus-4-8")],
    );
    for (const query of ["?pageSize=x", "?pageToken=none"]) {
      const { status, body } = await get(query);
      assert.equal(status, 400);
      contentErrorReply.parse(body);
    }
  }));

Deno.test("tokens are counted: by the vendor where it counts, of contents or of a whole request", () =>
  withGateway(async ({ post, replay }) => {
    for (const model of FAMILIES) {
      const whole = {
        ...BODY,
        systemInstruction: { parts: [{ text: "Be brief. ".repeat(20) }] },
      };
      const counts: number[] = [];
      for (
        const body of [BODY, {
          generateContentRequest: { model: "models/x", ...whole },
        }]
      ) {
        const response = await post(`${BASE}/${model}:countTokens`, body);
        assert.equal(response.status, 200);
        const reply = await response.json();
        contentCountReply.parse(reply);
        counts.push(reply.totalTokens);
      }
      assert.ok((counts[1] ?? 0) > (counts[0] ?? 0) + 40, model);
    }
    const asked = requests(replay).filter(({ path }) =>
      path.includes(":countTokens")
    );
    assert.equal(asked.length, 2);
    for (const { path, body } of asked) {
      const [, upstreamModel] = /models\/([^:]+):/.exec(path) ?? [];
      assert.equal(
        JSON.parse(body).generateContentRequest.model,
        `models/${upstreamModel}`,
      );
    }
  }));

Deno.test("errors are in the format's form, with the request's id", () =>
  withGateway(async ({ url, post }) => {
    const path = `${BASE}/vendora-opus-4-8:generateContent`;
    const rows:
      readonly (readonly [string, unknown, number, string, RegExp])[] = [
        [`${BASE}/acme-1:generateContent`, BODY, 404, "NOT_FOUND", /acme-1/],
        [
          `${BASE}/a/b:streamGenerateContent?alt=sse`,
          BODY,
          404,
          "NOT_FOUND",
          /"a\/b"/,
        ],
        [path, "{", 400, "INVALID_ARGUMENT", /JSON/],
        [path, {}, 400, "INVALID_ARGUMENT", /^contents: /],
        [
          path,
          { ...BODY, cachedContent: "c" },
          400,
          "INVALID_ARGUMENT",
          /^cachedContent: /,
        ],
        [
          path,
          { ...BODY, Contents: [] },
          400,
          "INVALID_ARGUMENT",
          /^Contents: /,
        ],
        [
          path,
          {
            ...BODY,
            generation_config: { maxOutputTokens: 1, max_output_tokens: 2 },
          },
          400,
          "INVALID_ARGUMENT",
          /^generation_config\.max_output_tokens: /,
        ],
      ];
    for (const [target, body, status, word, message] of rows) {
      const response = await post(target, body);
      assert.equal(response.status, status);
      const { error } = contentErrorReply.parse(await response.json());
      assert.deepEqual([error.code, error.status], [status, word]);
      assert.match(error.message, message);
      assert.deepEqual(error.details.at(-1), {
        "@type": "type.googleapis.com/google.rpc.RequestInfo",
        requestId: response.headers.get("request-id"),
      });
    }
    const wrong = await fetch(url + path);
    assert.equal(wrong.status, 405);
    assert.equal(wrong.headers.get("allow"), "POST, OPTIONS");
    contentErrorReply.parse(await wrong.json());
  }));

Deno.test("an upstream of the same format receives the client's bytes, model and alias in the path alone", () =>
  withGateway(async ({ post, replay }) => {
    const body =
      `{ "contents":[{"parts":[{"text":"[[fx:text]]",\n"later":1.0,"thoughtSignature":"c2ln"}]}]}`;
    const response = await post(`${BASE}/vendorc-3-pro:generateContent`, body);
    assert.equal(response.status, 200);
    await response.body?.cancel();
    const sent = requests(replay).at(-1);
    assert.equal(sent?.body, body);
    assert.equal(response.headers.get("x-gateway-dropped"), null);
  }));

Deno.test("a model in the body is that of the path, and is not sent", () =>
  withGateway(async ({ post, replay }) => {
    const path = `${BASE}/vendorc-3-pro:generateContent`;
    for (const model of ["vendorc-3-pro", "models/vendorc-3-pro", null]) {
      assert.equal(await statusOf(post(path, { model, ...BODY })), 200);
      assert.deepEqual(JSON.parse(requests(replay).at(-1)?.body ?? ""), BODY);
    }
    for (const model of ["models/vendorc-3-flash", 7]) {
      const response = await post(path, { ...BODY, model });
      assert.equal(response.status, 400);
      const { error } = contentErrorReply.parse(await response.json());
      assert.match(error.message, /^model: /);
    }
    assert.equal(requests(replay).length, 3);
    assert.equal(
      await statusOf(post(`${BASE}/vendorc-3-pro:countTokens`, {
        generateContentRequest: BODY,
        generate_content_request: BODY,
      })),
      400,
    );
  }));

Deno.test("dropped fields are named, and refused in strict mode", () =>
  withGateway(async ({ post }) => {
    const body = { ...BODY, safety_settings: [{ category: "x" }] };
    const path = `${BASE}/vendora-opus-4-8:generateContent`;
    const response = await post(path, body);
    assert.equal(response.headers.get("x-gateway-dropped"), "safety_settings");
    await response.body?.cancel();
    const strict = await post(path, body, { "x-gateway-strict": "true" });
    assert.equal(strict.status, 400);
    const { error } = contentErrorReply.parse(await strict.json());
    assert.match(error.message, /^safety_settings: /);
  }));

Deno.test("calls are recorded with their endpoint, model and tokens", () =>
  withGateway(async (gateway) => {
    await (await gateway.post(
      `${BASE}/vendora-opus-4-8:streamGenerateContent?alt=sse`,
      BODY,
    )).text();
    await gateway.logEntry(({ ended }) => ended === "complete");
    await gateway.accounts.calls?.flush();
    const calls = await (await fetch(`${gateway.url}/v1/calls`, {
      headers: { "x-api-key": TEST_KEY },
    })).json();
    const [call] = calls.data;
    assert.equal(call.endpoint, "/v1beta/models/:model:streamGenerateContent");
    assert.equal(call.model, "vendora-opus-4-8");
    assert.equal(call.stream, true);
    assert.ok(call.tokens.output > 0, JSON.stringify(call));
  }));
