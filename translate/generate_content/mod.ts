/**
 * The generate-content (Gemini) dialect. Only upstreams speak it: no caller does yet, so it reads no requests and writes no
 * replies.
 *
 * @module
 */
import type { UpstreamDialect } from "../dialect.ts";
import { decodeError } from "./error.ts";
import { decodeReply } from "./reply.ts";
import { encodeRequest } from "./request.ts";
import { streamDecoder } from "./stream.ts";

/** Generate content, as an upstream speaks it. */
export const generateContent: UpstreamDialect = {
  name: "generate_content",
  encodeRequest,
  decodeReply,
  varying: {
    texts: new Set(["text"]),
    padding: new Set(),
    counts: new Set([
      "promptTokenCount",
      "candidatesTokenCount",
      "totalTokenCount",
      "thoughtsTokenCount",
      "cachedContentTokenCount",
      "toolUsePromptTokenCount",
    ]),
  },
  streamDecoder,
  decodeError,
};
