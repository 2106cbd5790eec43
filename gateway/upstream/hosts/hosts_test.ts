import assert from "node:assert/strict";
import { fill } from "./address.ts";
import type { HostKind } from "./host.ts";
import { callAddress, HOST_KINDS, hostOf, neededSettings } from "./hosts.ts";

/** Settings of a sample vendor: every one, because each host reads its own. */
const VALUES = {
  region: "eu-central-1",
  resource: "contoso",
  project: "contoso-ml",
  location: "europe-west1",
  workspace: "wrkspc_01",
  api_version: "2024-10-21",
};

const AZURE = "https://contoso.openai.azure.com";
const AI = "https://contoso.services.ai.azure.com";
const RUNTIME = "https://bedrock-runtime.eu-central-1.amazonaws.com";
const MANTLE = "https://bedrock-mantle.eu-central-1.api.aws";
const VERTEX =
  "https://europe-west1-aiplatform.googleapis.com/v1/projects/contoso-ml/locations/europe-west1";
const GEMINI = `${VERTEX}/publishers/google/models/gemini-3-pro`;
const CLAUDE = `${VERTEX}/publishers/anthropic/models`;
const GENERATIVE =
  "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro";
const WORKSPACE =
  "https://claude.googleapis.com/v1/projects/contoso-ml/locations/global/workspaces/wrkspc_01/invoke";

/** A base address, and the paths of whole replies, streams, counts and embeddings behind it. */
interface Addresses {
  readonly at: string;
  readonly whole: string;
  readonly stream?: string;
  readonly count?: string;
  readonly embeddings?: string;
}

/** A model, and the addresses of each dialect of the host. */
type Row = readonly [HostKind, string, ...Addresses[]];

const MESSAGES = "/v1/messages";
const TOKENS = "/v1/messages/count_tokens";
const CHAT = "/chat/completions";
const GENERATED = {
  whole: ":generateContent",
  stream: ":streamGenerateContent?alt=sse",
  count: ":countTokens",
};
const DEPLOYMENT = `${AZURE}/openai/deployments/gpt%205%2Fwe`;
const DEPLOYED = "?api-version=2024-10-21";
const PREVIEW = "?api-version=2024-05-01-preview";
const SONNET = "anthropic.claude-sonnet-4-5-20250929-v1%3A0";

const ROWS: readonly Row[] = [
  ["vendora", "claude-opus-4-8", {
    at: "https://api.anthropic.com",
    whole: MESSAGES,
    count: TOKENS,
  }],
  ["vendorb", "gpt-5", {
    at: "https://api.openai.com/v1",
    whole: CHAT,
    embeddings: "/embeddings",
  }, {
    at: "https://api.openai.com/v1/responses",
    whole: "",
    count: "/input_tokens",
  }],
  ["vendorc", "gemini-3-pro", {
    at: GENERATIVE,
    ...GENERATED,
    embeddings: ":batchEmbedContents",
  }],
  [
    "vendord",
    "MiniMax-M3",
    { at: "https://api.minimax.io/anthropic", whole: MESSAGES },
    { at: "https://api.minimax.io/v1", whole: CHAT },
  ],
  ["azure_openai", "gpt-5-we", {
    at: `${AZURE}/openai/v1`,
    whole: CHAT,
    embeddings: "/embeddings",
  }],
  ["azure_deployments", "gpt 5/we", {
    at: DEPLOYMENT,
    whole: CHAT + DEPLOYED,
    embeddings: `/embeddings${DEPLOYED}`,
  }],
  ["azure_models", "Mistral-large", {
    at: `${AI}/models`,
    whole: CHAT + PREVIEW,
    embeddings: `/embeddings${PREVIEW}`,
  }],
  ["foundry_messages", "claude-opus-4-8", {
    at: `${AI}/anthropic`,
    whole: MESSAGES,
    count: TOKENS,
  }],
  ["bedrock_messages", "anthropic.claude-opus-4-8", {
    at: `${RUNTIME}/anthropic`,
    whole: MESSAGES,
  }],
  ["bedrock_chat", "openai.gpt-oss-120b-1:0", {
    at: `${RUNTIME}/openai/v1`,
    whole: CHAT,
  }],
  ["mantle_messages", "anthropic.claude-opus-4-8", {
    at: `${MANTLE}/anthropic`,
    whole: MESSAGES,
    count: TOKENS,
  }],
  ["mantle_chat", "deepseek.v3.2", { at: `${MANTLE}/v1`, whole: CHAT }],
  ["bedrock_invoke", "eu.anthropic.claude-sonnet-4-5-20250929-v1:0", {
    at: `${RUNTIME}/model`,
    whole: `/eu.${SONNET}/invoke`,
    stream: `/eu.${SONNET}/invoke-with-response-stream`,
    count: `/${SONNET}/count-tokens`,
    embeddings: `/eu.${SONNET}/invoke`,
  }],
  ["bedrock_converse", "us.amazon.nova-pro-v1:0", {
    at: `${RUNTIME}/model/us.amazon.nova-pro-v1%3A0`,
    whole: "/converse",
    stream: "/converse-stream",
  }],
  ["claude_aws", "claude-opus-4-8", {
    at: "https://aws-external-anthropic.eu-central-1.api.aws",
    whole: MESSAGES,
  }],
  ["vertex_gemini", "gemini-3-pro", { at: GEMINI, ...GENERATED }],
  ["vertex_express", "gemini-3-pro", {
    at:
      "https://aiplatform.googleapis.com/v1/publishers/google/models/gemini-3-pro",
    ...GENERATED,
  }],
  ["vertex_claude", "claude-sonnet-4-5@20250929", {
    at: CLAUDE,
    whole: "/claude-sonnet-4-5%4020250929:rawPredict",
    stream: "/claude-sonnet-4-5%4020250929:streamRawPredict",
    count: "/count-tokens:rawPredict",
  }],
  ["vertex_chat", "google/gemini-3-pro", {
    at: `${VERTEX}/endpoints/openapi`,
    whole: CHAT,
  }],
  ["google_claude", "claude-opus-4-8", { at: WORKSPACE, whole: MESSAGES }],
  ["openai_compatible", "llama-3.3-70b", {
    at: "https://llm.example/v1",
    whole: CHAT,
    embeddings: "/embeddings",
  }],
];

