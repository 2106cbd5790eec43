/** All scenarios, area by area. */
import type { Scenario } from "../suite/scenario.ts";
import { AUTH_SCENARIOS } from "./auth.ts";
import { MODELS_SCENARIOS } from "./models.ts";
import { MESSAGE_REPLY_SCENARIOS } from "./message_reply.ts";
import { MESSAGE_STREAM_SCENARIOS } from "./message_stream.ts";
import { CHAT_REPLY_SCENARIOS } from "./chat_reply.ts";
import { CHAT_STREAM_SCENARIOS } from "./chat_stream.ts";
import { ERRORS_SCENARIOS } from "./errors.ts";
import { EQUIVALENCE_SCENARIOS } from "./equivalence.ts";
import { TOOLS_SCENARIOS } from "./tools.ts";
import { UPSTREAM_SCENARIOS } from "./upstream.ts";
import { HOSTILE_SCENARIOS } from "./hostile.ts";
import { LIMITS_SCENARIOS } from "./limits.ts";
import { TRANSPORT_SCENARIOS } from "./transport.ts";

/** All scenarios. */
export const SCENARIOS: readonly Scenario[] = [
  ...AUTH_SCENARIOS,
  ...MODELS_SCENARIOS,
  ...MESSAGE_REPLY_SCENARIOS,
  ...MESSAGE_STREAM_SCENARIOS,
  ...CHAT_REPLY_SCENARIOS,
  ...CHAT_STREAM_SCENARIOS,
  ...ERRORS_SCENARIOS,
  ...EQUIVALENCE_SCENARIOS,
  ...TOOLS_SCENARIOS,
  ...UPSTREAM_SCENARIOS,
  ...HOSTILE_SCENARIOS,
  ...LIMITS_SCENARIOS,
  ...TRANSPORT_SCENARIOS,
];
