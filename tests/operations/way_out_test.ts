/**
 * A network whose only way out is a proxy: each kind of request takes it, and the machine's own
 * services never see it.
 */
import assert from "node:assert/strict";
import {
  AUTHORITY_FILE,
  certificate,
} from "../support/upstreams/fault_upstream.ts";
import { COMPLETION } from "../support/upstreams/host_upstream.ts";
import {
  type LoopbackProxy,
  startLoopbackProxy,
} from "../support/upstreams/loopback_proxy.ts";
import { startConsole } from "../support/console/visitor.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";
import type { TestGateway } from "../support/test_gateway.ts";
import { tokenEndpoints } from "../support/upstreams/token_endpoints.ts";

/** Where everything is that the gateway calls; only the proxy knows the name's address. */
const HOST = "upstream.test";
const LOGIN = "gateway:a-password-of-the-proxy";

interface Outside extends AsyncDisposable {
  /** Paths of the requests that arrived. */
  readonly seen: Set<string>;
  readonly url: string;
  readonly port: number;
  /** Resolves once a request for a path has arrived. */
  arrived(path: string): Promise<void>;
}

/** Every server that the gateway calls, over https. */
function startOutside(): Outside {
  const seen = new Set<string>();
  const waiting = new Map<string, () => void>();
  const server: Deno.HttpServer<Deno.NetAddr> = Deno.serve(
    {
      hostname: "127.0.0.1",
      port: 0,
      onListen: () => {},
      ...certificate("right"),
    },
    async (request) => {
      const { pathname } = new URL(request.url);
      await request.text();
      seen.add(pathname);
      waiting.get(pathname)?.();
      return Response.json(repliesOf(url)[pathname] ?? {});
    },
  );
  const { port } = server.addr;
  const url = `https://${HOST}:${port}`;
  return {
    seen,
    url,
    port,
    arrived: (path) =>
      new Promise((resolve) => {
        waiting.set(path, resolve);
        if (seen.has(path)) resolve();
      }),
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

const repliesOf = (url: string): Readonly<Record<string, unknown>> => ({
  "/v1/chat/completions": COMPLETION,
  "/v1/models": { data: [{ id: "listed" }] },
  "/.well-known/openid-configuration": {
    issuer: url,
    authorization_endpoint: `${url}/authorize`,
    token_endpoint: `${url}/token`,
    jwks_uri: `${url}/keys`,
  },
  "/sts": {
    access_token: "a-token-of-google",
    issued_token_type: "urn:ietf:params:oauth:token-type:access_token",
    token_type: "Bearer",
    expires_in: 3600,
  },
});

/** The configuration file: a host, a cloud with a token, an issuer. */
function configFile(url: string, vendor: object = {}): string {
  return JSON.stringify({
    vendors: {
      host: {
        kind: "openai_compatible",
        base_url: `${url}/v1`,
        auth: "none",
        ...vendor,
      },
      cloud: {
        kind: "vertex_chat",
        project: "p",
        location: "global",
        auth: { google: "workload_identity", file_env: "FEDERATION" },
        ...vendor,
      },
    },
    models: {
      m: { vendor: "host", upstream_model: "m", price: "free" },
      "host/*": { price: "free" },
      c: { vendor: "cloud", upstream_model: "c", price: "free" },
    },
    sign_in: {
      issuer: url,
      client_id: "console",
      rules: [{ claim: "groups", value: "a", operator: true }],
    },
  });
}

/** How each kind of request is made; the path that arrives outside. */
const KINDS: Readonly<
  Record<
    string,
    readonly [string, (gateway: TestGateway, url: string) => Promise<unknown>]
  >
> = {
  "a call": [
    "/v1/chat/completions",
    async ({ post }) =>
      await (await post("/v1/chat/completions", {
        model: "m",
        messages: [{ role: "user", content: "Hi" }],
      })).text(),
  ],
  "a list of models": [
    "/v1/models",
    ({ event }) => event(({ type }) => /^models_(not_)?listed$/.test(type)),
  ],
  "a sign-in": [
    "/.well-known/openid-configuration",
    async ({ url }) =>
      await (await fetch(`${url}/console/company-sign-in?door=operator`, {
        redirect: "manual",
        headers: { "sec-fetch-site": "same-origin" },
      })).body?.cancel(),
  ],
  "a cloud's token": [
    "/sts",
    async ({ post }) =>
      await (await post("/v1/chat/completions", {
        model: "c",
        messages: [{ role: "user", content: "Hi" }],
      })).text(),
  ],
  "a webhook": [
    "/hook",
    async ({ accounts }, url) => {
      await accounts.admin.webhooks.set("default", `${url}/hook`);
      await accounts.admin.webhooks.test("default");
      await accounts.deliverWebhooks();
    },
  ],
  "an export of metrics": [
    "/v1/metrics",
    async ({ gateway }) => await gateway.otlpMetrics?.close(),
  ],
};

interface Lab {
  readonly outside: Outside;
  readonly proxy: LoopbackProxy;
  /** Settings of the gateway that do not depend on the case. */
  readonly env: Readonly<Record<string, string>>;
}

async function withLab(run: (lab: Lab) => Promise<void>): Promise<void> {
  await using outside = startOutside();
  await using proxy = startLoopbackProxy({
    leadsTo: { [`${HOST}:${outside.port}`]: outside.port },
    login: `Basic ${btoa(LOGIN)}`,
  });
  await using folder = await temporaryFolder();
  const federation = `${folder.path}/federation.json`;
  await Deno.writeTextFile(`${folder.path}/token`, "projected");
  await Deno.writeTextFile(
    federation,
    JSON.stringify({
      type: "external_account",
      audience:
        "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q",
      subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
      token_url: `${outside.url}/sts`,
      credential_source: { file: `${folder.path}/token` },
    }),
  );
  await run({
    outside,
    proxy,
    env: {
      FEDERATION: federation,
      SSL_CERT_FILE: AUTHORITY_FILE,
      OTEL_EXPORTER_OTLP_ENDPOINT: outside.url,
      OTEL_METRIC_EXPORT_INTERVAL: "3600000",
    },
  });
}

/** The kinds whose request arrived outside. */
async function arriving(
  { outside, env }: Lab,
  differing: Readonly<Record<string, string>>,
  vendor?: object,
): Promise<readonly string[]> {
  outside.seen.clear();
  await using gateway = await startConsole({
    realVendors: true,
    env: { ...env, ...differing },
    configFile: configFile(outside.url, vendor),
  });
  for (const [, make] of Object.values(KINDS)) await make(gateway, outside.url);
  return Object.entries(KINDS).filter(([, [path]]) => outside.seen.has(path))
    .map(([name]) => name);
}

const ALL = Object.keys(KINDS);
const OF_VENDORS = ["a call", "a list of models", "a cloud's token"];
const ALL_BUT_WEBHOOKS = ALL.filter((kind) => kind !== "a webhook");

Deno.test("every kind of request takes the proxy of its environment, and no other way", (t) =>
  withLab(async (lab) => {
    const { address } = lab.proxy;
    const proxy = `http://${LOGIN}@${address}`;
    const cases: readonly (readonly [
      string,
      Readonly<Record<string, string>>,
      readonly string[],
      object?,
    ])[] = [
      ["no proxy", {}, []],
      ["HTTPS_PROXY", { HTTPS_PROXY: proxy }, ALL_BUT_WEBHOOKS],
      ["https_proxy before the other", {
        https_proxy: proxy,
        HTTPS_PROXY: "http://127.0.0.1:1",
      }, ALL_BUT_WEBHOOKS],
      ["webhooks too", {
        HTTPS_PROXY: proxy,
        GATEWAY_WEBHOOK_PROXY: "on",
      }, ALL],
      ["HTTP_PROXY alone", { HTTP_PROXY: proxy }, []],
      ["another password", { HTTPS_PROXY: `http://a:b@${address}` }, []],
      ["NO_PROXY", {
        HTTPS_PROXY: proxy,
        NO_PROXY: `.test:${lab.outside.port}`,
      }, []],
      ["a proxy of the vendors", { CORP_PROXY: proxy }, OF_VENDORS, {
        proxy_env: "CORP_PROXY",
      }],
      [
        "none for the vendors",
        { HTTPS_PROXY: proxy },
        ALL_BUT_WEBHOOKS.filter((kind) => !OF_VENDORS.includes(kind)),
        { proxy: "none" },
      ],
    ];
    for (const [name, env, expected, vendor] of cases) {
      await t.step(name, async () => {
        const { requests } = lab.proxy;
        const before = requests.length;
        assert.deepEqual(await arriving(lab, env, vendor), expected);
        assert.equal(
          requests.length > before,
          /:b@/.test(env["HTTPS_PROXY"] ?? "") || expected.length > 0,
        );
        assert.deepEqual(
          [...new Set(requests.slice(before))].filter((line) =>
            line !== `CONNECT ${HOST}:${lab.outside.port} HTTP/1.1` &&
            line !== "CONNECT aiplatform.googleapis.com:443 HTTP/1.1"
          ),
          [],
        );
      });
    }
  }));

Deno.test("no proxy sees a request for the machine's credentials", async (t) => {
  await using metadata = tokenEndpoints(() =>
    Response.json({ access_token: "a-token-of-the-machine", expires_in: 3600 })
  );
  const { host } = new URL(metadata.url);
  // It would lead there.
  await using proxy = startLoopbackProxy({
    leadsTo: {
      [host]: Number(host.split(":")[1]),
      "metadata.test:80": Number(host.split(":")[1]),
    },
  });
  const vertex = {
    kind: "vertex_chat",
    project: "p",
    location: "global",
    auth: { google: "metadata" },
  };
  const cases: readonly (readonly [
    string,
    object,
    Readonly<Record<string, string>>,
    boolean,
  ])[] = [
    ["on this machine", vertex, { GCE_METADATA_HOST: host }, true],
    ["elsewhere", vertex, { GCE_METADATA_HOST: "metadata.test" }, false],
    ["Google", vertex, {}, false],
    [
      "AWS instance",
      { kind: "bedrock_chat", region: "us-east-1", auth: { aws: "chain" } },
      {},
      false,
    ],
    [
      "AWS container",
      { kind: "bedrock_chat", region: "us-east-1", auth: { aws: "chain" } },
      { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: "/keys" },
      false,
    ],
    [
      "Azure",
      {
        kind: "azure_openai",
        resource: "r",
        auth: { entra: "managed_identity" },
      },
      {},
      false,
    ],
  ];
  for (const [name, vendor, env, works] of cases) {
    await t.step(name, async () => {
      await using gateway = await startConsole({
        realVendors: true,
        env: {
          ...env,
          HTTP_PROXY: proxy.address,
          HTTPS_PROXY: proxy.address,
        },
        configFile: JSON.stringify({
          // The row's own proxy does not count either.
          vendors: { cloud: { ...vendor, proxy: `http://${proxy.address}` } },
          models: {
            m: { vendor: "cloud", upstream_model: "m", price: "free" },
          },
        }),
      });
      await (await gateway.post("/v1/chat/completions", {
        model: "m",
        messages: [{ role: "user", content: "Hi" }],
      })).text();
      assert.equal(gateway.gateway.models.secrets().length > 0, works);
      assert.deepEqual(
        proxy.requests.filter((line) =>
          !line.startsWith("CONNECT aiplatform.")
        ),
        [],
      );
    });
  }
});
