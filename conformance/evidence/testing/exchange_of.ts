/** An exchange for tests: a `POST` without a reply, except for the given members. */
import type { Exchange } from "../exchange.ts";

export function exchangeOf(
  { request, ...members }: Partial<Omit<Exchange, "request">> & {
    readonly request?: Partial<Exchange["request"]>;
  },
): Exchange {
  return {
    label: "messages/model/whole",
    scenario: "text",
    endpoint: "messages",
    via: undefined,
    request: {
      client: "fetch",
      method: "POST",
      path: "/v1/messages",
      headers: [],
      body: "",
      ...request,
    },
    body: new Uint8Array(),
    text: "",
    validUtf8: true,
    json: undefined,
    arrivals: [],
    frames: [],
    witness: [],
    ending: "no-reply",
    endedMs: 0,
    upstream: [],
    ...members,
  };
}
