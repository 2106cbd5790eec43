/** Failures of hosts, and the candidates that are called after them. */
import assert from "node:assert/strict";
import {
  COMPLETION,
  type HostUpstream,
  MESSAGE,
  startHostUpstream,
} from "../support/upstreams/host_upstream.ts";
import { startTestGateway, type TestGateway } from "../support/test_gateway.ts";

const MODEL = "house-model";

/** An Azure resource with two keys, and Bedrock behind it. */
async function withTwoHosts(
  run: (
    gateway: TestGateway,
    azure: HostUpstream,
    bedrock: HostUpstream,
  ) => Promise<void>,
): Promise<void> {
  await using azure = startHostUpstream();
  azure.answer(() => Response.json(COMPLETION));
  await using bedrock = startHostUpstream();
  await using gateway = await startTestGateway({
    realVendors: true,
    env: {
      AZURE_1: "azure-key-one",
      AZURE_2: "azure-key-two",
      BEDROCK: "bedrock-key",
    },
    configFile: JSON.stringify({
      vendors: {
        azure: {
          kind: "azure_openai",
          base_url: azure.url,
          api_key_env: ["AZURE_1", "AZURE_2"],
        },
        bedrock: {
          kind: "bedrock_messages",
          region: "eu-central-1",
          base_url: bedrock.url,
          api_key_env: "BEDROCK",
        },
      },
      models: {
        [MODEL]: {
          price: {
            input: 1_000_000,
            output: 2_000_000,
            cache_read: 0,
            cache_write: 0,
          },
          candidates: [
            { vendor: "azure", upstream_model: "deployment" },
            { vendor: "bedrock", upstream_model: "anthropic.x", priority: 2 },
          ],
        },
      },
    }),
  });
  await run(gateway, azure, bedrock);
  assert.deepEqual(await gateway.accounts.admin.audit(), []);
}

function ask(gateway: TestGateway): Promise<Response> {
  return gateway.post("/v1/chat/completions", {
    model: MODEL,
    messages: [{ role: "user", content: "Hi" }],
  });
}

/** Discards a reply and returns the log entry of its call. */
async function entryOf(gateway: TestGateway, response: Response) {
  await response.body?.cancel();
  const id = response.headers.get("request-id");
  return await gateway.logEntry((entry) => entry.request_id === id);
}

Deno.test("a refused key is replaced by the next of the list at once, and is not used again", () =>
  withTwoHosts(async (gateway, azure, bedrock) => {
    azure.answer(({ headers }) =>
      headers.get("api-key") === "azure-key-two"
        ? Response.json(COMPLETION)
        : Response.json({ error: { code: "401", message: "Access denied" } }, {
          status: 401,
        })
    );
    for (let i = 0; i < 2; i++) {
      const response = await ask(gateway);
      assert.equal(response.status, 200);
      const entry = await entryOf(gateway, response);
      assert.equal(entry.attempts, 1);
    }
    assert.deepEqual(
      azure.requests.map(({ headers }) => headers.get("api-key")),
      ["azure-key-one", "azure-key-two", "azure-key-two"],
    );
    assert.equal(bedrock.requests.length, 0);
  }));

const LEAVES_KEY: readonly (readonly [
  name: string,
  status: number,
  body: unknown,
  headers: Record<string, string>,
  code: string | undefined,
])[] = [
  ["no money", 402, { error: { message: "Insufficient Balance" } }, {}, "402"],
  [
    "a deactivated account",
    403,
    { error: { message: "m", code: "account_deactivated" } },
    {},
    "account_deactivated",
  ],
  [
    "an exhausted quota",
    429,
    { error: { message: "m", code: "insufficient_quota" } },
    {},
    "insufficient_quota",
  ],
  [
    "a rate limit",
    429,
    { error: { message: "m", code: "rate_limit_exceeded" } },
    { "retry-after": "30" },
    undefined,
  ],
];

