/**
 * The messages format (`POST /v1/messages`), put together. Each function is in the file that carries its name or its noun.
 *
 * @module
 */
import type { Dialect } from "../dialect.ts";
import { cleanRequest } from "./clean_request.ts";
import { endingKeeper } from "./ending_keeper.ts";
import { encodeRequest } from "./encode_request.ts";
import { decodeError, encodeError } from "./error.ts";
import { decodeReply, encodeReply } from "./reply.ts";
import { decodeRequest } from "./request.ts";
import { streamDecoder } from "./stream.ts";
import { streamEncoder } from "./stream_encoder.ts";

export { decodeCountTokens } from "./request.ts";
export { countTokensRequest, messagesRequest } from "./wire.ts";

/** The messages format. */
export const messages: Dialect = {
  name: "messages",
  decodeRequest,
  encodeRequest,
  cleanRequest,
  // Replies of this dialect tell their usage unasked.
  passThroughFields: () => ({}),
  unasked: () => false,
  endingKeeper,
  decodeReply,
  encodeReply,
  varying: {
    texts: new Set(["text", "thinking", "partial_json"]),
    padding: new Set(),
  },
  streamDecoder,
  streamEncoder,
  decodeError,
  encodeError,
};
