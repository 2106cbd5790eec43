/**
 * Property test of every endpoint with random and spoiled bodies: no 5xx, no hang, and the next
 * request succeeds.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { errorReply } from "../../routes/reply_schemas.ts";
import { isObject, type JsonObject } from "../../translate/bytes/json.ts";
import { CHAT_REQUESTS } from "../support/fuzz/seed_requests/chat_completions.ts";
import { MESSAGES_REQUESTS } from "../support/fuzz/seed_requests/messages.ts";
import { MODELS, requestText } from "../support/tables/hostile_bodies.ts";
import { withTimeout } from "../support/with_timeout.ts";
import { startTestGateway, type TestGateway } from "../support/test_gateway.ts";

const ENDPOINTS: readonly string[] = [
  "/v1/messages",
  "/v1/chat/completions",
  "/v1/messages/count_tokens",
];
const RUNS = 400;
/** Fixed, so that a failure is reproducible; another seed tries other cases. */
const SEED = 20261122;

const RICH: readonly JsonObject[] = [...MESSAGES_REQUESTS, ...CHAT_REQUESTS];

/** Changes one random place of a value: replaces, removes or duplicates it. */
function changed(
  value: unknown,
  path: readonly number[],
  by: unknown,
): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return by;
  if (Array.isArray(value) && value.length > 0) {
    const at = step % value.length;
    if (rest.length === 0 && step % 3 === 0) return value.toSpliced(at, 1);
    if (rest.length === 0 && step % 3 === 1) return [...value, value[at]];
    return value.with(at, changed(value[at], rest, by));
  }
  if (isObject(value)) {
    const keys = Object.keys(value);
    const key = keys[step % keys.length];
    if (key === undefined) return by;
    if (rest.length === 0 && step % 3 === 0) {
      return Object.fromEntries(
        Object.entries(value).filter(([name]) => name !== key),
      );
    }
    return { ...value, [key]: changed(value[key], rest, by) };
  }
  return by;
}

const oddValue = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>(
    null,
    true,
    -1,
    0,
    1.5,
    1e308,
    2 ** 53,
    "",
    "text",
    "__proto__",
    "\ud800",
    [],
    {},
    [[]],
    [null],
    { type: "text" },
    { type: "__proto__" },
    { role: "user", content: [] },
  ),
);

const spoiled = fc.tuple(
  fc.constantFrom(...RICH),
  fc.constantFrom(...MODELS),
  fc.array(
    fc.tuple(fc.array(fc.nat({ max: 30 }), { maxLength: 7 }), oddValue),
    { minLength: 1, maxLength: 4 },
  ),
).map(([rich, model, changes]) => {
  let body: unknown = { ...rich, model };
  for (const [path, by] of changes) body = changed(body, path, by);
  return JSON.stringify(body);
});

const cutText = fc.tuple(spoiled, fc.nat(), fc.string({ maxLength: 5 })).map((
  [text, at, by],
) => {
  const place = at % text.length;
  return text.slice(0, place) + by + text.slice(place + by.length);
});

/** Random bytes and texts, valid requests, and spoiled ones. */
const bodies: fc.Arbitrary<string | Uint8Array<ArrayBuffer>> = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.uint8Array().map((bytes) => new Uint8Array(bytes)),
  },
  { weight: 1, arbitrary: fc.string() },
  { weight: 1, arbitrary: fc.json() },
  {
    weight: 1,
    arbitrary: fc.constantFrom(...MODELS).map((m) => requestText(m)),
  },
  { weight: 6, arbitrary: spoiled },
  { weight: 2, arbitrary: cutText },
);

async function sent(
  { url }: TestGateway,
  path: string,
  body: string | Uint8Array<ArrayBuffer>,
): Promise<Response> {
  return await withTimeout(
    fetch(url + path, {
      method: "POST",
      headers: {
        "x-api-key": "sk-test-0123456789abcdef",
        "content-type": "application/json",
      },
      body,
    }),
    "an answer",
  );
}

for (const path of ENDPOINTS) {
  Deno.test(`${path}: no body causes a 5xx, and the next request succeeds`, async () => {
    await using gateway = await startTestGateway();
    let served = 0;
    await fc.assert(
      fc.asyncProperty(bodies, async (body) => {
        const response = await sent(gateway, path, body);
        const text = await withTimeout(response.text(), "the answer's end");
        assert.ok(response.status < 500, text);
        if (response.status === 200) {
          served++;
        } else {
          const { request_id } = errorReply.parse(JSON.parse(text));
          assert.equal(request_id, response.headers.get("request-id"));
        }
        assert.equal(gateway.gateway.concurrency.inUse(), 0);
        assert.equal(gateway.gateway.activeCalls.size, 0);
      }),
      { numRuns: RUNS, seed: SEED },
    );
    assert.ok(served > 0, "nothing was served at all");
    const good = await sent(gateway, path, requestText("vendorb-5"));
    assert.equal(good.status, 200);
    await good.body?.cancel();
    assert.deepEqual(await gateway.accounts.admin.audit(), []);
  });
}
