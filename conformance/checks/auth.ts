/** Checks of the area `auth`: who is let in, who is refused, and with what words. */
import type { Exchange } from "../evidence/exchange.ts";
import type { Check } from "../suite/check.ts";
import type { Evidence } from "../suite/evidence.ts";
import {
  equals,
  fact,
  type Finding,
  NotTestable,
  satisfies,
  statusIs,
} from "../suite/finding.ts";

const SECTION = "Authentication";
const EITHER =
  "The API description declares two accepted schemes for every operation, either one sufficing: header `x-api-key: <API_KEY>`, or HTTP bearer (`Authorization: Bearer <API_KEY>`).";
const PASTED =
  "Whitespace, a trailing newline or quote characters pasted with the key also cause 401.";

/** A refusal means something only when the right key is let in. */
function withControl(
  e: Evidence,
  control: string,
  pattern: string,
): readonly Exchange[] {
  for (const exchange of e.matching(control)) {
    if (exchange.head?.status !== 200) {
      throw new NotTestable("the right key is refused as well", exchange);
    }
  }
  return e.matching(pattern);
}

const refused = (exchanges: readonly Exchange[]): Finding[] =>
  exchanges.map((exchange) => statusIs(exchange, 401));

/** The checks. */
export const AUTH_CHECKS: readonly Check[] = [
  {
    id: "auth.x-api-key",
    rule: { section: SECTION, text: EITHER },
    level: "documented",
    mode: "both",
    reads: ["keys"],
    judge: (e) => e.matching("*/x-api-key").map((x) => statusIs(x, 200)),
    mutants: ["x-api-key-ignored", "chat-takes-bearer-only"],
  },
  {
    id: "auth.bearer",
    rule: { section: SECTION, text: EITHER },
    level: "documented",
    mode: "both",
    reads: ["keys"],
    judge: (e) => e.matching("*/bearer").map((x) => statusIs(x, 200)),
    mutants: ["bearer-ignored"],
  },
  {
    id: "auth.missing",
    rule: {
      section: "Errors",
      text:
        "| 401 | Key missing, invalid, revoked, rotated, or belonging to another endpoint |",
    },
    level: "documented",
    mode: "both",
    reads: ["keys"],
    judge: (e) => refused(withControl(e, "*/bearer", "*/missing")),
    mutants: ["auth-off", "models-public"],
  },
  {
    id: "auth.wrong",
    rule: {
      section: "What the service does",
      text: "A key issued by another service is rejected.",
    },
    level: "documented",
    mode: "both",
    reads: ["keys"],
    judge: (e) =>
      refused([
        ...withControl(e, "*/x-api-key", "*/wrong"),
        ...withControl(e, "*/bearer", "*/wrong-bearer"),
        ...e.matching("*/cut"),
        ...e.matching("*/cut-bearer"),
      ]),
    mutants: ["any-key-ok", "key-by-prefix"],
  },
  {
    id: "auth.quoted",
    rule: { section: SECTION, text: PASTED },
    level: "documented",
    mode: "both",
    reads: ["keys"],
    judge: (e) =>
      refused([
        ...withControl(e, "*/x-api-key", "*/double-quoted"),
        ...withControl(e, "*/bearer", "*/double-quoted-bearer"),
        ...e.matching("*/single-quoted"),
        ...e.matching("*/single-quoted-bearer"),
      ]),
    mutants: ["quotes-stripped"],
  },
  {
    id: "auth.pasted-bytes",
    rule: { section: SECTION, text: PASTED },
    level: "documented",
    mode: "both",
    reads: ["pasted-keys"],
    judge: (e) =>
      ["no-break-space", "zero-width-space", "escaped-newline", "inner-space"]
        .flatMap((form) =>
          withControl(e, "models/control", `models/${form}`).map((x) =>
            // A server may refuse bytes that no header may hold before it looks at the key.
            statusIs(x, 400, 401)
          )
        ),
    mutants: ["key-trimmed-as-unicode", "key-unescaped", "key-blanks-removed"],
  },
  {
    id: "auth.error-body",
    rule: {
      section: "Errors",
      text:
        "JSON object with `type` = `error` and `error` holding `type` = `authentication_error` and a `message` string",
    },
    level: "documented",
    mode: "both",
    reads: ["keys"],
    judge: (e) =>
      [...e.matching("*/missing"), ...e.matching("*/wrong")].flatMap((x) => [
        equals(x, "type", "error"),
        equals(x, "error.type", "authentication_error"),
        satisfies(
          x,
          "error.message",
          "a string that is not empty",
          (value) => typeof value === "string" && value !== "",
        ),
      ]),
    mutants: ["401-body-is-text", "401-type-of-chat", "401-without-message"],
  },
  {
    id: "auth.no-upstream-call",
    rule: {
      source: "A refused request costs nothing: no model may see it",
      text: "A request with a missing or wrong key never reaches the upstream.",
    },
    level: "convention",
    mode: "replay",
    reads: ["keys"],
    judge: (e) =>
      ["messages", "chat"].flatMap((endpoint) =>
        ["missing", "wrong", "wrong-bearer", "double-quoted"].map((form) => {
          const x = e.exchange(`${endpoint}/${form}`);
          return fact(
            x.upstream.length === 0,
            `${x.label}: calls upstream`,
            "none",
            `${x.upstream.length}`,
            x,
          );
        })
      ),
    mutants: ["auth-off"],
  },
];
