/** Whether the type of an error in the chat and the Responses format contradicts its status. */
import type { Exchange } from "../../evidence/exchange.ts";
import { textAt } from "../../evidence/json_path.ts";
import { type Finding, observed } from "../../suite/finding.ts";

const OF_SERVER = /^(api|server|overloaded|internal|internal_server)_error$/;
const OF_CLIENT =
  /^(invalid_request|authentication|permission|not_found|rate_limit|request_too_large|billing)(_error)?$/;

/** Statuses that blame the client; the other ones below 500 mean that a server lacks something. */
const BLAMES_CLIENT: readonly number[] = [400, 401, 403, 404, 413, 422, 429];

/**
 * Finding that `error.type` does not contradict the status. Vendors use many types, so that only
 * the ones that blame the wrong side fail.
 */
export function fitsStatus(x: Exchange): Finding {
  const type = textAt(x.json, "error.type");
  const status = x.head?.status ?? 0;
  const wrong = status >= 500 ? OF_CLIENT : OF_SERVER;
  return observed("error.type", type, x).mustBe(
    `one that does not contradict ${status}`,
    !(status >= 500 || BLAMES_CLIENT.includes(status)) || !wrong.test(type),
  );
}
