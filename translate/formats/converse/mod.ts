/**
 * The Converse format of Amazon Bedrock. Only upstreams use it, so it decodes no requests and
 * encodes no replies. Its streams arrive here as event-stream text, see
 * `../../stream/aws_event_stream.ts`.
 *
 * Source: docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html, 2026-11-22
 */
import type { UpstreamDialect } from "../../dialect.ts";
import { decodeReply } from "./decode_reply.ts";
import { streamDecoder } from "./decode_stream.ts";
import { encodeRequest } from "./encode_request.ts";
import { decodeError } from "./error.ts";

export const converse: UpstreamDialect = {
  name: "converse",
  encodeRequest,
  decodeReply,
  streamDecoder,
  decodeError,
};
