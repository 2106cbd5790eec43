/**
 * The messages format (`POST /v1/messages`), assembled from the files of this folder.
 */
import { billedFields } from "./billed_fields.ts";
import type { Dialect } from "../../dialect.ts";
import { checkPassable, isPassable } from "./check_passable.ts";
import { cleanRequest, refusedKeys } from "./clean_request.ts";
import { streamEnding } from "./stream_ending.ts";
import { encodeRequest } from "./encode_request.ts";
import { decodeError, encodeError } from "./error.ts";
import { decodeReply } from "./decode_reply.ts";
import { encodeReply } from "./encode_reply.ts";
import { decodeRequest } from "./decode_request.ts";
import { streamDecoder } from "./decode_stream.ts";
import { streamEncoder } from "./encode_stream.ts";

export { checkCountable } from "./check_passable.ts";
export { decodeCountTokens } from "./decode_request.ts";
export { countTokensRequest, messagesRequest } from "./wire.ts";

export const messages: Dialect = {
  name: "messages",
  // Clients take the fields of a text block from its first frame.
  lacks: ["streamed_text_signature"],
  decodeRequest,
  checkPassable,
  billedFields,
  isPassable,
  encodeRequest,
  cleanRequest,
  refusedKeys,
  // Replies of this dialect always report their usage.
  passThroughFields: () => ({}),
  isUnrequestedFrame: () => false,
  streamEnding,
  decodeReply,
  encodeReply,
  variableKeys: {
    texts: new Set(["text", "thinking", "partial_json"]),
    padding: new Set(),
  },
  streamDecoder,
  streamEncoder,
  decodeError,
  encodeError,
};
