/** Checks of the area `transport`: which headers of a client reach the upstream. */
import { fact, offered, some } from "../../suite/finding.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import type { Hooks } from "../../reference_gateway/hooks.ts";

type Headers = Readonly<Record<string, string>>;

/** Changes the headers of calls upstream; `asked` are those of the request. */
function calledWith(change: (headers: Headers, asked: Headers) => Headers) {
  return {
    upstream: (call, { request }) => ({
      ...call,
      headers: change(call.headers, request.headers),
    }),
  } satisfies Hooks;
}

/** Sends a header of the client upstream. */
const forwarded = (name: string): Hooks =>
  calledWith((headers, { [name]: value }) =>
    value === undefined ? headers : { ...headers, [name]: value }
  );

/** Headers that belong to the client alone. */
const OWN = ["cookie", "openai-organization"] as const;

/** A vendor's header that no gateway can know. */
const UNKNOWN = "anthropic-never-heard-of";

export const CLIENT_HEADER_CHECKS: readonly Check[] = checksWith({
  mode: "replay",
  reads: ["request-variants"],
}, [
  {
    id: "transport.client-headers-stay",
    source:
      "RFC 6265, 8.2: a cookie is for the server that set it; an account header would choose who is billed",
    rule:
      "A client's cookies and its account at a vendor are not sent upstream.",
    judge: (e) =>
      some(
        e.matching("*/*/extra-headers").flatMap((x) =>
          x.upstream.flatMap((call) =>
            OWN.map((name) => {
              const found = call.headers[name];
              return fact(
                found === undefined,
                `${name} upstream`,
                "none",
                found,
                x,
              );
            })
          )
        ),
        "with a call upstream",
      ),
    faults: Object.fromEntries(
      OWN.map((name) => [`client-${name}-forwarded`, forwarded(name)]),
    ),
  },
  {
    id: "transport.betas-passed-on",
    source: "https://platform.claude.com/docs/en/api/beta-headers",
    rule:
      "Betas that a client of the message format names and that change no price reach an upstream of the same format.",
    judge: (e) =>
      offered(
        e.matching("messages/*/extra-headers").filter(({ via }) =>
          via === "messages"
        ).map((x) => {
          const [, wanted = ""] = x.request.headers.find(([name]) =>
            name === "anthropic-beta"
          ) ?? [];
          const found = x.upstream[0]?.headers["anthropic-beta"] ?? "none";
          const has = found.split(",").map((name) => name.trim());
          return fact(
            wanted.split(",").every((name) => has.includes(name)),
            "anthropic-beta upstream",
            wanted,
            found,
            x,
          );
        }),
        "has the message format",
      ),
    faults: {
      "betas-lost": calledWith(({ "anthropic-beta": _, ...headers }) =>
        headers
      ),
    },
  },
  {
    id: "transport.vendor-headers-passed-on",
    source: "code.claude.com/docs/en/llm-gateway-protocol",
    rule:
      "A header of a client of the message format that begins with `anthropic-` reaches an upstream of the same format, even if nobody has heard of it.",
    level: "contract",
    judge: (e) =>
      offered(
        e.matching("messages/*/extra-headers").filter(({ via }) =>
          via === "messages"
        ).map((x) => {
          const [, wanted = ""] = x.request.headers.find(([name]) =>
            name === UNKNOWN
          ) ?? [];
          const found = x.upstream[0]?.headers[UNKNOWN];
          return fact(
            found === wanted,
            `${UNKNOWN} upstream`,
            wanted,
            found,
            x,
          );
        }),
        "has the message format",
      ),
    faults: {
      "vendor-headers-lost": calledWith(({ [UNKNOWN]: _, ...headers }) =>
        headers
      ),
    },
  },
]);
