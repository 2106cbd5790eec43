/**
 * Checks of the area `auth` about extra bytes around a key, other schemes, and keys in otherwise
 * wrong requests.
 */
import {
  equals,
  factOf,
  NotTestable,
  statusIs,
  valueAt,
} from "../../suite/finding.ts";
import { problemOf } from "../../reference_gateway/problems.ts";
import {
  type Check,
  checksWith,
  type Faults,
  sharedFaults,
} from "../../suite/check.ts";
import {
  acceptWhere,
  body401,
  brokenLines,
  changeKey,
  readKeyFirst,
  typed401,
} from "./faults.ts";
import { KEY_MASK } from "../../evidence/redaction.ts";
import { type Exchange, headerOf } from "../../evidence/exchange.ts";
import { OTHER_SCHEMES } from "./scenarios.ts";
import { PASTED_KEYS, pastedIn } from "./scenarios_keys.ts";
import type { Evidence } from "../../suite/evidence.ts";
import { besideRightKey } from "./right_key.ts";

export const PASTED =
  "Whitespace, a trailing newline or quote characters pasted with the key also cause 401.";

/**
 * The exchanges of a form under both schemes; fails when the bytes on the wire are not those of the
 * form.
 */
function pasted(e: Evidence, form: string): readonly Exchange[] {
  const found = besideRightKey(forms(e, "control"), forms(e, form));
  for (const x of found) {
    if (!wentOut(x, form)) {
      throw new NotTestable(
        "the bytes of the key were changed before sending",
        x,
      );
    }
  }
  return found;
}

function forms(e: Evidence, form: string): readonly Exchange[] {
  const found = e.exchanges.filter(({ label }) => {
    const last = label.split("/").at(-1);
    return last === form || last === `${form}-bearer`;
  });
  if (found.length === 0) throw new NotTestable(`nothing was sent ${form}`);
  return found;
}

/** True when the head on the wire contains the key with exactly these bytes around or inside it. */
function wentOut({ request, label }: Exchange, form: string): boolean {
  const { before = "", after = "", inner } = PASTED_KEYS[form] ?? {};
  const head = request.rawHead ?? "";
  const start = label.endsWith("-bearer")
    ? `\r\nauthorization: Bearer ${before}`
    : `\r\nx-api-key: ${before}`;
  const at = head.indexOf(start + KEY_MASK);
  const end = head.indexOf("}}", at);
  // A key with bytes inserted is masked as a whole.
  return at !== -1 && end !== -1 &&
    (inner !== undefined || head.slice(end + 2).startsWith(`${after}\r\n`));
}

/** Names of the forms of this kind that were sent in this kind of run. */
function namesOf(e: Evidence, kind: string): string[] {
  return pastedIn(e.mode).filter((name) => PASTED_KEYS[name]?.kind === kind);
}

/** A check about forms of the kind `text` whose names match. */
function pastedCheck(
  id: string,
  wanted: RegExp,
  faults: Faults,
): Check {
  return {
    id,
    rule: { section: "Authentication", text: PASTED },
    level: "documented",
    mode: "both",
    reads: ["pasted-keys"],
    judge: (e) =>
      namesOf(e, "text").filter((name) => wanted.test(name)).flatMap((form) =>
        // A server may refuse non-ASCII bytes in a header before it reads the key.
        pasted(e, form).map((x) => statusIs(x, 401, 400))
      ),
    faults,
  };
}

export const SCHEMES =
  "The API description declares two accepted schemes for every operation, either one sufficing: header `x-api-key: <API_KEY>`, or HTTP bearer (`Authorization: Bearer <API_KEY>`).";

function controlled(e: Evidence, form: string): readonly Exchange[] {
  return besideRightKey(e.matching("*/control"), e.matching(`*/${form}`));
}

