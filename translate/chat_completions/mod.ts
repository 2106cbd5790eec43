/**
 * The chat-completion format (`POST /v1/chat/completions`), assembled. Each part has its own module beside this one.
 *
 * @module
 */
import type { Dialect } from "../dialect.ts";
import { cleanRequest } from "./clean_request.ts";
import { decodeRequest } from "./decode_request.ts";
import { encodeRequest } from "./encode_request.ts";
import { endingKeeper } from "./ending_keeper.ts";
import { decodeError, encodeError } from "./error.ts";
import { passThroughFields, unasked } from "./include_usage.ts";
import { decodeReply, encodeReply } from "./reply.ts";
import { streamDecoder } from "./stream_decoder.ts";
import { streamEncoder } from "./stream_encoder.ts";

export { chatCompletionsRequest } from "./wire.ts";

/** The chat-completion format. */
export const chatCompletions: Dialect = {
  name: "chat_completions",
  decodeRequest,
  encodeRequest,
  cleanRequest,
  passThroughFields,
  unasked,
  endingKeeper,
  decodeReply,
  encodeReply,
  varying: {
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
