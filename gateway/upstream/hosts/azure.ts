/**
 * Microsoft Azure: OpenAI resources, the older endpoint for models, and Claude in Microsoft
 * Foundry. The upstream model is the name of a deployment.
 *
 * Sources, read 2026-11-22: learn.microsoft.com/azure/foundry/openai/api-version-lifecycle,
 * platform.claude.com/docs/en/build-with-claude/claude-in-microsoft-foundry.
 */
import type { Capabilities } from "../../../translate/model/capabilities.ts";
import type { HostAuth } from "../credentials/credential.ts";
import type { Host } from "./host.ts";
import { MESSAGES_HEADERS } from "./messages_headers.ts";
import { CLAUDE, OPEN_WEIGHTS } from "./model_rules.ts";

const KEY_OR_ENTRA: HostAuth = {
  schemes: ["header", "entra"],
  header: "api-key",
  scope: "https://cognitiveservices.azure.com/.default",
};

/** The scope of hosts under `services.ai.azure.com`. */
const AI_SCOPE = "https://ai.azure.com/.default";

/** Azure takes no file parts in chat completions (pydantic-ai `providers/azure.py`). */
const CHAT: Partial<Capabilities> = { files: false };

export const AZURE_HOSTS: readonly Host[] = [
  {
    kind: "azure_openai",
    base: "https://{resource}.openai.azure.com/openai/v1",
    serves: "vendorb",
    dialects: [{
      dialect: "chat_completions",
      whole: "/chat/completions",
      embeddings: { path: "/embeddings", form: "chat" },
      auth: KEY_OR_ENTRA,
      errors: "azure",
      capabilities: CHAT,
    }],
  },
  {
    kind: "azure_deployments",
    base: "https://{resource}.openai.azure.com",
    serves: "vendorb",
    dialects: [{
      dialect: "chat_completions",
      whole:
        "/openai/deployments/{model}/chat/completions?api-version={api_version}",
      embeddings: {
        path:
          "/openai/deployments/{model}/embeddings?api-version={api_version}",
        form: "chat",
      },
      auth: KEY_OR_ENTRA,
      errors: "azure",
      capabilities: CHAT,
    }],
  },
  {
    kind: "azure_models",
    base: "https://{resource}.services.ai.azure.com",
    dialects: [{
      dialect: "chat_completions",
      whole: "/models/chat/completions?api-version=2024-05-01-preview",
      embeddings: {
        path: "/models/embeddings?api-version=2024-05-01-preview",
        form: "chat",
      },
      auth: { ...KEY_OR_ENTRA, scope: AI_SCOPE },
      errors: "azure",
      // Its Mistral models know the older name of the limit only (pydantic/pydantic-ai#6593).
      edits: { rename: { max_completion_tokens: "max_tokens" } },
      // Older versions of this API know no `stream_options`.
      capabilities: { ...CHAT, includeUsage: false },
      modelRules: OPEN_WEIGHTS,
    }],
  },
  {
    kind: "foundry_messages",
    base: "https://{resource}.services.ai.azure.com/anthropic",
    serves: "vendora",
    dialects: [{
      dialect: "messages",
      whole: "/v1/messages",
      count: { path: "/v1/messages/count_tokens", wrap: "none" },
      auth: {
        schemes: ["header", "entra"],
        header: "x-api-key",
        scope: AI_SCOPE,
      },
      edits: MESSAGES_HEADERS,
      errors: "azure",
      modelRules: CLAUDE,
    }],
  },
];
