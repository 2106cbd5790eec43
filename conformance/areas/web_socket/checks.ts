/** Checks of the area `web_socket`: the Responses format through a web socket. */
import type { Check } from "../../suite/check.ts";
import { WEB_SOCKET_EVENT_CHECKS } from "./checks_events.ts";
import { WEB_SOCKET_FAILURE_CHECKS } from "./checks_failures.ts";
import { WEB_SOCKET_STATE_CHECKS } from "./checks_states.ts";
import { WEB_SOCKET_TURN_CHECKS } from "./checks_turns.ts";

export const WEB_SOCKET_CHECKS: readonly Check[] = [
  ...WEB_SOCKET_EVENT_CHECKS,
  ...WEB_SOCKET_TURN_CHECKS,
  ...WEB_SOCKET_STATE_CHECKS,
  ...WEB_SOCKET_FAILURE_CHECKS,
];
