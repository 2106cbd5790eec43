/** Requests of the messages format as each host of that format receives them. */
import assert from "node:assert/strict";
import {
  MESSAGE,
  startHostUpstream,
} from "../support/upstreams/host_upstream.ts";
import { startTestGateway, type TestGateway } from "../support/test_gateway.ts";

const MODEL = "vendora-opus-4-8";

/** Settings of every host; each row takes those of its own. */
const SETTINGS = {
  bedrock_messages: { region: "eu-central-1" },
  bedrock_invoke: { region: "eu-central-1" },
  mantle_messages: { region: "eu-central-1" },
  claude_aws: { region: "eu-central-1", workspace: "wrkspc_01" },
  foundry_messages: { resource: "contoso" },
} as const;

type Kind = keyof typeof SETTINGS;

async function withHost(
  kind: Kind,
  run: (
    gateway: TestGateway,
    host: ReturnType<typeof startHostUpstream>,
  ) => Promise<void>,
  candidate: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  await using host = startHostUpstream();
  await using gateway = await startTestGateway({
    realVendors: true,
    env: { HOST_KEY: "host-secret-key" },
    configFile: JSON.stringify({
      vendors: {
        host: {
          kind,
          ...SETTINGS[kind],
          base_url: host.url,
          api_key_env: "HOST_KEY",
        },
      },
      models: {
        [MODEL]: {
          candidates: [{
            vendor: "host",
            upstream_model: "anthropic.claude:1",
            ...candidate,
          }],
        },
      },
    }),
  });
  await run(gateway, host);
}

/** As the newest client libraries send it. */
const NEWEST = { "anthropic-version": "2026-10-21" };

/** With a number and blanks that only the client's own bytes have. */
const BODY =
  `{"model": "${MODEL}", "max_tokens": 1e2, "stream": false, "messages": [{"role":"user","content":"Hi"}]}`;

/** The body as each host receives it. */
const BODIES: Readonly<Record<Kind, string>> = {
  bedrock_messages: BODY.replace(MODEL, "anthropic.claude:1"),
  mantle_messages: BODY.replace(MODEL, "anthropic.claude:1"),
  claude_aws: BODY.replace(MODEL, "anthropic.claude:1"),
  foundry_messages: BODY.replace(MODEL, "anthropic.claude:1"),
  bedrock_invoke:
    `{"max_tokens": 1e2, "messages": [{"role":"user","content":"Hi"}],"anthropic_version":"bedrock-2023-05-31"}`,
};

const VERSIONS: Readonly<Record<Kind, string | null>> = {
  bedrock_messages: "2023-06-01",
  mantle_messages: "2023-06-01",
  claude_aws: "2026-10-21",
  foundry_messages: "2026-10-21",
  bedrock_invoke: null,
};

for (const kind of Object.keys(SETTINGS) as Kind[]) {
  Deno.test(`a client of the newest version is answered by ${kind}, from its own bytes`, () =>
    withHost(kind, async (gateway, host) => {
      const response = await gateway.post("/v1/messages", BODY, NEWEST);
      assert.equal(response.status, 200, await response.clone().text());
      assert.equal((await response.json()).model, MODEL);
      assert.equal(response.headers.get("x-gateway-dropped"), null);
      const [request] = host.requests;
      assert.equal(request?.text, BODIES[kind]);
      assert.equal(request.headers.get("anthropic-version"), VERSIONS[kind]);
      const sent = [...request.headers.values()].join("\n");
      assert.match(sent, /host-secret-key/);
      assert.doesNotMatch(sent, /sk-test/);
    }));
}

Deno.test("a user profile reaches Bedrock in the body and other hosts as a header", async () => {
  for (const kind of ["bedrock_messages", "foundry_messages"] as const) {
    await withHost(kind, async (gateway, host) => {
      const response = await gateway.post("/v1/messages", BODY, {
        ...NEWEST,
        "anthropic-user-profile-id": "profile-1",
      });
      assert.equal(response.status, 200, await response.text());
      const [request] = host.requests;
      const isBody = kind === "bedrock_messages";
      assert.equal(
        JSON.parse(request?.text ?? "").user_profile_id,
        isBody ? "profile-1" : undefined,
      );
      assert.equal(
        request?.headers.get("anthropic-user-profile-id"),
        isBody ? null : "profile-1",
      );
    });
  }
});

/** Newer than this gateway, of the operator's account, and a credential. */
const FURTHER = {
  "anthropic-foo": "bar",
  "anthropic-workspace-id": "wrkspc_of_client",
  "anthropic-session-token": "secret-1",
  "anthropic-api-key": "secret-2",
  "anthropic-organization-id": "org_of_client",
};

