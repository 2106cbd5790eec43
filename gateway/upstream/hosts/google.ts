/**
 * Google Cloud: Gemini, Claude and open models on Vertex AI, Gemini in express mode, and Claude as
 * Anthropic manages it on Google Cloud.
 *
 * Sources, read 2026-11-22: npm `@anthropic-ai/vertex-sdk` 1.1.3 and
 * `@anthropic-ai/google-cloud-sdk` 1.1.4, `src/client.ts`; agentgateway `vertex.rs`.
 */
import type { HostAuth } from "../credentials/credential.ts";
import type { Host } from "./host.ts";
import { MESSAGES_HEADERS } from "./messages_headers.ts";
import { CLAUDE, VERTEX_CHAT } from "./model_rules.ts";

const GOOGLE: HostAuth = { schemes: ["google"] };

const BASE = "https://{vertex_host}/v1";
const LOCATION = "/projects/{project}/locations/{location}";
const GEMINI = `${LOCATION}/publishers/google/models/{model}`;
const CLAUDE_MODELS = `${LOCATION}/publishers/anthropic/models`;

export const GOOGLE_HOSTS: readonly Host[] = [
  {
    kind: "vertex_gemini",
    billsCancelled: true,
    base: BASE,
    serves: "vendorc",
    dialects: [{
      dialect: "generate_content",
      whole: `${GEMINI}:generateContent`,
      stream: `${GEMINI}:streamGenerateContent?alt=sse`,
      count: { path: `${GEMINI}:countTokens`, wrap: "none" },
      auth: GOOGLE,
      errors: "google",
    }],
  },
  {
    kind: "vertex_express",
    billsCancelled: true,
    base: "https://aiplatform.googleapis.com/v1",
    serves: "vendorc",
    dialects: [{
      dialect: "generate_content",
      whole: "/publishers/google/models/{model}:generateContent",
      stream: "/publishers/google/models/{model}:streamGenerateContent?alt=sse",
      count: {
        path: "/publishers/google/models/{model}:countTokens",
        wrap: "none",
      },
      auth: { schemes: ["header"], header: "x-goog-api-key" },
      errors: "google",
    }],
  },
  {
    kind: "vertex_claude",
    billsCancelled: true,
    base: BASE,
    serves: "vendora",
    dialects: [{
      dialect: "messages",
      whole: `${CLAUDE_MODELS}/{model}:rawPredict`,
      stream: `${CLAUDE_MODELS}/{model}:streamRawPredict`,
      count: {
        path: `${CLAUDE_MODELS}/count-tokens:rawPredict`,
        wrap: "vertex",
        // anthropics/claude-code#12429
        refusedBetas: ["web-search-2025-03-05"],
      },
      auth: GOOGLE,
      edits: {
        remove: ["model"],
        version: { in: "body", own: "vertex-2023-10-16", knows: [] },
        betas: { in: "body" },
        refuses: ["output_format", "cache_control.scope"],
      },
      errors: "google",
      capabilities: { mediaUrls: false },
      modelRules: CLAUDE,
    }],
  },
  {
    kind: "vertex_chat",
    billsCancelled: true,
    base: BASE,
    dialects: [{
      dialect: "chat_completions",
      whole: `${LOCATION}/endpoints/openapi/chat/completions`,
      auth: GOOGLE,
      errors: "google",
      modelRules: VERTEX_CHAT,
    }],
  },
  {
    kind: "google_claude",
    base:
      "https://claude.googleapis.com/v1/projects/{project}/locations/global/workspaces/{workspace}/invoke",
    serves: "vendora",
    dialects: [{
      dialect: "messages",
      whole: "/v1/messages",
      auth: GOOGLE,
      edits: MESSAGES_HEADERS,
      errors: "google",
      modelRules: CLAUDE,
    }],
  },
];
