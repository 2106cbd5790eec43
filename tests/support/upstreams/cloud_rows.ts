/**
 * The hosts of the table as tests call them: settings, addresses, and replies in the format of
 * each.
 */
import { joinPieces } from "../../../translate/bytes/buffers.ts";
import { awsFrame, chunkFrame } from "../../../translate/testing/aws_frames.ts";
import type { HostKind } from "../../../gateway/upstream/hosts/host.ts";
import type { CloudName } from "./cloud.ts";
import { COMPLETION, MESSAGE } from "./host_upstream.ts";

interface Format {
  /** A whole reply with the text Hello. */
  readonly whole: () => Response;
  /** The same as a stream. */
  readonly stream: () => Response;
}

function eventStream(
  frames: readonly (readonly [string, object])[],
  end = "",
): Response {
  const text = frames.map(([event, data]) =>
    `${event === "" ? "" : `event: ${event}\n`}data: ${
      JSON.stringify(data)
    }\n\n`
  ).join("");
  return new Response(text + end, {
    headers: { "content-type": "text/event-stream" },
  });
}

function binary(frames: readonly Uint8Array[]): Response {
  return new Response(joinPieces(frames).slice(), {
    headers: { "content-type": "application/vnd.amazon.eventstream" },
  });
}

const MESSAGE_EVENTS: readonly (readonly [string, object])[] = [
  ["message_start", {
    type: "message_start",
    message: { ...MESSAGE, content: [], stop_reason: null },
  }],
  ["content_block_start", {
    type: "content_block_start",
    index: 0,
    content_block: { type: "text", text: "" },
  }],
  ["content_block_delta", {
    type: "content_block_delta",
    index: 0,
    delta: { type: "text_delta", text: "Hello" },
  }],
  ["content_block_stop", { type: "content_block_stop", index: 0 }],
  ["message_delta", {
    type: "message_delta",
    delta: { stop_reason: "end_turn", stop_sequence: null },
    usage: { output_tokens: 2 },
  }],
  ["message_stop", { type: "message_stop" }],
];
const chunkOf = (delta: object, finish: string | null): object => ({
  id: "c1",
  object: "chat.completion.chunk",
  created: 1,
  model: "host-model",
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const CANDIDATE = {
  content: { role: "model", parts: [{ text: "Hello" }] },
  finishReason: "STOP",
  index: 0,
};
const GEMINI = {
  candidates: [CANDIDATE],
  usageMetadata: {
    promptTokenCount: 3,
    candidatesTokenCount: 2,
    totalTokenCount: 5,
    trafficType: "ON_DEMAND",
  },
  modelVersion: "gemini-3-pro",
};
const converseEvent = (type: string, data: object): Uint8Array =>
  awsFrame({
    ":event-type": type,
    ":content-type": "application/json",
    ":message-type": "event",
  }, JSON.stringify(data));
const USAGE = { inputTokens: 3, outputTokens: 2, totalTokens: 5 };

const MESSAGES: Format = {
  whole: () => Response.json(MESSAGE),
  stream: () => eventStream(MESSAGE_EVENTS),
};
const CHAT: Format = {
  whole: () => Response.json(COMPLETION),
  stream: () =>
    eventStream([
      // Azure's first chunk: no choices, no id, no model.
      ["", {
        choices: [],
        created: 0,
        id: "",
        model: "",
        object: "",
        prompt_filter_results: [{ prompt_index: 0 }],
      }],
      ["", chunkOf({ role: "assistant", content: "Hello" }, null)],
      ["", chunkOf({}, "stop")],
      ["", {
        ...chunkOf({}, null),
        choices: [],
        usage: COMPLETION.usage,
      }],
    ], "data: [DONE]\n\n"),
};
const GENERATE: Format = {
  whole: () => Response.json(GEMINI),
  stream: () => eventStream([["", GEMINI]]),
};
const INVOKE: Format = {
  whole: MESSAGES.whole,
  stream: () =>
    binary(MESSAGE_EVENTS.map(([, data]) => chunkFrame(JSON.stringify(data)))),
};
const CONVERSE: Format = {
  whole: () =>
    Response.json({
      output: { message: { role: "assistant", content: [{ text: "Hello" }] } },
      stopReason: "end_turn",
      usage: USAGE,
    }),
  stream: () =>
    binary([
      converseEvent("messageStart", { role: "assistant" }),
      converseEvent("contentBlockDelta", {
        contentBlockIndex: 0,
        delta: { text: "Hello" },
      }),
      converseEvent("contentBlockStop", { contentBlockIndex: 0 }),
      converseEvent("messageStop", { stopReason: "end_turn" }),
      converseEvent("metadata", { usage: USAGE }),
    ]),
};

/** A host whose credential is a cloud's, and how it is called. */
export interface CloudRow {
  readonly cloud: CloudName;
  readonly settings: Readonly<Record<string, string>>;
  readonly format: Format;
  readonly model: string;
  /** Path of whole replies. */
  readonly whole: string;
  /** Path of streams; absent: as whole. */
  readonly stream?: string;
  /** The service of AWS's signatures. */
  readonly service?: string;
  /** The resource that Azure's tokens are for. */
  readonly resource?: string;
}

const REGION = { region: "us-east-1" };
const RESOURCE = { resource: "contoso" };
const PROJECT = { project: "contoso-ml", location: "europe-west1" };
const LOCATION = "/projects/contoso-ml/locations/europe-west1";
const CLAUDE = `${LOCATION}/publishers/anthropic/models`;
const GEMINI_PATH = `${LOCATION}/publishers/google/models/gemini-3-pro`;
const COGNITIVE = "https://cognitiveservices.azure.com";
const AI = "https://ai.azure.com";

/** Every host whose credential is a cloud's. */
export const CLOUD_ROWS: Readonly<Partial<Record<HostKind, CloudRow>>> = {
  azure_openai: {
    cloud: "azure",
    settings: {},
    format: CHAT,
    model: "gpt-5-we",
    whole: "/chat/completions",
    resource: COGNITIVE,
  },
  azure_deployments: {
    cloud: "azure",
    settings: { api_version: "2024-10-21" },
    format: CHAT,
    model: "gpt-5-we",
    whole:
      "/openai/deployments/gpt-5-we/chat/completions?api-version=2024-10-21",
    resource: COGNITIVE,
  },
  azure_models: {
    cloud: "azure",
    settings: {},
    format: CHAT,
    model: "Mistral-large",
    whole: "/models/chat/completions?api-version=2024-05-01-preview",
    resource: AI,
  },
  foundry_messages: {
    cloud: "azure",
    settings: RESOURCE,
    format: MESSAGES,
    model: "claude-opus-4-8",
    whole: "/v1/messages",
    resource: AI,
  },
  bedrock_messages: {
    cloud: "aws",
    settings: REGION,
    format: MESSAGES,
    model: "anthropic.claude-opus-4-8",
    whole: "/v1/messages",
    service: "bedrock",
  },
  bedrock_chat: {
    cloud: "aws",
    settings: REGION,
    format: CHAT,
    model: "openai.gpt-oss-120b-1:0",
    whole: "/chat/completions",
    service: "bedrock",
  },
  mantle_messages: {
    cloud: "aws",
    settings: REGION,
    format: MESSAGES,
    model: "anthropic.claude-opus-4-8",
    whole: "/v1/messages",
    service: "bedrock-mantle",
  },
  mantle_chat: {
    cloud: "aws",
    settings: REGION,
    format: CHAT,
    model: "deepseek.v3.2",
    whole: "/v1/chat/completions",
    service: "bedrock-mantle",
  },
  bedrock_invoke: {
    cloud: "aws",
    settings: REGION,
    format: INVOKE,
    model: "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    whole: "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke",
    stream:
      "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke-with-response-stream",
    service: "bedrock",
  },
  bedrock_converse: {
    cloud: "aws",
    settings: REGION,
    format: CONVERSE,
    model: "arn:aws:bedrock:us-east-1:1:application-inference-profile/x1",
    whole:
      "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Aapplication-inference-profile%2Fx1/converse",
    stream:
      "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Aapplication-inference-profile%2Fx1/converse-stream",
    service: "bedrock",
  },
  claude_aws: {
    cloud: "aws",
    settings: { ...REGION, workspace: "wrkspc_01" },
    format: MESSAGES,
    model: "claude-opus-4-8",
    whole: "/v1/messages",
    service: "aws-external-anthropic",
  },
  vertex_gemini: {
    cloud: "google",
    settings: PROJECT,
    format: GENERATE,
    model: "gemini-3-pro",
    whole: `${GEMINI_PATH}:generateContent`,
    stream: `${GEMINI_PATH}:streamGenerateContent?alt=sse`,
  },
  vertex_claude: {
    cloud: "google",
    settings: PROJECT,
    format: MESSAGES,
    model: "claude-sonnet-4-5@20250929",
    whole: `${CLAUDE}/claude-sonnet-4-5%4020250929:rawPredict`,
    stream: `${CLAUDE}/claude-sonnet-4-5%4020250929:streamRawPredict`,
  },
  vertex_chat: {
    cloud: "google",
    settings: PROJECT,
    format: CHAT,
    model: "google/gemini-3-pro",
    whole: `${LOCATION}/endpoints/openapi/chat/completions`,
  },
  google_claude: {
    cloud: "google",
    settings: { project: "contoso-ml", workspace: "wrkspc_01" },
    format: MESSAGES,
    model: "claude-opus-4-8",
    whole: "/v1/messages",
  },
};

/** The hosts that take keys alone. */
export const KEY_ROWS: Readonly<Partial<Record<HostKind, Format>>> = {
  vendora: MESSAGES,
  vendorb: CHAT,
  vendorc: GENERATE,
  vendord: MESSAGES,
  vertex_express: GENERATE,
  openai_compatible: CHAT,
};
