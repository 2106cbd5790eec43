/**
 * The events that a client of the Responses format receives through a web socket: those of an event
 * stream, each as a text message, and errors in place of an HTTP status.
 */
import type { HeaderFields, HttpReply } from "../../gateway/http/http_reply.ts";
import { isObject, type JsonObject } from "../../translate/bytes/json.ts";
import { parseJson } from "../../translate/bytes/json.ts";

/** Headers about the body of a reply over HTTP. */
const OF_BODY: ReadonlySet<string> = new Set([
  "content-type",
  "cache-control",
  "x-accel-buffering",
]);

/** What a message has beside its event. */
export interface Envelope {
  /** The lane's name; absent: it has none. */
  readonly stream_id?: string;
  /** The headers that a reply over HTTP would have. */
  readonly headers?: HeaderFields;
}

/** The headers of a reply that are not about its body. */
export function envelopeHeaders(
  headers: HeaderFields,
  requestId: string,
): HeaderFields {
  return {
    "request-id": requestId,
    ...Object.fromEntries(
      Object.entries(headers).filter(([name]) => !OF_BODY.has(name)),
    ),
  };
}

/** The data of a frame with its envelope, as the text of a message. */
export function message(data: string, envelope: Envelope): string {
  const members = JSON.stringify(envelope).slice(1, -1);
  return members === "" ? data : `{${members},${data.slice(1)}`;
}

/** An error reply as the text of a message. */
export function errorMessage(
  { status, body }: Pick<HttpReply, "status" | "body">,
  envelope: Envelope,
): string {
  const error = typeof body === "string" ? parseJson(body) : undefined;
  return JSON.stringify({
    type: "error",
    status,
    ...envelope,
    ...(isObject(error) ? error : {}),
  });
}

/** The answer to an attempt to change a reply under way. */
export function steerRefusal(event: JsonObject): string {
  return JSON.stringify({
    type: "response.steer.failed",
    sequence_number: 0,
    error: {
      type: "invalid_request_error",
      code: "steering_not_supported",
      message:
        "a reply under way cannot be steered here: send the input with the next response.create",
    },
    steer: {
      previous_response_id: event["previous_response_id"] ?? null,
      input: event["input"] ?? null,
    },
  });
}
