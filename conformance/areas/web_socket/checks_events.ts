/** Checks of the area `web_socket`: the handshake, and the events of a reply. */
import { admit } from "../../faults/change_hooks.ts";
import { type Exchange, headerOf } from "../../evidence/exchange.ts";
import { at, listAt, numberAt, textAt } from "../../evidence/json_path.ts";
import {
  contentIn,
  itemsOf,
  responseOf,
} from "../../endpoints/read_responses.ts";
import { itemMembers, MEMBERS, members } from "../responses/shapes.ts";
import { comparable, fixtureContent } from "../../evidence/content.ts";
import { isObject } from "@model-gateway/replay/json";
import { withAt } from "../../faults/change_reply.ts";
import { problemOf } from "../../reference_gateway/problems.ts";
import { type Check, checksWith, type Misses } from "../../suite/check.ts";
import {
  compare,
  fact,
  factOf,
  type Finding,
  statusIs,
} from "../../suite/finding.ts";
import { HANDSHAKE_ACCEPT } from "../../suite/web_socket_handshake.ts";
import { events, ofType } from "./faults.ts";
import { replies, turns } from "./read_turns.ts";
import { followsUnnamed } from "../responses/grammar_finding.ts";

/** The events of a reply, its members and its items. */
function wellFormed(x: Exchange): readonly Finding[] {
  return [
    followsUnnamed(x),
    ...members(x, responseOf(x), MEMBERS),
    ...itemsOf(x).flatMap((item) => itemMembers(x, item)),
  ];
}

const eventMisses: Misses = {
  "created-lost": ofType(/created$/, () => undefined),
  "end-lost": ofType(/completed$|incomplete$/, () => undefined),
  "end-only": ofType(/^response\.(?!completed|incomplete)/, () => undefined),
  "piece-lost": ofType(/output_text\.delta$/, () => undefined),
  "piece-renamed": ofType(/output_text\.delta$/, (event) => ({
    ...event,
    type: "response.text.delta",
  })),
  "item-unfinished": ofType(/output_item\.done$/, () => undefined),
};

export const WEB_SOCKET_EVENT_CHECKS: readonly Check[] = checksWith({
  section: "Web socket (beyond the base specification)",
  mode: "both",
  needs: "web-socket",
  reads: ["web-socket-turns"],
}, [
  {
    id: "web_socket.handshake",
    rule:
      "The handshake is answered with 101, `upgrade` and the `sec-websocket-accept` of its key.",
    reads: ["web-socket-handshake"],
    judge: (e) => {
      const x = e.exchange("socket/any/with-key");
      const accept = headerOf(x, "sec-websocket-accept");
      return [
        statusIs(x, 101),
        compare("sec-websocket-accept", accept, HANDSHAKE_ACCEPT, x),
      ];
    },
    misses: {
      "accept-wrong": { handshake: (key) => `${key}=` },
      "as-426": { upgrade: () => problemOf(426, "Not here") },
    },
  },
  {
    id: "web_socket.key-needed",
    rule: "A handshake without a key is refused with 401.",
    reads: ["web-socket-handshake"],
    judge: (e) => [statusIs(e.exchange("socket/any/without-key"), 401)],
    misses: {
      open: admit({ endpoint: "responses" }),
    },
  },
  {
    id: "web_socket.messages",
    level: "convention",
    rule: "Each event is one text message, a JSON object with its `type`.",
    judge: (e) =>
      turns(e, "*").map((x) => {
        const odd = x.frames.find(({ json }) =>
          !isObject(json) || textAt(json, "type") === ""
        );
        return factOf("message", odd?.data ?? x.frames.length, x, odd)
          .mustBe(
            "an object with a type",
            odd === undefined,
          );
      }),
    misses: {
      untyped: ofType(/created$/, ({ type: _, ...event }) => event),
      framed: ofType(
        /created$/,
        (event) => [`event: x\ndata: ${JSON.stringify(event)}`],
      ),
      lists: ofType(/created$/, (event) => [JSON.stringify([event])]),
    },
  },
  {
    id: "web_socket.events",
    level: "convention",
    judgesSilence: true,
    rule:
      "A reply has the events of an event stream: `response.created` first, and one that ends it.",
    judge: (e) => replies(e, "*").flatMap(wellFormed),
    misses: {
      ...eventMisses,
      "end-bare": ofType(
        /completed$|incomplete$/,
        (event) => withAt(event, "response.error", undefined),
      ),
    },
  },
  {
    id: "web_socket.numbers",
    level: "convention",
    rule: "`sequence_number` counts the events of each reply from 0.",
    judge: (e) =>
      replies(e, "*").map((x) => {
        const found = x.frames.map(({ json }) => at(json, "sequence_number"));
        return factOf("sequence numbers", found, x).mustBe(
          `0 to ${found.length - 1}`,
          found.join() === found.map((_, index) => index).join(),
        );
      }),
    misses: {
      "from-one": events((event) =>
        withAt(
          event,
          "sequence_number",
          (numberAt(event, "sequence_number") ?? 0) + 1,
        )
      ),
      absent: events(({ sequence_number: _, ...event }) => event),
      "one-lost": ofType(/in_progress$/, () => undefined),
    },
  },
  {
    id: "web_socket.contents",
    level: "convention",
    judgesSilence: true,
    rule:
      "Texts, calls, reasons and token counts are those of the same reply over HTTP.",
    mode: "replay",
    reads: ["web-socket-contents"],
    judge: (e) =>
      replies(e, "thinking-tool", "max-tokens", "text-unicode").flatMap((x) => {
        const name = x.label.split("/").at(-1) ?? "";
        const [expected, found] = [
          comparable(fixtureContent(name, x.via)),
          contentIn(x),
        ].map(({ text, tools, usage }) =>
          JSON.stringify([
            text,
            tools,
            usage.input + usage.cacheRead + usage.cacheWrite,
            usage.output,
          ])
        );
        return [
          fact(expected === found, "reply", expected ?? "", found, x),
          ...wellFormed(x),
        ];
      }),
    misses: {
      ...eventMisses,
      "arguments-lost": ofType(/arguments\.delta$/, () => undefined),
      "thought-lost": ofType(/reasoning.*\.delta$/, () => undefined),
      "ascii": ofType(
        /completed$|incomplete$/,
        (event) => JSON.parse(JSON.stringify(event).replaceAll(/[^ -~]/g, "?")),
      ),
      "usage-lost": ofType(
        /completed$|incomplete$/,
        (event) => withAt(event, "response.usage.output_tokens", 0),
      ),
      "calls-lost": ofType(/completed$|incomplete$/, (event) =>
        withAt(
          event,
          "response.output",
          listAt(event, "response.output").filter((item) =>
            textAt(item, "type") !== "function_call"
          ),
        )),
    },
  },
]);
