/**
 * The chat-completion format (`POST /v1/chat/completions`), assembled from the modules in this
 * folder.
 */
import { billedFields } from "./billed_fields.ts";
import type { Dialect } from "../../dialect.ts";
import { checkPassable, isPassable } from "./check_passable.ts";
import { cleanRequest } from "./clean_request.ts";
import { decodeRequest } from "./decode_request.ts";
import { encodeRequest } from "./encode_request.ts";
import { streamEnding } from "./stream_ending.ts";
import { decodeError, encodeError } from "./error.ts";
import { isUnrequestedUsage, passThroughFields } from "./include_usage.ts";
import { decodeReply } from "./decode_reply.ts";
import { encodeReply, withStop } from "./encode_reply.ts";
import { streamDecoder } from "./decode_stream.ts";
import { streamEncoder } from "./encode_stream.ts";

export { chatCompletionsRequest } from "./wire.ts";

export const chatCompletions: Dialect = {
  name: "chat_completions",
  lacks: ["code"],
  decodeRequest,
  checkPassable,
  isPassable,
  billedFields,
  encodeRequest,
  cleanRequest,
  passThroughFields,
  withStop,
  isUnrequestedFrame: isUnrequestedUsage,
  unrequestedKey: ({ wantUsage }) => wantUsage ? undefined : "usage",
  streamEnding,
  decodeReply,
  encodeReply,
  variableKeys: {
    texts: new Set([
      "content",
      "reasoning_content",
      "reasoning",
      "refusal",
      "arguments",
    ]),
    padding: new Set(["obfuscation"]),
  },
  streamDecoder,
  streamEncoder,
  decodeError,
  encodeError,
};