Deno.test("further headers of the vendor reach hosts of its format, except credentials and the account", async () => {
  for (const kind of ["foundry_messages", "claude_aws"] as const) {
    await withHost(kind, async (gateway, host) => {
      host.answer(() => Response.json({ ...MESSAGE, input_tokens: 3 }));
      for (const path of ["/v1/messages", "/v1/messages/count_tokens"]) {
        const response = await gateway.post(path, BODY, {
          ...NEWEST,
          ...FURTHER,
          "x-claude-code-session-id": "s-1",
          "x-anthropic-foo": "x",
        });
        await response.text();
        assert.equal(response.status, 200);
        assert.equal(response.headers.get("x-gateway-dropped"), null);
      }
      for (const { headers } of host.requests) {
        assert.equal(headers.get("anthropic-foo"), "bar");
        assert.equal(
          headers.get("anthropic-workspace-id"),
          kind === "claude_aws" ? "wrkspc_01" : "wrkspc_of_client",
        );
        assert.equal(headers.get("anthropic-session-token"), null);
        assert.equal(headers.get("anthropic-api-key"), null);
        assert.equal(headers.get("anthropic-organization-id"), null);
        assert.equal(headers.get("x-claude-code-session-id"), null);
        assert.equal(headers.get("x-anthropic-foo"), null);
      }
    });
  }
});

Deno.test("headers of the configuration are the operator's: a client does not replace them, and betas add up", async () => {
  await using host = startHostUpstream();
  await using gateway = await startTestGateway({
    realVendors: true,
    env: { HOST_KEY: "host-secret-key" },
    configFile: JSON.stringify({
      vendors: {
        host: {
          kind: "vendora",
          base_url: host.url,
          api_key_env: "HOST_KEY",
          headers: {
            "anthropic-foo": "operator",
            "anthropic-version": "2023-06-01",
            "anthropic-beta": "own-1,both-1",
          },
        },
      },
      models: {
        [MODEL]: { candidates: [{ vendor: "host", upstream_model: "m" }] },
      },
    }),
  });
  const response = await gateway.post("/v1/messages", BODY, {
    ...NEWEST,
    ...FURTHER,
    "anthropic-beta": "both-1, effort-2025-11-24",
  });
  assert.equal(response.status, 200, await response.text());
  const headers = host.requests[0]?.headers;
  assert.equal(headers?.get("anthropic-foo"), "operator");
  assert.equal(headers?.get("anthropic-version"), "2023-06-01");
  assert.equal(
    headers?.get("anthropic-beta"),
    "own-1,both-1,effort-2025-11-24",
  );
  assert.equal(response.headers.get("x-gateway-dropped"), null);
});

Deno.test("the log says what a refused Bedrock key is limited to; the client does not learn it", () =>
  withHost("bedrock_messages", async (gateway, host) => {
    host.answer(() =>
      Response.json({ message: "The security token is expired" }, {
        status: 403,
        headers: { "x-amzn-errortype": "ExpiredTokenException" },
      })
    );
    const response = await gateway.post("/v1/messages", BODY);
    const text = await response.text();
    assert.equal(response.status, 502, text);
    assert.doesNotMatch(text, /expired|twelve hours/);
    const entry = await gateway.logEntry(({ status }) => status === 502);
    assert.match(
      entry.note ?? "",
      /^The security token is expired \(.*twelve hours at most.*own region only\)$/,
    );
  }));

Deno.test("bedrock_invoke gets known betas in the body; an unknown one is named, and refused in strict mode", () =>
  withHost("bedrock_invoke", async (gateway, host) => {
    const headers = {
      ...NEWEST,
      "anthropic-beta": "interleaved-thinking-2025-05-14,unheard-of-2026",
    };
    const response = await gateway.post("/v1/messages", BODY, headers);
    await response.body?.cancel();
    assert.equal(
      response.headers.get("x-gateway-dropped"),
      "anthropic-beta.unheard-of-2026",
    );
    const [request] = host.requests;
    assert.equal(request?.headers.get("anthropic-beta"), null);
    assert.deepEqual(JSON.parse(request?.text ?? "").anthropic_beta, [
      "interleaved-thinking-2025-05-14",
    ]);
    const strict = await gateway.post("/v1/messages", BODY, {
      ...headers,
      "x-gateway-strict": "true",
    });
    assert.equal(strict.status, 400);
    assert.match(await strict.text(), /anthropic-beta\.unheard-of-2026/);
    assert.equal(host.requests.length, 1);
  }));

