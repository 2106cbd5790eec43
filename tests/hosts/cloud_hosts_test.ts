/** Every row of the clouds against an emulated one: replies, streams, credentials, failures. */
import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";
import { HOST_KINDS, hostOf } from "../../gateway/upstream/hosts/hosts.ts";
import type { HostKind } from "../../gateway/upstream/hosts/host.ts";
import {
  type Cloud,
  cloudError,
  type CloudName,
  startCloud,
} from "../support/upstreams/cloud.ts";
import {
  CLOUD_ROWS,
  type CloudRow,
  KEY_ROWS,
} from "../support/upstreams/cloud_rows.ts";
import { startHostUpstream } from "../support/upstreams/host_upstream.ts";
import {
  startTestGateway,
  TEST_KEY,
  type TestGateway,
} from "../support/test_gateway.ts";
import { withVariables } from "../support/upstreams/token_endpoints.ts";

const MODEL = "house-model";

interface World {
  readonly gateway: TestGateway;
  readonly cloud: Cloud;
}

/** A gateway whose model is at the row's host, then at the hosts in `behind`. */
async function withCloud(
  kind: string,
  row: CloudRow,
  run: (world: World) => Promise<void>,
  behind?: string,
): Promise<void> {
  await using cloud = startCloud(row.cloud, row.service ?? "");
  await withVariables(cloud.processEnv, async () => {
    await using gateway = await startTestGateway({
      realVendors: true,
      env: {
        ...(behind === undefined ? { GATEWAY_MAX_ATTEMPTS: "1" } : {}),
        OTHER_KEY: "other-key",
        ...cloud.env,
      },
      configFile: JSON.stringify({
        vendors: {
          cloud: {
            kind,
            ...row.settings,
            base_url: cloud.url,
            auth: cloud.auth,
          },
          ...(behind === undefined ? {} : {
            other: {
              kind: "vendora",
              base_url: behind,
              api_key_env: "OTHER_KEY",
            },
          }),
        },
        models: {
          [MODEL]: {
            price: {
              input: 1_000_000,
              output: 1_000_000,
              cache_read: 0,
              cache_write: 0,
            },
            candidates: [
              { vendor: "cloud", upstream_model: row.model },
              ...(behind === undefined ? [] : [{
                vendor: "other",
                upstream_model: "other",
                priority: 2,
              }]),
            ],
          },
        },
      }),
    });
    await run({ gateway, cloud });
  });
}

const BODY = {
  model: MODEL,
  max_tokens: 64,
  messages: [{ role: "user", content: "Hi" }],
};
/** As the newest client libraries send it. */
const NEWEST = { "anthropic-version": "2026-10-21" };

Deno.test("the rows above are every host whose credential is a cloud's", () => {
  const isCloud = (kind: HostKind): boolean =>
    hostOf(kind)?.dialects.some(({ auth }) =>
      auth.schemes.some((scheme) =>
        ["sigv4", "entra", "google"].includes(scheme)
      )
    ) === true;
  assert.deepEqual(
    Object.keys(CLOUD_ROWS).toSorted(),
    HOST_KINDS.filter(isCloud).toSorted(),
  );
});

for (const [kind, row] of Object.entries(CLOUD_ROWS)) {
  Deno.test(`${kind} answers whole and streamed with a token that is renewed once it is refused`, () =>
    withCloud(kind, row, async ({ gateway, cloud }) => {
      const ask = async (
        path: string,
        stream: boolean,
        headers: Readonly<Record<string, string>> = {},
      ): Promise<string> => {
        cloud.answer(stream ? row.format.stream : row.format.whole);
        const body = { ...BODY, stream };
        const response = await gateway.post(path, body, headers);
        const text = await response.text();
        assert.equal(response.status, 200, text);
        assert.match(text, /Hello/);
        const id = response.headers.get("request-id");
        const entry = await gateway.logEntry((one) => one.request_id === id);
        assert.deepEqual(
          [entry.ended, entry.usage?.input, entry.usage?.output],
          ["complete", 3, 2],
        );
        assert.equal(entry.cost_micro_usd, 5);
        assert.equal(entry.attempts, 1);
        return text;
      };
      await ask("/v1/messages", false, NEWEST);
      assert.match(await ask("/v1/messages", true, NEWEST), /message_stop/);
      await ask("/v1/chat/completions", false);
      assert.match(await ask("/v1/chat/completions", true), /\[DONE\]/);
      const { whole, stream = whole } = row;
      assert.deepEqual(
        cloud.accepted.map(({ path }) => path),
        [whole, stream, whole, stream],
      );
      assert.deepEqual([cloud.issued(), cloud.refused()], [1, 0]);
      for (const resource of cloud.asked) {
        assert.equal(resource, row.resource ?? "");
      }
      for (const { headers } of cloud.accepted) {
        // Neither a version that the host may not know, nor one beside the body's.
        const sent = headers.get("anthropic-version");
        assert.ok(
          sent === null || VERSIONS[kind]?.includes(sent) === true,
          `${sent}`,
        );
        assert.doesNotMatch([...headers.values()].join("\n"), /sk-test/);
      }
      if (kind === "vertex_claude") {
        // Its path of streams needs the field as well.
        const streams = cloud.accepted.map(({ text }) =>
          JSON.parse(text).stream === true
        );
        assert.deepEqual(streams, [false, true, false, true]);
      }
      cloud.revoke();
      await ask("/v1/messages", false);
      assert.deepEqual([cloud.issued(), cloud.refused()], [2, 1]);
      await ask("/v1/messages", true);
      assert.deepEqual([cloud.issued(), cloud.refused()], [2, 1]);
      const reported = JSON.stringify([
        gateway.logged,
        gateway.events,
        await (await fetch(`${gateway.url}/readyz?verbose`)).text(),
        await (await fetch(`${gateway.url}/metrics`)).text(),
      ]);
      assert.doesNotMatch(reported, /-token-\d|aws-secret|aws-session/);
    }));
}

