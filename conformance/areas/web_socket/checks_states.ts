/** Checks of the area `web_socket`: states, settings and usage of replies, and texts of errors. */
import { responseOf } from "../../endpoints/read_responses.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { at, brief, sameJson, textAt } from "../../evidence/json_path.ts";
import { withAt } from "../../faults/change_reply.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import { fact, factOf, type Finding } from "../../suite/finding.ts";
import { plainMessage } from "../errors/refusal_words.ts";
import { fitsStatus } from "../errors/type_of_status.ts";
import { usageAddsUp } from "../responses/checks.ts";
import { SETTINGS } from "../responses/scenarios.ts";
import { MEMBERS, members, sameStates } from "../responses/shapes.ts";
import { inErrors, ofType } from "./faults.ts";
import { replies, turns } from "./read_turns.ts";

const CONTENTS = ["thinking-tool", "max-tokens", "text-unicode"];

/** The members of the reply in every event that carries it. */
function everyState(x: Exchange): readonly Finding[] {
  return x.frames.flatMap(({ json }) => {
    const reply = at(json, "response");
    return reply === undefined ? [] : members(x, reply, MEMBERS);
  });
}

/** The refusal of a turn as HTTP would send it. */
function asHttp(x: Exchange): Exchange {
  const json = x.frames[0]?.json;
  const status = Number(at(json, "status"));
  return { ...x, json, head: { status, headers: [], atMs: 0 } };
}

/** Part of `WEB_SOCKET_CHECKS`. */
export const WEB_SOCKET_STATE_CHECKS: readonly Check[] = checksWith({
  section: "Web socket (beyond the base specification)",
  mode: "replay",
  needs: "web-socket",
  reads: ["web-socket-contents"],
}, [
  {
    id: "web_socket.states",
    level: "convention",
    rule:
      "Every event with the reply has all members of it, which agree but for what changes while it is made.",
    reads: ["web-socket-contents", "web-socket-failures"],
    judge: (e) =>
      replies(e, ...CONTENTS, "settings", "broken").flatMap((x) => [
        sameStates(x),
        ...everyState(x),
      ]),
    misses: {
      "created-bare": ofType(/created$/, (event) => ({
        ...event,
        response: { id: textAt(event, "response.id"), status: "in_progress" },
      })),
      "failed-bare": ofType(/^response.failed$/, (event) => ({
        ...event,
        response: { id: textAt(event, "response.id"), status: "failed" },
      })),
      "failed-by-another-id": ofType(
        /^response.failed$/,
        (event) => withAt(event, "response.id", "resp_another"),
      ),
      "model-changes": ofType(
        /completed$/,
        (event) => withAt(event, "response.model", "another-model"),
      ),
    },
  },
  {
    id: "web_socket.echo",
    rule: "A reply repeats the settings of its request.",
    judge: (e) =>
      replies(e, "settings").flatMap((x) =>
        Object.entries(SETTINGS).map(([name, value = null]) => {
          const found = at(responseOf(x), name);
          // Vendors add members to settings, such as `verbosity` to `text`.
          const holds = name === "text"
            ? sameJson(at(found, "format"), at(value, "format") ?? null)
            : sameJson(found, value);
          return fact(holds, name, brief(value), found, x);
        })
      ),
    misses: {
      "tools-lost": ofType(
        /^response./,
        (event) =>
          at(event, "response.tools") === undefined
            ? event
            : withAt(event, "response.tools", []),
      ),
      "instructions-lost": ofType(
        /completed$/,
        (event) => withAt(event, "response.instructions", null),
      ),
    },
  },
  {
    id: "web_socket.usage",
    level: "convention",
    rule: "`usage` adds up as over HTTP.",
    judge: (e) =>
      replies(e, ...CONTENTS).map(
        usageAddsUp,
      ),
    misses: {
      "total-wrong": ofType(
        /completed$/,
        (event) => withAt(event, "response.usage.total_tokens", 1),
      ),
      "details-lost": ofType(
        /completed$/,
        (event) => withAt(event, "response.usage.input_tokens_details", {}),
      ),
    },
  },
  {
    id: "web_socket.error-words",
    level: "convention",
    rule: "The `error` has a plain message and a type that fits its status.",
    reads: ["web-socket-events", "web-socket-failures"],
    judge: (e) =>
      turns(e, "unknown-type", "wrong", "unknown-model", "limited").flatMap(
        (x) => {
          const refusal = asHttp(x);
          const [type, message] = ["type", "message"].map((name) =>
            at(refusal.json, `error.${name}`)
          );
          return [
            fact(
              plainMessage(message),
              "error.message",
              "a plain text",
              message,
              x,
            ),
            factOf("error.type", type, x).mustBe(
              "a word in lower case",
              typeof type === "string" && /^[a-z][a-z0-9_.-]*$/.test(type),
            ),
            { ...fitsStatus(refusal), exchange: x },
          ];
        },
      ),
    misses: {
      "type-absent": inErrors((event) =>
        withAt(event, "error.type", undefined)
      ),
      "type-of-server": inErrors((event) =>
        withAt(event, "error.type", "server_error")
      ),
      "message-empty": inErrors((event) => withAt(event, "error.message", "")),
    },
  },
  {
    id: "web_socket.failed",
    level: "convention",
    rule: "A failed reply names its error, and keeps the text before it.",
    reads: ["web-socket-failures"],
    judge: (e) =>
      replies(e, "broken").flatMap((x) => {
        const reply = at(x.frames.at(-1)?.json, "response");
        const code = textAt(reply, "error.code");
        const message = at(reply, "error.message");
        const text = x.frames.map(({ json }) =>
          textAt(json, "type") === "response.output_text.delta"
            ? textAt(json, "delta")
            : ""
        ).join("");
        return [
          factOf("error", [code, message ?? null], x).mustBe(
            "a code and a plain message",
            code !== "" && plainMessage(message),
          ),
          factOf("output", at(reply, "output"), x).mustBe(
            `with ${brief(text)}`,
            text === textAt(reply, "output.0.content.0.text"),
          ),
        ];
      }),
    misses: {
      "error-null": ofType(
        /failed$/,
        (event) => withAt(event, "response.error", null),
      ),
      "text-lost": ofType(
        /failed$/,
        (event) => withAt(event, "response.output", []),
      ),
    },
  },
]);
