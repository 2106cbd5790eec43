/**
 * The Responses format (`POST /v1/responses`), assembled from the modules in this folder.
 */
import { billedFields } from "./billed_fields.ts";
import type { Dialect } from "../../dialect.ts";
import { checkPassable, isPassable } from "./check_passable.ts";
import { decodeReply } from "./decode_reply.ts";
import { decodeRequest } from "./decode_request.ts";
import { streamDecoder } from "./decode_stream.ts";
import { encodeReply, withStop } from "./encode_reply.ts";
import { encodeRequest } from "./encode_request.ts";
import { streamEncoder } from "./encode_stream.ts";
import { decodeError, encodeError } from "./error.ts";
import {
  cleanRequest,
  passThroughFields,
  replyFields,
  withoutProofs,
} from "./clean_request.ts";
import { state } from "./state.ts";
import { streamEnding } from "./stream_ending.ts";
import { echoOf } from "./tool_names.ts";

export { responsesRequest } from "./wire.ts";

export const responses: Dialect = {
  name: "responses",
  decodeRequest,
  encodeRequest,
  checkPassable,
  billedFields,
  isPassable,
  cleanRequest,
  withoutSignatures: withoutProofs,
  passThroughFields,
  replyFields,
  // Replies of this format report usage without being asked.
  isUnrequestedFrame: () => false,
  echoOf,
  streamEnding,
  state,
  decodeReply,
  encodeReply,
  withStop,
  variableKeys: {
    texts: new Set(["delta"]),
    padding: new Set(["obfuscation"]),
    counts: new Set(["sequence_number"]),
  },
  streamDecoder,
  streamEncoder,
  decodeError,
  encodeError,
};
