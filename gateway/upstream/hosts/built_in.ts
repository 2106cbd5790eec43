/**
 * The built-in vendors as hosts: each at its own public address.
 *
 * @module
 */
import type { HostAuth } from "../credentials/credential.ts";
import type { Host, VendorName } from "./host.ts";
import { GPT } from "./model_rules.ts";

const BEARER: HostAuth = { schemes: ["bearer"] };

/** The rows of the built-in vendors. */
export const BUILT_IN_HOSTS: readonly (Host & {
  readonly kind: VendorName;
  readonly base: string;
})[] = [
  {
    kind: "vendora",
    base: "https://api.anthropic.com",
    serves: "vendora",
    dialects: [{
      dialect: "messages",
      whole: "/v1/messages",
      count: { path: "/v1/messages/count_tokens", wrap: "messages" },
      auth: { schemes: ["header"], header: "x-api-key" },
      edits: {
        version: { in: "header", own: "2023-06-01" },
        profile: "header",
      },
      capabilities: { threads: true },
    }],
  },
  {
    kind: "vendorb",
    base: "https://api.openai.com/v1",
    serves: "vendorb",
    dialects: [
      {
        dialect: "chat_completions",
        whole: "/chat/completions",
        auth: BEARER,
        modelRules: GPT,
      },
      {
        dialect: "responses",
        whole: "/responses",
        auth: BEARER,
        modelRules: GPT,
      },
    ],
  },
  {
    kind: "vendorc",
    base: "https://generativelanguage.googleapis.com",
    serves: "vendorc",
    dialects: [{
      dialect: "generate_content",
      whole: "/v1beta/models/{model}:generateContent",
      stream: "/v1beta/models/{model}:streamGenerateContent?alt=sse",
      // Not as `?key=`, because URLs end up in logs and traces.
      auth: { schemes: ["header"], header: "x-goog-api-key" },
    }],
  },
  {
    kind: "vendord",
    base: "https://api.minimax.io",
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
