/** The scenarios of every area. */
import type { Scenario } from "../suite/scenario.ts";
import { AUTH_SCENARIOS } from "./auth/scenarios.ts";
import { COUNTS_SCENARIOS } from "./counts/scenarios.ts";
import { EMBEDDINGS_SCENARIOS } from "./embeddings/scenarios.ts";
import { GENERATE_CONTENT_SCENARIOS } from "./generate_content/scenarios.ts";
import { MODELS_SCENARIOS } from "./models/scenarios.ts";
import { MESSAGE_REPLY_SCENARIOS } from "./message_reply/scenarios.ts";
import { CHAT_REPLY_SCENARIOS } from "./chat_reply/scenarios.ts";
import { ERRORS_SCENARIOS } from "./errors/scenarios.ts";
import { EQUIVALENCE_SCENARIOS } from "./equivalence/scenarios.ts";
import { TOOLS_SCENARIOS } from "./tools/scenarios.ts";
import { UPSTREAM_SCENARIOS } from "./upstream/scenarios.ts";
import { HOSTILE_SCENARIOS } from "./hostile/scenarios.ts";
import { LIMITS_SCENARIOS } from "./limits/scenarios.ts";
import { RESPONSES_SCENARIOS } from "./responses/scenarios.ts";
import { WEB_SOCKET_SCENARIOS } from "./web_socket/scenarios.ts";
import { FRAME_SCENARIOS } from "./web_socket/scenarios_frames.ts";
import { TRANSPORT_SCENARIOS } from "./transport/scenarios.ts";

/** All scenarios; checks refer to them by name. */
export const SCENARIOS: readonly Scenario[] = [
  ...AUTH_SCENARIOS,
  ...MODELS_SCENARIOS,
  ...MESSAGE_REPLY_SCENARIOS,
  ...CHAT_REPLY_SCENARIOS,
  ...ERRORS_SCENARIOS,
  ...EQUIVALENCE_SCENARIOS,
  ...TOOLS_SCENARIOS,
  ...UPSTREAM_SCENARIOS,
  ...HOSTILE_SCENARIOS,
  ...LIMITS_SCENARIOS,
  ...TRANSPORT_SCENARIOS,
  ...RESPONSES_SCENARIOS,
  ...GENERATE_CONTENT_SCENARIOS,
  ...COUNTS_SCENARIOS,
  ...EMBEDDINGS_SCENARIOS,
  ...WEB_SOCKET_SCENARIOS,
  ...FRAME_SCENARIOS,
];