export const AUTH_KEY_CHECKS: readonly Check[] = checksWith({
  section: "Authentication",
  mode: "both",
  reads: ["key-schemes"],
}, [
  pastedCheck("auth.pasted-bytes", /^(?!inner|curly|angle|.*newline|.*crlf)/, {
    "key-trimmed-as-unicode": changeKey((key) =>
      key.replaceAll(/[\s\u200b\ufffd]+$/g, "")
    ),
    "key-trimmed-before": changeKey((key) =>
      key.replaceAll(/^[\s\u200b\ufeff]+/g, "")
    ),
    "key-decoded": changeKey((key) =>
      key.replaceAll("%0A", "").replaceAll("%20", "").replaceAll("%22", "")
    ),
    "key-of-ascii-only": changeKey((key) =>
      key.replaceAll(/[^\x20-\x7e]/g, "")
    ),
  }),
  pastedCheck("auth.pasted-blanks-inside", /^inner/, {
    "key-blanks-removed": changeKey((key) => key.replaceAll(" ", "")),
  }),
  pastedCheck("auth.pasted-newline", /newline|crlf/, {
    "key-unescaped": changeKey((key) => key.replaceAll("\\n", "")),
    ...sharedFaults("key-decoded"),
  }),
  pastedCheck("auth.pasted-curly-quotes", /curly|angle/, {
    "curly-quotes-stripped": changeKey((key) =>
      key.replaceAll(/[\u2018-\u201d\u00ab\u00bb]/g, "")
    ),
    ...sharedFaults("key-of-ascii-only"),
  }),
  {
    id: "auth.broken-header-lines",
    source: "RFC 9110, 5.5; RFC 9112, 5.2",
    rule:
      "A key with a line break or a control character in it is never accepted as the right key.",
    reads: ["pasted-keys"],
    judge: (e) =>
      namesOf(e, "broken").flatMap((form) =>
        pasted(e, form).map((x) => {
          const status = x.head?.status;
          return factOf("status", status ?? x.ending, x).mustBe(
            "4xx, or the connection closed",
            status === undefined ? x.ending !== "timeout" : status >= 400 &&
              status < 500,
          );
        })
      ),
    faults: {
      "broken-lines-repaired": brokenLines(200),
      "broken-lines-500": brokenLines(500),
    },
  },
  {
    id: "auth.blanks-of-http",
    source: "RFC 9110, 5.5",
    rule:
      "Whitespace around a header's value is not part of it: the key may be accepted or refused, but without a server error.",
    reads: ["pasted-keys"],
    judge: (e) =>
      namesOf(e, "stripped").flatMap((form) =>
        pasted(e, form).map((x) => {
          const status = x.head?.status;
          return factOf("status", status ?? x.ending, x).mustBe(
            "200, 400 or 401",
            status === undefined
              ? x.ending !== "timeout"
              : [200, 400, 401].includes(status),
          );
        })
      ),
    faults: sharedFaults("broken-lines-500"),
  },
  {
    id: "auth.no-other-scheme",
    rule: SCHEMES,
    judge: (e) =>
      Object.keys(OTHER_SCHEMES).filter((form) => form !== "bare").flatMap((
        form,
      ) =>
        controlled(e, form).flatMap((x) => [
          statusIs(x, 401),
          equals(x, "type", "error"),
          equals(x, "error.type", "authentication_error"),
        ])
      ),
    faults: {
      "basic-accepted": readKeyFirst(({ authorization = "" }) => {
        const [, coded] = /^Basic (.+)$/.exec(authorization) ?? [];
        return coded === undefined
          ? undefined
          : atob(coded).replaceAll(":", "");
      }),
      "any-scheme-accepted": readKeyFirst(({ authorization }) =>
        authorization?.split(" ").at(-1)
      ),
      "bearer-stripped-anywhere": changeKey((key) =>
        key.replace(/^Bearer /, "")
      ),
      "bearer-stripped-twice": readKeyFirst(({ authorization }) =>
        authorization?.replaceAll(/Bearer /g, "")
      ),
      "empty-key-ok": acceptWhere(({ request }) =>
        request.headers["x-api-key"] === "" ||
        request.headers["authorization"] === "Bearer"
      ),
    },
  },
  {
    id: "auth.bare-authorization",
    source: "RFC 9110, 11.4: credentials begin with the scheme",
    rule: "A key alone in `Authorization`, without a scheme, is refused.",
    judge: (e) => controlled(e, "bare").map((x) => statusIs(x, 401)),
    faults: sharedFaults("any-scheme-accepted"),
  },
  {
    id: "auth.scheme-case",
    source: "RFC 9110, 11.1 and 5.1",
    rule: "The scheme and the header names are case-insensitive.",
    judge: (e) =>
      ["lower-case", "upper-case", "upper-case-name"].flatMap((form) =>
        controlled(e, form).map((x) => statusIs(x, 200))
      ),
    faults: {
      "scheme-case-sensitive": {
        key: (key, { request }) =>
          /^bearer /i.test(request.headers["authorization"] ?? "Bearer ") &&
            !/^Bearer /.test(request.headers["authorization"] ?? "Bearer ")
            ? undefined
            : key,
      },
    },
  },
  {
    id: "auth.both-headers",
    rule: SCHEMES,
    judge: (e) => [
      ...controlled(e, "both").map((x) => statusIs(x, 200)),
      ...controlled(e, "conflict").map((x) => statusIs(x, 200, 400, 401)),
    ],
    faults: {
      "both-headers-refused": {
        key: (key, { request }) =>
          request.headers["x-api-key"] !== undefined &&
            request.headers["authorization"] !== undefined
            ? undefined
            : key,
      },
      "both-headers-500": {
        admit: (problem, { request: { headers } }) =>
          headers["x-api-key"] !== undefined &&
            headers["authorization"] !== undefined &&
            headers["authorization"] !== `Bearer ${headers["x-api-key"]}`
            ? problemOf(500, "two keys")
            : problem,
      },
    },
  },
  {
    id: "auth.key-in-query",
    source:
      "Addresses are logged everywhere, so a key in an address must not be accepted",
    rule: "A key in the query and in no header is refused.",
    judge: (e) =>
      ["key", "api_key", "x-api-key", "access_token"].flatMap((name) =>
        controlled(e, `query-${name}`).map((x) => statusIs(x, 401))
      ),
    faults: {
      "query-key-accepted": readKeyFirst((_, path) =>
        /[?&](?:key|api_key)=([^&]+)/.exec(path)?.[1]
      ),
    },
  },
  {
    id: "auth.before-model",
    source: "A client without a key learns nothing about models",
    rule: "A wrong key beside an unlisted model: 401, not 404.",
    mode: "replay",
    judge: (e) =>
      controlled(e, "wrong-and-unlisted").flatMap((x) => [
        statusIs(x, 401),
        equals(x, "error.type", "authentication_error"),
      ]),
    faults: {
      "model-before-key": {
        admit: (problem, { model }) =>
          model.startsWith("no-such")
            ? problemOf(404, "no such model")
            : problem,
      },
    },
  },
  {
    id: "auth.before-body",
    source: "A client without a key is refused before any work is done",
    rule: "A wrong key beside a body that is not JSON: 401, not 400.",
    level: "contract",
    mode: "replay",
    judge: (e) =>
      controlled(e, "wrong-and-no-json").map((x) => statusIs(x, 401)),
    faults: {
      "body-before-key": {
        admit: (problem, { request }) =>
          request.body === '{"model":' ? problemOf(400, "no JSON") : problem,
      },
    },
  },
  {
    id: "auth.pasted-error-body",
    section: "Errors",
    rule:
      "JSON object with `type` = `error` and `error` holding `type` = `authentication_error` and a `message` string",
    reads: ["pasted-keys"],
    judge: (e) =>
      [
        e.matching("models/control-bearer"),
        e.exchanges.filter((x) => x.head?.status === 401),
      ].flatMap((found, group) =>
        group === 0 ? found.map((x) => statusIs(x, 200)) : found.flatMap((
          x,
        ) => [
          equals(x, "type", "error"),
          equals(x, "error.type", "authentication_error"),
          valueAt(x, "error.message").mustBe("a string", (value) =>
            typeof value === "string"),
          factOf("content-type", headerOf(x, "content-type"), x).mustBe(
            "application/json",
            /^application\/json\s*(;|$)/i.test(
              headerOf(x, "content-type") ?? "",
            ),
          ),
        ])
      ),
    faults: {
      "401-as-text": typed401("text/plain", false),
      "401-without-top-type": body401(({ error }) => ({ error })),
    },
  },
]);
