/** Checks of the area `generate_content`: where a request has its key. */
import type { Exchange } from "../../evidence/exchange.ts";
import { containedKey } from "../../evidence/redaction.ts";
import { brief } from "../../evidence/json_path.ts";
import type { Hooks } from "../../reference_gateway/hooks.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import { factOf, statusIs } from "../../suite/finding.ts";
import { sentFor } from "../responses/sent_request.ts";

function keyIn(name: string): Check["judge"] {
  return (e) =>
    e.matching(`generate_content/*/whole/${name}`).map((x) => statusIs(x, 200));
}

/** The mask of the key in the query of a request. */
function maskOf({ request }: Exchange): string {
  return /key=(.*)$/.exec(request.path)?.[1] ?? "";
}

function unreadKey(
  find: (
    request: { headers: Readonly<Record<string, string>>; path: string },
  ) => string | undefined,
): Hooks {
  return {
    key: (key, { request, endpoint }) =>
      endpoint === "generate_content" && find(request) !== undefined
        ? undefined
        : key,
  };
}

export const GENERATE_CONTENT_KEYS_CHECKS: readonly Check[] = checksWith({
  section: "Generate content requests",
  mode: "replay",
  needs: "generate-content",
  reads: ["generate-content-keys"],
}, [
  {
    id: "generate_content.key-in-header",
    rule: "The key is accepted in `x-goog-api-key`",
    mode: "both",
    judge: keyIn("header"),
    misses: {
      unread: unreadKey(({ headers }) => headers["x-goog-api-key"]),
    },
  },
  {
    id: "generate_content.key-in-query",
    rule: "as `key` in the query",
    mode: "both",
    judge: keyIn("query"),
    misses: {
      unread: unreadKey(({ path }) => /[?&]key=/.exec(path)?.[0]),
    },
  },
  {
    id: "generate_content.key-as-bearer",
    rule: "or as a bearer.",
    mode: "both",
    judge: keyIn("bearer"),
    misses: {
      unread: unreadKey(({ headers }) => headers["authorization"]),
    },
  },
  {
    id: "generate_content.key-stays",
    rule: "A key in the query goes to no upstream, and is in no reply.",
    level: "convention",
    matching: "generate_content/*/whole/query",
    each: (x) => {
      const call = sentFor(x);
      const sent = `${call.path} ${brief(call.headers, 2000)} ${call.body}`;
      return factOf("request upstream", sent.slice(0, 400), x).mustBe(
        "without the client's key, like the reply",
        !sent.includes(maskOf(x)) && !containedKey(x.text),
      );
    },
    misses: {
      "passed-on": {
        upstream: (call, { endpoint, request }) =>
          endpoint === "generate_content"
            ? {
              ...call,
              url: `${call.url}${call.url.includes("?") ? "&" : "?"}caller=${
                new URLSearchParams(request.path.split("?")[1] ?? "").get(
                  "key",
                ) ?? ""
              }`,
            }
            : call,
      },
      "in-reply": {
        reply: (reply, { endpoint, request }) =>
          endpoint === "generate_content" && request.path.includes("key=")
            ? { ...reply, body: { ...reply.body, path: request.path } }
            : reply,
      },
    },
  },
]);
