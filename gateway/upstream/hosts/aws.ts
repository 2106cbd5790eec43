/**
 * Amazon Web Services: the Bedrock runtime in four formats, the newer Bedrock endpoints (`mantle`),
 * and Claude as Anthropic manages it on AWS.
 *
 * Sources, read 2026-11-22: docs.aws.amazon.com/bedrock/latest/userguide/{endpoints,
 * inference-messages-api,inference-responses-api}.html; npm `@anthropic-ai/{bedrock,aws}-sdk`
 * 1.1.x, `src/client.ts`; vercel/ai `amazon-bedrock-anthropic-provider.ts`.
 */
import type { BodyEdits } from "../../../translate/body_edits.ts";
import type { HostAuth } from "../credentials/credential.ts";
import type { Host } from "./host.ts";
import { MESSAGES_HEADERS } from "./messages_headers.ts";
import {
  BEDROCK_CLAUDE,
  CLAUDE,
  CONVERSE_MODELS,
  INVOKED_CLAUDE,
  OPEN_WEIGHTS,
} from "./model_rules.ts";

const RUNTIME = "https://bedrock-runtime.{region}.amazonaws.com";
const MANTLE = "https://bedrock-mantle.{region}.api.aws";

const BEDROCK: HostAuth = {
  schemes: ["bearer", "sigv4"],
  service: "bedrock",
  keyHint:
    "a short-term Bedrock key lasts twelve hours at most and works in its own region only",
};
const BEDROCK_MANTLE: HostAuth = { ...BEDROCK, service: "bedrock-mantle" };

/**
 * The requested `max_tokens` is taken from the minute's quota when a call begins
 * (aws/agent-toolkit-for-aws `quota-health.md`), so a large default would refuse other calls.
 */
const DEFAULT_MAX_TOKENS = 8192;

/**
 * Bedrock knows the newest version for the newest models only. The older one accepts everything
 * that the newer one does (platform.claude.com/docs/en/api/versioning).
 */
const OLDER_VERSION: BodyEdits = {
  version: { in: "header", own: "2023-06-01", knows: ["2023-06-01"] },
  // The header is ignored there (npm `@anthropic-ai/bedrock-sdk` 1.1.3).
  profile: "body",
};

/**
 * The betas of `InvokeModel`, which refuses the whole request for one that it does not know
 * (docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages-request-response.html).
 */
const INVOKE_BETAS: readonly string[] = [
  "computer-use-2024-10-22",
  "computer-use-2025-01-24",
  "computer-use-2025-11-24",
  "token-efficient-tools-2025-02-19",
  "interleaved-thinking-2025-05-14",
  "output-128k-2025-02-19",
  "dev-full-thinking-2025-05-14",
  "context-1m-2025-08-07",
  "context-management-2025-06-27",
  "effort-2025-11-24",
  "tool-search-tool-2025-10-19",
  "tool-examples-2025-10-29",
];

export const AWS_HOSTS: readonly Host[] = [
  {
    kind: "bedrock_messages",
    billsCancelled: true,
    base: `${RUNTIME}/anthropic`,
    serves: "vendora",
    dialects: [{
      dialect: "messages",
      whole: "/v1/messages",
      auth: BEDROCK,
      edits: OLDER_VERSION,
      errors: "aws",
      capabilities: { defaultMaxTokens: DEFAULT_MAX_TOKENS },
      modelRules: BEDROCK_CLAUDE,
    }],
  },
  {
    kind: "bedrock_chat",
    billsCancelled: true,
    base: `${RUNTIME}/openai/v1`,
    dialects: [{
      dialect: "chat_completions",
      whole: "/chat/completions",
      auth: BEDROCK,
      errors: "aws",
      modelRules: OPEN_WEIGHTS,
    }],
  },
  {
    kind: "mantle_messages",
    billsCancelled: true,
    base: `${MANTLE}/anthropic`,
    serves: "vendora",
    dialects: [{
      dialect: "messages",
      whole: "/v1/messages",
      count: { path: "/v1/messages/count_tokens", wrap: "none" },
      auth: BEDROCK_MANTLE,
      edits: OLDER_VERSION,
      errors: "aws",
      capabilities: { defaultMaxTokens: DEFAULT_MAX_TOKENS },
      modelRules: BEDROCK_CLAUDE,
    }],
  },
  {
    kind: "mantle_chat",
    billsCancelled: true,
    base: MANTLE,
    dialects: [{
      dialect: "chat_completions",
      whole: "/v1/chat/completions",
      // Some models are served at one of the two paths only.
      routes: { openai: { whole: "/openai/v1/chat/completions" } },
      auth: BEDROCK_MANTLE,
      errors: "aws",
      modelRules: OPEN_WEIGHTS,
    }],
  },
  {
    kind: "bedrock_invoke",
    billsCancelled: true,
    base: RUNTIME,
    serves: "vendora",
    dialects: [{
      dialect: "messages",
      whole: "/model/{model}/invoke",
      stream: "/model/{model}/invoke-with-response-stream",
      count: { path: "/model/{model}/count-tokens", wrap: "bedrock" },
      embeddings: { path: "/model/{model}/invoke", form: "bedrock" },
      auth: BEDROCK,
      edits: {
        remove: ["model", "stream"],
        version: { in: "body", own: "bedrock-2023-05-31", knows: [] },
        profile: "body",
        betas: {
          in: "body",
          knows: INVOKE_BETAS,
          names: {
            "advanced-tool-use-2025-11-20": "tool-search-tool-2025-10-19",
          },
        },
        refuses: [
          "tools.eager_input_streaming",
          "tools.strict",
          "tool_choice.disable_parallel_tool_use",
          "cache_control.scope",
        ],
      },
      framing: "aws_event_stream",
      errors: "aws",
      capabilities: {
        defaultMaxTokens: DEFAULT_MAX_TOKENS,
        mediaUrls: false,
        parallelToggle: false,
        strictTools: false,
        // System turns within the conversation need a beta that this host does not know.
        systemAnywhere: false,
      },
      modelRules: INVOKED_CLAUDE,
    }],
  },
  {
    kind: "bedrock_converse",
    billsCancelled: true,
    base: RUNTIME,
    dialects: [{
      dialect: "converse",
      whole: "/model/{model}/converse",
      stream: "/model/{model}/converse-stream",
      auth: BEDROCK,
      framing: "aws_event_stream",
      errors: "aws",
      capabilities: { defaultMaxTokens: DEFAULT_MAX_TOKENS },
      modelRules: CONVERSE_MODELS,
    }],
  },
  {
    kind: "claude_aws",
    base: "https://aws-external-anthropic.{region}.api.aws",
    serves: "vendora",
    dialects: [{
      dialect: "messages",
      whole: "/v1/messages",
      auth: {
        schemes: ["header", "sigv4"],
        header: "x-api-key",
        service: "aws-external-anthropic",
      },
      headers: { "anthropic-workspace-id": "{workspace}" },
      edits: MESSAGES_HEADERS,
      errors: "aws",
      modelRules: CLAUDE,
    }],
  },
];
