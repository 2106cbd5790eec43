/** The checks of every area. */
import type { Check } from "../suite/check.ts";
import { AUTH_CHECKS } from "./auth/checks.ts";
import { COUNTS_CHECKS } from "./counts/checks.ts";
import { EMBEDDINGS_CHECKS } from "./embeddings/checks.ts";
import { GENERATE_CONTENT_CHECKS } from "./generate_content/checks.ts";
import { MODELS_CHECKS } from "./models/checks.ts";
import { MESSAGE_REPLY_CHECKS } from "./message_reply/checks.ts";
import { MESSAGE_STREAM_CHECKS } from "./message_stream/checks.ts";
import { CHAT_REPLY_CHECKS } from "./chat_reply/checks.ts";
import { CHAT_STREAM_CHECKS } from "./chat_stream/checks.ts";
import { ERRORS_CHECKS } from "./errors/checks.ts";
import { EQUIVALENCE_CHECKS } from "./equivalence/checks.ts";
import { TOOLS_CHECKS } from "./tools/checks.ts";
import { UPSTREAM_CHECKS } from "./upstream/checks.ts";
import { HOSTILE_CHECKS } from "./hostile/checks.ts";
import { LIMITS_CHECKS } from "./limits/checks.ts";
import { RESPONSES_CHECKS } from "./responses/checks.ts";
import { WEB_SOCKET_CHECKS } from "./web_socket/checks.ts";
import { FRAME_CHECKS } from "./web_socket/checks_frames.ts";
import { TRANSPORT_CHECKS } from "./transport/checks.ts";

/** All checks, in the order of the reports. */
export const CHECKS: readonly Check[] = [
  ...AUTH_CHECKS,
  ...MODELS_CHECKS,
  ...MESSAGE_REPLY_CHECKS,
  ...MESSAGE_STREAM_CHECKS,
  ...CHAT_REPLY_CHECKS,
  ...CHAT_STREAM_CHECKS,
  ...ERRORS_CHECKS,
  ...EQUIVALENCE_CHECKS,
  ...TOOLS_CHECKS,
  ...UPSTREAM_CHECKS,
  ...HOSTILE_CHECKS,
  ...LIMITS_CHECKS,
  ...TRANSPORT_CHECKS,
  ...RESPONSES_CHECKS,
  ...GENERATE_CONTENT_CHECKS,
  ...COUNTS_CHECKS,
  ...EMBEDDINGS_CHECKS,
  ...WEB_SOCKET_CHECKS,
  ...FRAME_CHECKS,
];