/** Versions of the messages format that a host may receive as a header. */
const VERSIONS: Readonly<Record<string, readonly string[]>> = {
  bedrock_messages: ["2023-06-01"],
  mantle_messages: ["2023-06-01"],
  claude_aws: ["2023-06-01", "2026-10-21"],
  foundry_messages: ["2023-06-01", "2026-10-21"],
  google_claude: ["2023-06-01", "2026-10-21"],
};

/** Errors of each cloud: status, type, message, and the status that the client receives. */
const FAILURES: Readonly<
  Record<CloudName, readonly (readonly [number, string, string, number])[]>
> = {
  google: [
    [429, "RESOURCE_EXHAUSTED", "Resource exhausted. Please try later.", 429],
    [404, "NOT_FOUND", "Publisher Model `x` was not found.", 502],
    [503, "UNAVAILABLE", "The service is currently unavailable.", 503],
    [403, "PERMISSION_DENIED", "Permission denied on resource", 502],
    [400, "INVALID_ARGUMENT", "The field is wrong.", 400],
  ],
  azure: [
    [429, "RateLimitReached", "Try again in 86400 seconds.", 429],
    [429, "insufficient_quota", "You exceeded your quota.", 502],
    [404, "DeploymentNotFound", "The API deployment does not exist.", 502],
    [400, "content_filter", "The prompt was filtered.", 400],
    [400, "unknown_model", "Unknown model: x", 502],
    [400, "invalid_request_error", "The field is wrong.", 400],
  ],
  aws: [
    [429, "ThrottlingException", "Too many requests.", 429],
    [429, "ModelNotReadyException", "The model is not ready.", 429],
    [400, "ServiceQuotaExceededException", "The quota is used up.", 429],
    [424, "ModelErrorException", "The model failed.", 502],
    [408, "ModelTimeoutException", "It took too long.", 504],
    [503, "ServiceUnavailableException", "Unavailable.", 503],
    [403, "AccessDeniedException", "No access to the model.", 502],
    [404, "ResourceNotFoundException", "No such model.", 502],
    [400, "ValidationException", "The model identifier is invalid.", 502],
    [400, "ValidationException", "The field is wrong.", 400],
  ],
};

