/**
 * The generate-content (Gemini) dialect. Only upstreams use it, so it decodes no requests and
 * encodes no replies.
 *
 * @module
 */
import type { UpstreamDialect } from "../../dialect.ts";
import { decodeError } from "./error.ts";
import { decodeReply } from "./decode_reply.ts";
import { encodeRequest } from "./encode_request.ts";
import { streamDecoder } from "./decode_stream.ts";

/** The upstream side of generate content. */
export const generateContent: UpstreamDialect = {
  name: "generate_content",
  encodeRequest,
  decodeReply,
  variableKeys: {
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
