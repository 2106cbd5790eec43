/**
 * The reply to a request that only prepares a later one: it is complete and empty, and can be
 * continued. No upstream is called, so nothing is paid for.
 */
import { encodeText } from "../../translate/bytes/buffers.ts";
import type { EncodeContext } from "../../translate/dialect.ts";
import type { ReplyEvent } from "../../translate/model/reply.ts";
import type { HttpReply } from "../http/http_reply.ts";
import { replyHeaders } from "../http/reply_headers.ts";
import type { ReplyKeeper } from "../responses/conversation.ts";
import type { GenerationCall } from "./call_request.ts";

const EVENTS: readonly ReplyEvent[] = [
  { type: "start" },
  { type: "usage", usage: { input: 0, output: 0 } },
  { type: "stop", reason: "end", raw: "" },
  { type: "end" },
];

/** The frames of an empty stream, once it is kept. Ends the call. */
export async function emptyReply(
  { dialect, slot, arrivedMs }: GenerationCall,
  encode: EncodeContext,
  keeper: ReplyKeeper | undefined,
): Promise<HttpReply> {
  const encoder = dialect.streamEncoder(encode);
  const frames = EVENTS.map((event) => encoder.push(event)).join("");
  const bytes = encodeText(frames);
  const end = keeper?.streamEnd(bytes);
  const isKept = end === undefined || await keeper?.keep(end) === true;
  slot.release();
  return {
    status: 200,
    headers: replyHeaders({
      stream: true,
      dialect,
      limits: {},
      dropped: [],
      replay: false,
      nowMs: arrivedMs,
    }),
    body: isKept ? frames : new TextDecoder().decode(end.unstored()),
  };
}
