/**
 * The generate-content (Gemini) format: `POST /v1beta/models/{model}:generateContent` and
 * `:streamGenerateContent`, assembled from the files of this folder.
 */
import type { Dialect } from "../../dialect.ts";
import { billedFields } from "./billed_fields.ts";
import { checkPassable } from "./check_passable.ts";
import { cleanRequest } from "./clean_request.ts";
import { decodeReply } from "./decode_reply.ts";
import { decodeRequest } from "./decode_request.ts";
import { streamDecoder } from "./decode_stream.ts";
import { encodeReply, withStop } from "./encode_reply.ts";
import { encodeRequest } from "./encode_request.ts";
import { streamEncoder } from "./encode_stream.ts";
import { decodeError, encodeError } from "./error.ts";
import { streamEnding } from "./stream_ending.ts";

export { generateContentRequest } from "./wire.ts";

export const generateContent: Dialect = {
  name: "generate_content",
  hasTargetInPath: true,
  modelKey: "modelVersion",
  decodeRequest,
  checkPassable,
  billedFields,
  encodeRequest,
  cleanRequest,
  // The path states the model; the vendor would refuse another one in the body.
  refusedKeys: () => ["model"],
  // Replies of this format always report their usage.
  passThroughFields: () => ({}),
  replyFields: ({ model }) => ({ modelVersion: model }),
  withStop,
  isUnrequestedFrame: () => false,
  streamEnding,
  decodeReply,
  encodeReply,
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
  streamEncoder,
  decodeError,
  encodeError,
};
