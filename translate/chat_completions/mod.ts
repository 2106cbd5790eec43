/**
 * The chat-completion format (`POST /v1/chat/completions`), assembled. Each part has its own module beside this one.
 *
 * @module
 */
import type { Dialect } from "../dialect.ts";
import { dataFrame } from "../sse.ts";
import { cleanRequest } from "./clean_request.ts";
import { decodeRequest } from "./decode_request.ts";
import { encodeRequest } from "./encode_request.ts";
import { decodeError, encodeError } from "./error.ts";
import { passThroughFields, unasked } from "./include_usage.ts";
import { decodeReply, encodeReply } from "./reply.ts";
import { streamDecoder } from "./stream_decoder.ts";
import { streamEncoder } from "./stream_encoder.ts";

export { chatCompletionsRequest } from "./wire.ts";

/** The chat-completion format. */
export const chatCompletions: Dialect = {
  name: "chat_completions",
  terminator: dataFrame("[DONE]"),
  decodeRequest,
  encodeRequest,
  cleanRequest,
  passThroughFields,
  unasked,
  decodeReply,
  encodeReply,
  streamDecoder,
  streamEncoder,
  decodeError,
  encodeError,
};