Deno.test("the messages library in its newest version is answered by every host", async (t) => {
  assert.deepEqual(
    [...Object.keys(CLOUD_ROWS), ...Object.keys(KEY_ROWS)].toSorted(),
    [...HOST_KINDS].toSorted(),
  );
  const ask = async (gateway: TestGateway): Promise<void> => {
    const sent: (string | null)[] = [];
    const client = new Anthropic({
      baseURL: gateway.url,
      authToken: TEST_KEY,
      apiKey: null,
      maxRetries: 0,
      fetch: (input, init) => {
        sent.push(new Headers(init?.headers).get("anthropic-version"));
        return fetch(input, init);
      },
    });
    const message = await client.messages.create({
      ...BODY,
      messages: [{ role: "user", content: "Hi" }],
    });
    assert.deepEqual(message.content.map((block) => block.type), ["text"]);
    assert.equal(message.model, MODEL);
    assert.deepEqual(sent, ["2026-10-21"]);
  };
  for (const [kind, row] of Object.entries(CLOUD_ROWS)) {
    await t.step(
      kind,
      () =>
        withCloud(kind, row, async ({ gateway, cloud }) => {
          cloud.answer(row.format.whole);
          await ask(gateway);
        }),
    );
  }
  for (const [kind, format] of Object.entries(KEY_ROWS)) {
    await t.step(kind, async () => {
      await using host = startHostUpstream();
      host.answer(format.whole);
      await using gateway = await startTestGateway({
        realVendors: true,
        env: { HOST_KEY: "host-key" },
        configFile: JSON.stringify({
          vendors: {
            host: { kind, base_url: host.url, api_key_env: "HOST_KEY" },
          },
          models: {
            [MODEL]: {
              price: "free",
              candidates: [{ vendor: "host", upstream_model: "host-model" }],
            },
          },
        }),
      });
      await ask(gateway);
      const version = host.requests[0]?.headers.get("anthropic-version");
      assert.equal(
        version,
        { vendora: "2026-10-21", vendord: "2023-06-01" }[kind] ?? null,
      );
    });
  }
});

for (const [kind, row] of Object.entries(CLOUD_ROWS)) {
  Deno.test(`${kind} fails with the status that each error means`, (t) =>
    withCloud(kind, row, async ({ gateway, cloud }) => {
      for (const [status, type, message, expected] of FAILURES[row.cloud]) {
        await t.step(`${status} ${type} ${message}`, async () => {
          cloud.answer(() => cloudError(row.cloud, status, type, message));
          for (const stream of [false, true]) {
            const response = await gateway.post("/v1/messages", {
              ...BODY,
              stream,
            });
            const text = await response.text();
            assert.equal(response.status, expected, text);
            // What concerns the operator is in the log alone.
            if (expected === 502 && status !== 424) {
              assert.ok(!text.includes(message), text);
            }
          }
        });
      }
    }));
}

Deno.test("a token count renews a refused token, and sends no beta that the host refuses for counts", async () => {
  const row = CLOUD_ROWS.vertex_claude;
  assert.ok(row !== undefined);
  await withCloud("vertex_claude", row, async ({ gateway, cloud }) => {
    cloud.answer(() => Response.json({ input_tokens: 42 }));
    const { max_tokens: _, ...body } = BODY;
    for (let i = 0; i < 2; i++) {
      const response = await gateway.post("/v1/messages/count_tokens", body, {
        "anthropic-beta": "web-search-2025-03-05,effort-2025-11-24",
      });
      assert.deepEqual(await response.json(), {
        input_tokens: 42,
        context_management: null,
      });
      if (i === 0) cloud.revoke();
    }
    assert.deepEqual([cloud.issued(), cloud.refused()], [2, 1]);
    const [request] = cloud.accepted;
    assert.equal(
      request?.path,
      `/projects/contoso-ml/locations/europe-west1/publishers/anthropic/models/count-tokens:rawPredict`,
    );
    const sent = JSON.parse(request.text);
    assert.deepEqual(
      [sent.model, sent.anthropic_beta, sent.anthropic_version],
      [row.model, ["effort-2025-11-24"], "vertex-2023-10-16"],
    );
  });
});

Deno.test("a credential that stays refused, and a host that is not ready, lead to the next candidate; a filtered prompt does not", async (t) => {
  const kinds = ["vertex_claude", "azure_openai", "bedrock_converse"] as const;
  for (const kind of kinds) {
    const row = CLOUD_ROWS[kind];
    assert.ok(row !== undefined);
    await t.step(kind, async () => {
      await using other = startHostUpstream();
      await withCloud(kind, row, async ({ gateway, cloud }) => {
        const ask = async () => {
          const response = await gateway.post("/v1/messages", BODY);
          const text = await response.text();
          const id = response.headers.get("request-id");
          const entry = await gateway.logEntry((one) => one.request_id === id);
          return { status: response.status, text, entry };
        };
        cloud.answer(() =>
          cloudError(row.cloud, 400, "content_filter", "filtered")
        );
        const filtered = await ask();
        assert.equal(filtered.status, 400, filtered.text);
        assert.equal(other.requests.length, 0);
        // The emulator accepts none of the tokens that will be issued.
        cloud.revokeAll();
        const elsewhere = await ask();
        assert.equal(elsewhere.status, 200, elsewhere.text);
        assert.equal(elsewhere.entry.upstream, "other/other");
        assert.equal(other.requests.length, 1);
        assert.equal(cloud.issued(), 2);
        assert.deepEqual(await gateway.accounts.admin.audit(), []);
      }, other.url);
    });
  }
});
