/**
 * Mutants for the checks of the area `message_stream`: a first event that is missing, late or
 * malformed.
 */
import { withAt } from "../../reference_gateway/change_reply.ts";
import { event, out } from "../../reference_gateway/change_messages.ts";
import type { Mutant } from "../../reference_gateway/mutant.ts";

const PING = out({ type: "ping" });

/** A mutant that changes a member of the message in message_start; undefined removes it. */
function start(
  name: string,
  about: string,
  path: string,
  value: Parameters<typeof withAt>[2],
): Mutant {
  return event(
    name,
    about,
    "message_start",
    (data) => withAt(data, `message.${path}`, value),
  );
}

/** Part of `MESSAGE_STREAM_ORDER_MUTANTS`. */
export const MESSAGE_STREAM_START_MUTANTS: readonly Mutant[] = [
  event(
    "message-start-missing",
    "message_start is missing",
    "message_start",
    () => undefined,
  ),
  start("message-start-id-missing", "The message has no id", "id", undefined),
  start(
    "message-start-id-constant",
    "All streams have the same id",
    "id",
    "msg_1",
  ),
  start("message-start-id-bare", "The id has no prefix", "id", "42"),
  start(
    "message-start-usage-missing",
    "The message has no usage",
    "usage",
    undefined,
  ),
  start(
    "message-start-input-text",
    "Input tokens are a string",
    "usage.input_tokens",
    "25",
  ),
  event(
    "message-ping-first",
    "A ping is sent before message_start",
    "message_start",
    (_data, _x, frame) => [PING, frame],
  ),
  start(
    "message-start-type-missing",
    "The message has no type",
    "type",
    undefined,
  ),
  start("message-start-role-user", "The role is the user's", "role", "user"),
  start(
    "message-start-model-other",
    "The model is the upstream's own name",
    "model",
    "upstream-model-20260101",
  ),
  start(
    "message-start-content-missing",
    "The message has no content",
    "content",
    undefined,
  ),
  start(
    "message-start-content-filled",
    "The message already has content",
    "content",
    [
      { type: "text", text: "" },
    ],
  ),
  start(
    "message-start-stop-filled",
    "The message already has a stop reason",
    "stop_reason",
    "end_turn",
  ),
];
