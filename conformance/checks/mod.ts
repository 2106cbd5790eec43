/** All checks, area by area. */
import type { Check } from "../suite/check.ts";
import { AUTH_CHECKS } from "./auth.ts";
import { MODELS_CHECKS } from "./models.ts";
import { MESSAGE_REPLY_CHECKS } from "./message_reply.ts";
import { MESSAGE_STREAM_CHECKS } from "./message_stream.ts";
import { CHAT_REPLY_CHECKS } from "./chat_reply.ts";
import { CHAT_STREAM_CHECKS } from "./chat_stream.ts";
import { ERRORS_CHECKS } from "./errors.ts";
import { EQUIVALENCE_CHECKS } from "./equivalence.ts";
import { TOOLS_CHECKS } from "./tools.ts";
import { UPSTREAM_CHECKS } from "./upstream.ts";
import { HOSTILE_CHECKS } from "./hostile.ts";
import { LIMITS_CHECKS } from "./limits.ts";
import { TRANSPORT_CHECKS } from "./transport.ts";

/** All checks. */
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
];