Deno.test("callAddress() of every host with sample values is the documented address", async (t) => {
  for (const [kind, model, ...expected] of ROWS) {
    await t.step(kind, () => {
      const host = hostOf(kind);
      assert.ok(host !== undefined);
      const base = host.base === undefined
        ? "https://llm.example/v1"
        : fill(host.base, VALUES);
      const values = { ...VALUES, model };
      assert.deepEqual(
        host.dialects.map((dialect) => callAddress(base, dialect, values)),
        expected.map(({ at, ...paths }) =>
          Object.fromEntries(
            Object.entries({ stream: paths.whole, ...paths }).map(
              ([name, path]) => [name, at + path],
            ),
          )
        ),
      );
      for (const { at, whole } of expected) assert.ok(URL.canParse(at + whole));
    });
  }
});

Deno.test("the table of addresses above has every host", () => {
  assert.deepEqual(
    ROWS.map(([kind]) => kind).toSorted(),
    [...HOST_KINDS].toSorted(),
  );
});

Deno.test("callAddress() encodes an ARN once, so that its slashes stay in one segment", () => {
  const host = hostOf("bedrock_invoke");
  const dialect = host?.dialects[0];
  assert.ok(dialect !== undefined);
  const arn = "arn:aws:bedrock:eu-central-1:1:application-inference-profile/x1";
  const { whole } = callAddress(RUNTIME, dialect, { ...VALUES, model: arn });
  assert.equal(
    whole,
    `${RUNTIME}/model/arn%3Aaws%3Abedrock%3Aeu-central-1%3A1%3Aapplication-inference-profile%2Fx1/invoke`,
  );
});

Deno.test("callAddress() keeps a model id with dots and slashes inside its segment", () => {
  const dialect = hostOf("vertex_claude")?.dialects[0];
  assert.ok(dialect !== undefined);
  const model = "../../../../google/models/other";
  const values = { ...VALUES, model };
  const { whole } = callAddress("https://v.example/v1", dialect, values);
  assert.equal(
    new URL(whole).pathname,
    `/v1/projects/contoso-ml/locations/europe-west1/publishers/anthropic/models/${
      encodeURIComponent(model)
    }:rawPredict`,
  );
});

Deno.test("callAddress() takes the paths of a candidate's route", () => {
  const dialect = hostOf("mantle_chat")?.dialects[0];
  assert.ok(dialect !== undefined);
  const values = { ...VALUES, model: "openai.x" };
  const { whole } = callAddress(MANTLE, dialect, values, "openai");
  assert.equal(whole, `${MANTLE}/openai/v1/chat/completions`);
});

Deno.test("fill() uses Vertex's host of each location", async (t) => {
  const hosts = {
    global: "aiplatform.googleapis.com",
    us: "aiplatform.us.rep.googleapis.com",
    eu: "aiplatform.eu.rep.googleapis.com",
    "us-east5": "us-east5-aiplatform.googleapis.com",
  };
  for (const [location, expected] of Object.entries(hosts)) {
    await t.step(location, () => {
      assert.equal(fill("{vertex_host}", { location }), expected);
    });
  }
});

Deno.test("fill() refuses a placeholder without a value", () => {
  assert.throws(
    () => fill("https://{resource}.example", { resource: "" }),
    /needs a value for \{resource\}/,
  );
  assert.throws(() => fill("/{model}", {}), /needs a value for \{model\}/);
});

Deno.test("neededSettings() leaves out those of a base address that the file replaces", () => {
  const azure = hostOf("azure_deployments");
  assert.ok(azure !== undefined);
  assert.deepEqual(neededSettings(azure, false), ["resource", "api_version"]);
  assert.deepEqual(neededSettings(azure, true), ["api_version"]);
  const workspace = hostOf("claude_aws");
  assert.ok(workspace !== undefined);
  assert.deepEqual(neededSettings(workspace, true), ["workspace"]);
});
