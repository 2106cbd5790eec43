/** Whether the type of an error in the chat and the Responses format contradicts its status. */
import type { Exchange } from "../../evidence/exchange.ts";
import { textAt } from "../../evidence/json_path.ts";
import { factOf, type Finding } from "../../suite/finding.ts";

const OF_SERVER = /^(api|server|overloaded|internal|internal_server)_error$/;
const OF_CLIENT =
  /^(invalid_request|authentication|permission|not_found|rate_limit|request_too_large|billing)(_error)?$/;

/** Statuses that blame the client; the other ones below 500 mean that a server lacks something. */
const BLAMES_CLIENT: readonly number[] = [400, 401, 403, 404, 413, 422, 429];

/** The end of the words that vendors use as types. */
const IS_TYPE =
  /(^|[_. ])(error|exceeded|quota|requests?|tokens?|found|denied|unavailable|time_?out|key|unauthori[sz]ed|unauthenticated|forbidden|limit(ed|s)?|overloaded|busy|billing|balance|credits?|policy|filter(ed)?|arguments?|precondition|exhausted|aborted|cancell?ed|internal|implemented|large|long|invalid|input|models?|exception|failed|failure|expired|disabled|blocked|violation|access|payment|capacity|gateway|conflict|entity|param(eter)?s?|type|method|server|unknown|none)$/i;

/** What names the cause of a status whose cause clients act on, as a type or as a code. */
const CAUSES: Readonly<Record<number, RegExp>> = {
  401: /auth|key|token|credential|invalid_request|none/i,
  404: /found|model|invalid_request|unknown|exist|deployment|none/i,
  429:
    /rate|limit|quota|exceeded|request|token|billing|balance|budget|throttl|exhausted|too_many|capacity|overload|busy|unavailable|none/i,
};

/**
 * Finding that `error.type` does not contradict the status, and that it and `error.code` name its
 * cause. Vendors use many words, so that only the ones that blame the wrong side fail, and those
 * that have nothing to do with the status.
 */
export function fitsStatus(x: Exchange): Finding {
  const type = textAt(x.json, "error.type");
  const code = textAt(x.json, "error.code");
  const status = x.head?.status ?? 0;
  const wrong = status >= 500 ? OF_CLIENT : OF_SERVER;
  const cause = CAUSES[status] ?? /./;
  return factOf("error.type and error.code", `${type}, ${code}`, x).mustBe(
    `words that do not contradict ${status}`,
    (!(status >= 500 || BLAMES_CLIENT.includes(status)) || !wrong.test(type)) &&
      // Whether there is a type is judged elsewhere.
      (type === "" || IS_TYPE.test(type) && cause.test(type)) &&
      (code === "" || /^\d+$/.test(code) || cause.test(code)),
  );
}
