/**
 * The built-in vendors as hosts: each at its own public address.
 */
import type { HostAuth } from "../credentials/credential.ts";
import type { Host, VendorName } from "./host.ts";
import { CLAUDE, GPT } from "./model_rules.ts";

const BEARER: HostAuth = { schemes: ["bearer"] };

/** A built-in vendor: its settings, their texts and its address in the replay follow from it. */
interface BuiltInHost extends Host {
  readonly kind: VendorName;
  readonly base: string;
  /** The end of the text of its address setting, as Markdown; may be empty. */
  readonly addressText: string;
}

export const BUILT_IN_HOSTS: readonly BuiltInHost[] = [
  {
    kind: "vendora",
    base: "https://api.anthropic.com",
    addressText: ", as its own libraries take it",
    serves: "vendora",
    dialects: [{
      dialect: "messages",
      whole: "/v1/messages",
      count: { path: "/v1/messages/count_tokens", wrap: "none" },
      auth: { schemes: ["header"], header: "x-api-key" },
      edits: {
        version: { in: "header", own: "2023-06-01" },
        profile: "header",
      },
      capabilities: { threads: true },
      modelRules: CLAUDE,
    }],
  },
  {
    kind: "vendorb",
    base: "https://api.openai.com/v1",
    addressText: ", ending in `/v1`",
    serves: "vendorb",
    dialects: [
      {
        dialect: "chat_completions",
        whole: "/chat/completions",
        embeddings: { path: "/embeddings", form: "chat" },
        auth: BEARER,
        modelRules: GPT,
      },
      {
        dialect: "responses",
        whole: "/responses",
        count: { path: "/responses/input_tokens", wrap: "none" },
        auth: BEARER,
        modelRules: GPT,
      },
    ],
  },
  {
    kind: "vendorc",
    billsCancelled: true,
    base: "https://generativelanguage.googleapis.com",
    addressText: "",
    serves: "vendorc",
    dialects: [{
      dialect: "generate_content",
      whole: "/v1beta/models/{model}:generateContent",
      stream: "/v1beta/models/{model}:streamGenerateContent?alt=sse",
      count: { path: "/v1beta/models/{model}:countTokens", wrap: "gemini" },
      embeddings: {
        path: "/v1beta/models/{model}:batchEmbedContents",
        form: "generate_content",
      },
      // Not as `?key=`, because URLs end up in logs and traces.
      auth: { schemes: ["header"], header: "x-goog-api-key" },
    }],
  },
  {
    kind: "vendord",
    billsCancelled: true,
    base: "https://api.minimax.io",
    addressText: "; messages are at `/anthropic/v1` under it, chat at `/v1`",
    serves: "vendord",
    dialects: [
      {
        dialect: "messages",
        whole: "/anthropic/v1/messages",
        auth: { schemes: ["bearer", "header"], header: "x-api-key" },
        edits: {
          version: { in: "header", own: "2023-06-01", knows: ["2023-06-01"] },
        },
      },
      {
        dialect: "chat_completions",
        whole: "/v1/chat/completions",
        auth: BEARER,
      },
    ],
  },
];