Deno.test("bedrock_invoke gets a request of the chat format without model and stream, at the path of streams", () =>
  withHost("bedrock_invoke", async (gateway, host) => {
    const response = await gateway.post("/v1/chat/completions", {
      model: MODEL,
      stream: true,
      messages: [{ role: "user", content: "Hi" }],
    });
    assert.match(await response.text(), /Hello/);
    const [request] = host.requests;
    assert.equal(
      request?.path,
      "/model/anthropic.claude%3A1/invoke-with-response-stream",
    );
    assert.equal(
      request.headers.get("accept"),
      "application/vnd.amazon.eventstream",
    );
    const body = JSON.parse(request.text);
    assert.deepEqual(
      [body.model, body.stream, body.anthropic_version, body.max_tokens],
      [undefined, undefined, "bedrock-2023-05-31", 8192],
    );
  }));

Deno.test("bedrock_invoke counts an invocation's body; the gateway estimates where the host refuses to", () =>
  withHost("bedrock_invoke", async (gateway, host) => {
    host.answer(() => Response.json({ inputTokens: 42 }));
    const body = {
      model: MODEL,
      messages: [{ role: "user", content: "Hi there" }],
    };
    const ask = async (): Promise<unknown> =>
      await (await gateway.post("/v1/messages/count_tokens", body)).json();
    assert.deepEqual(await ask(), {
      input_tokens: 42,
      context_management: null,
    });
    const [request] = host.requests;
    assert.equal(request?.path, "/model/anthropic.claude%3A1/count-tokens");
    const wrapped = JSON.parse(request.text).input.invokeModel.body;
    assert.deepEqual(JSON.parse(atob(wrapped)), {
      messages: body.messages,
      anthropic_version: "bedrock-2023-05-31",
      max_tokens: 1,
    });
    host.answer(() =>
      Response.json({ message: "The provided model doesn't support it" }, {
        status: 400,
        headers: { "x-amzn-errortype": "ValidationException" },
      })
    );
    const estimate = await ask() as { readonly input_tokens: number };
    assert.ok(estimate.input_tokens > 0 && estimate.input_tokens !== 42);
  }));

const FORMAT = {
  type: "json_schema",
  schema: {
    type: "object",
    properties: { a: { type: "string" } },
    required: ["a"],
    additionalProperties: false,
  },
};

Deno.test("bedrock_invoke's newest models get no schema of the reply: it is named, or a forced tool replaces it", () =>
  withHost("bedrock_invoke", async (gateway, host) => {
    const asked = {
      model: MODEL,
      max_tokens: 10,
      messages: [{ role: "user", content: "Hi" }],
      output_config: { effort: "low", format: FORMAT },
    };
    const own = await gateway.post("/v1/messages", asked);
    assert.equal(own.status, 200, await own.text());
    assert.equal(
      own.headers.get("x-gateway-dropped"),
      "output_config.format",
    );
    assert.deepEqual(JSON.parse(host.requests[0]?.text ?? "").output_config, {
      effort: "low",
    });
    const strict = await gateway.post("/v1/messages", asked, {
      "x-gateway-strict": "true",
    });
    assert.equal(strict.status, 400);
    assert.match(await strict.text(), /output_config\.format/);
    host.answer(() =>
      Response.json({
        ...MESSAGE,
        content: [{
          type: "tool_use",
          id: "toolu_1",
          name: "structured_output",
          input: { a: "b" },
        }],
        stop_reason: "tool_use",
      })
    );
    const chat = await gateway.post("/v1/chat/completions", {
      model: MODEL,
      messages: asked.messages,
      response_format: {
        type: "json_schema",
        json_schema: { name: "answer", schema: FORMAT.schema },
      },
    });
    const sent = JSON.parse(host.requests[1]?.text ?? "");
    assert.equal(sent.output_config?.format, undefined);
    assert.equal(sent.tool_choice.type, "tool");
    const { message } = (await chat.json()).choices[0];
    assert.deepEqual(JSON.parse(message.content), { a: "b" });
  }, { upstream_model: "us.anthropic.claude-opus-4-8" }));

Deno.test("a model without caching gets no marks of what to cache, and they are named", () =>
  withHost("bedrock_messages", async (gateway, host) => {
    const mark = { cache_control: { type: "ephemeral" } };
    const response = await gateway.post("/v1/messages", {
      model: MODEL,
      max_tokens: 10,
      ...mark,
      system: [{ type: "text", text: "Be brief.", ...mark }],
      tools: [{ name: "f", input_schema: { type: "object" }, ...mark }],
      messages: [{
        role: "user",
        content: [{ type: "text", text: "cache_control?", ...mark }],
      }],
    });
    assert.equal(response.status, 200, await response.text());
    assert.deepEqual(
      response.headers.get("x-gateway-dropped")?.split(",").toSorted(),
      [
        "cache_control",
        "messages[].content[].cache_control",
        "system[].cache_control",
        "tools[].cache_control",
      ],
    );
    assert.doesNotMatch(host.requests[0]?.text ?? "", /"cache_control"/);
  }, { upstream_model: "anthropic.claude-3-haiku-20240307-v1:0" }));
