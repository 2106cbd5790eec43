/** Finds and judges what the target sent upstream for a request. */
import type { Exchange, UpstreamCall } from "../../evidence/exchange.ts";
import type { Check } from "../../suite/check.ts";
import { factOf, NotTestable } from "../../suite/finding.ts";

/**
 * The request upstream of an exchange.
 * @throws {NotTestable} when there is none
 */
export function sentFor(x: Exchange): UpstreamCall {
  // The nonces of earlier turns find their requests, too.
  const call = x.upstream.at(-1);
  if (call === undefined) throw new NotTestable("no request upstream", x);
  return call;
}

/** Judges the request upstream of each request with that name. */
export function upstream(
  name: string,
  expected: string,
  test: (call: UpstreamCall, x: Exchange) => boolean,
): Check["judge"] {
  return (e) =>
    e.replies(`responses/*/*/${name}`).map((x) => {
      const call = sentFor(x);
      return factOf("request upstream", call.body.slice(0, 400), x).mustBe(
        expected,
        test(call, x),
      );
    });
}