Deno.test("a key whose account is refused or limited rests, the next is used, and operators see it", async (t) => {
  for (const [name, status, body, headers, code] of LEAVES_KEY) {
    await t.step(name, () =>
      withTwoHosts(async (gateway, azure, bedrock) => {
        azure.answer((request) =>
          request.headers.get("api-key") === "azure-key-two"
            ? Response.json(COMPLETION)
            : Response.json(body, { status, headers })
        );
        for (let i = 0; i < 2; i++) {
          const response = await ask(gateway);
          assert.equal(response.status, 200);
          const { attempts, refused_keys } = await entryOf(gateway, response);
          assert.equal(attempts, 1);
          assert.equal(refused_keys?.length, i === 0 ? 1 : undefined);
          if (i === 0) assert.equal(refused_keys?.[0]?.upstream_code, code);
        }
        assert.deepEqual(
          azure.requests.map(({ headers }) => headers.get("api-key")),
          ["azure-key-one", "azure-key-two", "azure-key-two"],
        );
        assert.equal(bedrock.requests.length, 0);
        if (code === undefined) return;
        assert.match(
          gateway.gateway.metrics.text(),
          new RegExp(`gateway_upstream_refusals_total\\{[^}]*code="${code}"`),
        );
      }));
  }
});

Deno.test("where every key is refused, the next candidate is called", () =>
  withTwoHosts(async (gateway, azure, bedrock) => {
    azure.answer(() => new Response("{}", { status: 401 }));
    const response = await ask(gateway);
    assert.equal(response.status, 200);
    assert.equal(
      (await entryOf(gateway, response)).upstream,
      "bedrock/anthropic.x",
    );
    assert.equal(azure.requests.length, 2);
    assert.equal(bedrock.requests.length, 1);
  }));

Deno.test("an unknown deployment is the candidate's fault: the next one is called", () =>
  withTwoHosts(async (gateway, azure, bedrock) => {
    azure.answer(() =>
      Response.json({
        error: { code: "DeploymentNotFound", message: "no deployment-we" },
      }, { status: 404 })
    );
    const response = await ask(gateway);
    assert.equal(response.status, 200);
    await response.body?.cancel();
    bedrock.answer(() =>
      Response.json({ message: "The provided model identifier is invalid." }, {
        status: 400,
        headers: { "x-amzn-errortype": "ValidationException" },
      })
    );
    const failed = await ask(gateway);
    const text = await failed.text();
    assert.equal(failed.status, 502);
    assert.match(text, /does not serve the model under the name and settings/);
    assert.doesNotMatch(text, /deployment-we|identifier/);
  }));

Deno.test("a prompt that a content filter refused is tried nowhere else", () =>
  withTwoHosts(async (gateway, azure, bedrock) => {
    azure.answer(() =>
      Response.json({
        error: {
          message: "The prompt was filtered",
          code: "content_filter",
          status: 400,
          innererror: { code: "ResponsibleAIPolicyViolation" },
        },
      }, { status: 400 })
    );
    const response = await ask(gateway);
    assert.equal(response.status, 400);
    assert.equal((await response.json()).error.code, "content_filter");
    assert.equal(azure.requests.length, 1);
    assert.equal(bedrock.requests.length, 0);
  }));

Deno.test("calls that fail over between hosts under load are charged once each", () =>
  withTwoHosts(async (gateway, azure, bedrock) => {
    let calls = 0;
    azure.answer(() => {
      switch (calls++ % 4) {
        case 0:
          return new Response("{}", { status: 424 });
        case 1:
          return new Response("{}", { status: 402 });
        case 2:
          return Response.json({ error: { code: "DeploymentNotFound" } }, {
            status: 404,
          });
        default:
          return Response.json(COMPLETION);
      }
    });
    bedrock.answer(() => Response.json(MESSAGE));
    const responses = await Promise.all(
      Array.from({ length: 100 }, () => ask(gateway)),
    );
    let charged = 0;
    for (const response of responses) {
      const entry = await entryOf(gateway, response);
      charged += entry.cost_micro_usd ?? 0;
    }
    // 3 prompt tokens and 2 of the reply, at whichever host.
    const answered = responses.filter(({ status }) => status === 200).length;
    assert.ok(answered > 0);
    assert.equal(charged, answered * 7);
    assert.ok(bedrock.requests.length > 0);
  }));
