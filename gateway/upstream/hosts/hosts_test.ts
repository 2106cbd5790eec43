import assert from "node:assert/strict";
import { compact } from "../../../translate/bytes/compact.ts";
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

/**
 * A model, and the addresses of whole replies, streams, counts and embeddings, for each dialect of
 * the host.
 */
type Row = readonly [
  HostKind,
  string,
  ...(readonly [
    whole: string,
    stream?: string | undefined,
    count?: string | undefined,
    embeddings?: string,
  ])[],
];

const ROWS: readonly Row[] = [
  ["vendora", "claude-opus-4-8", [
    "https://api.anthropic.com/v1/messages",
    undefined,
    "https://api.anthropic.com/v1/messages/count_tokens",
  ]],
  ["vendorb", "gpt-5", [
    "https://api.openai.com/v1/chat/completions",
    undefined,
    undefined,
    "https://api.openai.com/v1/embeddings",
  ], [
    "https://api.openai.com/v1/responses",
    undefined,
    "https://api.openai.com/v1/responses/input_tokens",
  ]],
  ["vendorc", "gemini-3-pro", [
    `${GENERATIVE}:generateContent`,
    `${GENERATIVE}:streamGenerateContent?alt=sse`,
    `${GENERATIVE}:countTokens`,
    `${GENERATIVE}:batchEmbedContents`,
  ]],
  ["vendord", "MiniMax-M3", [
    "https://api.minimax.io/anthropic/v1/messages",
  ], ["https://api.minimax.io/v1/chat/completions"]],
  ["azure_openai", "gpt-5-we", [
    `${AZURE}/openai/v1/chat/completions`,
    undefined,
    undefined,
    `${AZURE}/openai/v1/embeddings`,
  ]],
  ["azure_deployments", "gpt 5/we", [
    `${AZURE}/openai/deployments/gpt%205%2Fwe/chat/completions?api-version=2024-10-21`,
    undefined,
    undefined,
    `${AZURE}/openai/deployments/gpt%205%2Fwe/embeddings?api-version=2024-10-21`,
  ]],
  ["azure_models", "Mistral-large", [
    `${AI}/models/chat/completions?api-version=2024-05-01-preview`,
    undefined,
    undefined,
    `${AI}/models/embeddings?api-version=2024-05-01-preview`,
  ]],
  ["foundry_messages", "claude-opus-4-8", [
    `${AI}/anthropic/v1/messages`,
    undefined,
    `${AI}/anthropic/v1/messages/count_tokens`,
  ]],
  ["bedrock_messages", "anthropic.claude-opus-4-8", [
    `${RUNTIME}/anthropic/v1/messages`,
  ]],
  ["bedrock_chat", "openai.gpt-oss-120b-1:0", [
    `${RUNTIME}/openai/v1/chat/completions`,
  ]],
  ["mantle_messages", "anthropic.claude-opus-4-8", [
    `${MANTLE}/anthropic/v1/messages`,
    undefined,
    `${MANTLE}/anthropic/v1/messages/count_tokens`,
  ]],
  ["mantle_chat", "deepseek.v3.2", [`${MANTLE}/v1/chat/completions`]],
  ["bedrock_invoke", "eu.anthropic.claude-sonnet-4-5-20250929-v1:0", [
    `${RUNTIME}/model/eu.anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke`,
    `${RUNTIME}/model/eu.anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke-with-response-stream`,
    `${RUNTIME}/model/anthropic.claude-sonnet-4-5-20250929-v1%3A0/count-tokens`,
    `${RUNTIME}/model/eu.anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke`,
  ]],
  ["bedrock_converse", "us.amazon.nova-pro-v1:0", [
    `${RUNTIME}/model/us.amazon.nova-pro-v1%3A0/converse`,
    `${RUNTIME}/model/us.amazon.nova-pro-v1%3A0/converse-stream`,
  ]],
  ["claude_aws", "claude-opus-4-8", [
    "https://aws-external-anthropic.eu-central-1.api.aws/v1/messages",
  ]],
  ["vertex_gemini", "gemini-3-pro", [
    `${GEMINI}:generateContent`,
    `${GEMINI}:streamGenerateContent?alt=sse`,
    `${GEMINI}:countTokens`,
  ]],
  ["vertex_express", "gemini-3-pro", [
    "https://aiplatform.googleapis.com/v1/publishers/google/models/gemini-3-pro:generateContent",
    "https://aiplatform.googleapis.com/v1/publishers/google/models/gemini-3-pro:streamGenerateContent?alt=sse",
    "https://aiplatform.googleapis.com/v1/publishers/google/models/gemini-3-pro:countTokens",
  ]],
  ["vertex_claude", "claude-sonnet-4-5@20250929", [
    `${CLAUDE}/claude-sonnet-4-5%4020250929:rawPredict`,
    `${CLAUDE}/claude-sonnet-4-5%4020250929:streamRawPredict`,
    `${CLAUDE}/count-tokens:rawPredict`,
  ]],
  ["vertex_chat", "google/gemini-3-pro", [
    `${VERTEX}/endpoints/openapi/chat/completions`,
  ]],
  ["google_claude", "claude-opus-4-8", [`${WORKSPACE}/v1/messages`]],
  ["openai_compatible", "llama-3.3-70b", [
    "https://llm.example/v1/chat/completions",
    undefined,
    undefined,
    "https://llm.example/v1/embeddings",
  ]],
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
        expected.map(([whole, stream = whole, count, embeddings]) => ({
          whole,
          stream,
          ...compact({ count, embeddings }),
        })),
      );
      for (const [whole] of expected) assert.ok(URL.canParse(whole));
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
  const { whole } = callAddress("https://v.example/v1", dialect, {
    ...VALUES,
    model,
  });
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
  assert.equal(
    callAddress(MANTLE, dialect, { ...VALUES, model: "openai.x" }, "openai")
      .whole,
    `${MANTLE}/openai/v1/chat/completions`,
  );
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
