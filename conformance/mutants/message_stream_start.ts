/** Mutants for the checks of the area `message_stream`: a first event that is missing, late or of another shape. */
import { withAt } from "./change_reply.ts";
import { event, out } from "./message_change.ts";
import type { Mutant } from "./mutant.ts";

const PING = out({ type: "ping" });

/** A mutant that changes a member of the message in message_start; undefined takes it away. */
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

/** The mutants. */
export const MESSAGE_STREAM_START_MUTANTS: readonly Mutant[] = [
  event(
    "message-start-missing",
    "message_start never comes",
    "message_start",
    () => undefined,
  ),
  start("message-start-id-missing", "The message has no id", "id", undefined),
  start("message-start-id-constant", "All have one id", "id", "msg_1"),
  start("message-start-id-bare", "The id has no prefix", "id", "42"),
  start("message-start-usage-missing", "No usage yet", "usage", undefined),
  start(
    "message-start-input-text",
    "Input tokens are a text",
    "usage.input_tokens",
    "25",
  ),
  event(
    "message-ping-first",
    "A ping comes before message_start",
    "message_start",
    (_data, _x, frame) => [PING, frame],
  ),
  start("message-start-type-missing", "No type", "type", undefined),
  start("message-start-role-user", "The role is the user's", "role", "user"),
  start(
    "message-start-model-other",
    "The model is the upstream's own name",
    "model",
    "upstream-model-20260101",
  ),
  start("message-start-content-missing", "No content", "content", undefined),
  start("message-start-content-filled", "Content is in it", "content", [
    { type: "text", text: "" },
  ]),
  start(
    "message-start-stop-filled",
    "The stop reason is known before the reply",
    "stop_reason",
    "end_turn",
  ),
];
