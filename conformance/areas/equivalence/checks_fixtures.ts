/**
 * Checks of the area `equivalence`: every fixture through both endpoints, whole and streamed, from
 * every upstream.
 */
import { SENT_TALK } from "../upstream/scenarios_request.ts";
import {
  chatFrames,
  messageFrames,
  messageReply,
  withAt,
} from "../../faults/change_reply.ts";
import {
  compare,
  fact,
  factOf,
  type Finding,
  NotTestable,
} from "../../suite/finding.ts";
import { changeRequest } from "../../faults/change_request.ts";
import {
  limitLostOnChat,
  otherModelOnChat,
  systemLostOnChat,
} from "../upstream/faults.ts";
import {
  chatFinishMissingInOwnDialect,
  chatFinishNullInOwnDialect,
  chatFinishTwiceInOwnDialect,
  firstChoice,
  FIXTURE_FAULTS,
} from "./faults.ts";
import {
  arrayOf,
  objectOf,
  parseJson,
  stringOf,
} from "@model-gateway/replay/json";
import {
  type Check,
  checksWith,
  type Level,
  pick,
  sharedFaults,
} from "../../suite/check.ts";
import {
  contentOf,
  fixtureContent,
  fullContent,
  tokensOf,
} from "../../evidence/content.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { at, inKeyOrder, listAt, textAt } from "../../evidence/json_path.ts";
import { readUpstreamRequest } from "../../evidence/upstream_request.ts";
import type { ReadContent } from "@model-gateway/replay/content_of";
import { type Kind, PAIRED } from "./scenarios.ts";
import type { Evidence } from "../../suite/evidence.ts";
import { ENDS_OF_THEIR_OWN, of, stopOf, stopPairs } from "./stop_causes.ts";

const SECTION = "Equivalent fields between the two formats";
const KINDS: readonly Kind[] = ["texts", "calls", "oddities"];

/** Fixtures whose text belongs in different places in the two formats. */
const TEXT_ELSEWHERE: readonly string[] = ["refusal"];

function textAndTools({ text, refusal, tools }: ReadContent): string {
  return JSON.stringify({ text: text + refusal, tools });
}

function tokens(content: ReadContent): string {
  return JSON.stringify(tokensOf(content));
}

/** Compares every exchange of a fixture with the fixture's content. */
function asTheFixture(
  e: Evidence,
  kind: Kind,
  what: string,
  read: (content: ReadContent) => string,
  but: readonly string[] = [],
): Finding[] {
  return PAIRED[kind].filter((fixture) => !but.includes(fixture)).flatMap((
    fixture,
  ) =>
    of(e, fixture).map((x) => {
      const expected = read(fixtureContent(fixture, x.via));
      const actual = read(contentOf(x));
      return fact(expected === actual, what, expected, actual, x);
    })
  );
}

/** Compares the whole reply of each fixture with its stream. */
function wholeAsStream(e: Evidence, kind: Kind): Finding[] {
  return PAIRED[kind].flatMap((fixture) =>
    e.replies(`*/*/${fixture}-whole`).map((whole) => {
      const x = e.exchange(whole.label.replace(/-whole$/, "-stream"));
      const expected = fullContent(contentOf(whole));
      const actual = fullContent(contentOf(x));
      return factOf("content, stop cause and token counts", actual, x)
        .mustBe(
          `as in ${whole.label}: ${expected}`,
          expected === actual,
        );
    })
  );
}

/** The text in exactly those deltas that the table of the specification names. */
function deltas(x: Exchange): string {
  return x.frames.map(({ json }) =>
    x.endpoint === "chat"
      ? textAt(json, "choices.0.delta.content")
      : at(json, "type") === "content_block_delta" &&
          at(json, "delta.type") === "text_delta"
      ? textAt(json, "delta.text")
      : ""
  ).join("");
}

/**
 * The text in exactly the field that the table of the specification names, and in the text blocks
 * after it.
 */
function field(x: Exchange): string {
  if (x.endpoint === "chat") {
    return textAt(x.json, "choices.0.message.content");
  }
  return listAt(x.json, "content").map((block) => textAt(block, "text"))
    .join("");
}

/** A rule about ordinary replies is documented; for odd ones it is a convention. */
function levelOf(kind: Kind): Level {
  return kind === "oddities" ? "convention" : "documented";
}

/** Compares the upstream requests of both endpoints for equivalent client requests. */
function sameRequests(e: Evidence, forms: readonly string[]): Finding[] {
  return forms.flatMap((form) =>
    e.replies(`messages/*/${form}-whole`).map((messages) => {
      const chat = e.exchange(messages.label.replace("messages/", "chat/"));
      const [left, right] = [messages, chat].map((x) => {
        const [call] = x.upstream;
        if (call === undefined) {
          throw new NotTestable(`"${x.label}" did not reach the upstream`, x);
        }
        const { model, system, turns, maxTokens, tools } = readUpstreamRequest(
          call,
        );
        const asked = { model, system, turns, maxTokens, tools };
        return JSON.stringify(
          inKeyOrder(parseJson(JSON.stringify(asked)) ?? null),
        ).replaceAll(/\[\[fx:[^\]]*\]\]/g, "");
      });
      return factOf("the request upstream", right, chat).mustBe(
        `as of ${messages.label}: ${left}`,
        left === right,
      );
    })
  );
}

export const FIXTURE_CHECKS: readonly Check[] = checksWith({
  section: SECTION,
  mode: "replay",
}, [
  ...KINDS.flatMap((kind) => [
    {
      id: `equivalence.words-${kind}`,
      rule: "| Reply text | `content[0].text` | `choices[0].message.content` |",
      level: levelOf(kind),
      reads: [`pair-${kind}`],
      judge: (e: Evidence) =>
        asTheFixture(e, kind, "text and tools", textAndTools, TEXT_ELSEWHERE),
      faults: kind === "calls"
        ? pick(
          FIXTURE_FAULTS,
          "chat-arguments-changed",
          "message-tools-reversed",
        )
        : pick(
          FIXTURE_FAULTS,
          "chat-stream-text-changed",
          "message-whole-text-trimmed",
        ),
    },
    {
      id: `equivalence.usage-${kind}`,
      rule:
        "| Input tokens | `usage.input_tokens` | `usage.prompt_tokens` | | Output tokens | `usage.output_tokens` | `usage.completion_tokens` |",
      reads: [`pair-${kind}`],
      judge: (e: Evidence) => asTheFixture(e, kind, "tokens", tokens),
      faults: pick(
        FIXTURE_FAULTS,
        "chat-output-one-more",
        "message-stream-output-zero",
        "chat-whole-input-less",
        "streams-cost-more",
        ...kind === "texts" ? ["cache-tokens-lost"] : [],
      ),
    },
    {
      id: `equivalence.stops-${kind}`,
      rule: "| Stop cause | `stop_reason` | `finish_reason` |",
      level: levelOf(kind),
      reads: [`pair-${kind}`],
      judge: (e: Evidence) => stopPairs(e, kind),
      faults: kind === "calls"
        ? pick(FIXTURE_FAULTS, "tools-end-as-text", "chat-finish-told-twice")
        : pick(FIXTURE_FAULTS, "limits-end-as-text", "chat-finish-told-twice"),
    },
    {
      id: `equivalence.forms-${kind}`,
      source: "A stream is the same reply in pieces",
      rule: "A stream has the content and the token counts of the whole reply.",
      reads: [`pair-${kind}`],
      judge: (e: Evidence) => wholeAsStream(e, kind),
      faults: pick(
        FIXTURE_FAULTS,
        "chat-stream-text-changed",
        "streams-cost-more",
        "message-stream-output-zero",
      ),
    },
  ]),
  {
    id: "equivalence.deltas-texts",
    rule:
      "| Stream delta | `content_block_delta` event | `choices[0].delta.content` |",
    reads: ["pair-texts"],
    judge: (e) =>
      PAIRED.texts.flatMap((fixture) =>
        e.streams(`*/*/${fixture}-stream`).map((x) => {
          const expected = fixtureContent(fixture, x.via).text;
          return compare("deltas, joined", deltas(x), expected, x);
        })
      ),
    faults: {
      "message-stream-text-elsewhere": messageFrames((data) =>
        objectOf(data["delta"])["type"] === "text_delta"
          ? withAt(data, "delta.type", "text")
          : data
      ),
      "chat-first-delta-lost": chatFrames((data, { state }) => {
        const text = stringOf(objectOf(firstChoice(data)["delta"])["content"]);
        if ((text ?? "") === "" || state.has("sent")) return data;
        state.set("sent", true);
        return undefined;
      }),
      "message-last-delta-twice": messageFrames((data, _, frame) => {
        const text = stringOf(objectOf(data["delta"])["text"]);
        return text?.endsWith(".") === true ? [frame, frame] : data;
      }),
      ...sharedFaults("chat-stream-text-changed"),
    },
  },
  {
    id: "equivalence.fields-texts",
    rule: "| Reply text | `content[0].text` | `choices[0].message.content` |",
    reads: ["pair-texts"],
    judge: (e) =>
      PAIRED.texts.flatMap((fixture) =>
        e.replies(`*/*/${fixture}-whole`).flatMap((x) => {
          const expected = fixtureContent(fixture, x.via).text;
          const first = textAt(x.json, "content.0.text");
          return [
            fact(field(x) === expected, "text", expected, field(x), x),
            ...x.endpoint === "messages"
              ? [fact(first === expected, "content.0.text", expected, first, x)]
              : [],
          ];
        })
      ),
    faults: {
      "message-text-in-two-blocks": messageReply((body) => ({
        ...body,
        content: arrayOf(body["content"]).flatMap((block) => {
          const text = stringOf(objectOf(block)["text"]);
          return text === undefined ? [block] : [
            { type: "text", text: text.slice(0, 5) },
            { type: "text", text: text.slice(5) },
          ];
        }),
      })),
      ...sharedFaults("message-whole-text-trimmed"),
    },
  },
  ...ENDS_OF_THEIR_OWN.map((fixture) => ({
    id: `equivalence.one-end-${fixture}`,
    section: "Chat completion reply",
    rule: "`finish_reason` (string, e.g. `stop`)",
    reads: ["pair-oddities"],
    judge: (e: Evidence) =>
      of(e, fixture).map((x) => {
        const expected = x.endpoint === "chat" ? "stop" : "end_turn";
        return factOf("stop cause, sent once", stopOf(x) || "none", x)
          .mustBe(
            expected,
            stopOf(x) === expected,
          );
      }),
    faults: {
      ...pick(FIXTURE_FAULTS, "chat-finish-told-twice", "chat-finish-lost"),
      "chat-finish-missing-in-own-dialect": chatFinishMissingInOwnDialect,
      "chat-finish-twice-in-own-dialect": chatFinishTwiceInOwnDialect,
      "chat-finish-null-in-own-dialect": chatFinishNullInOwnDialect,
    },
  })),
  {
    id: "equivalence.requests",
    rule: {
      section: SECTION,
      text:
        "| System prompt | top-level `system` | first entry of `messages` with role `system` |",
    },
    level: "documented",
    reads: [SENT_TALK],
    judge: (e) => sameRequests(e, ["history", "blocks"]),
    faults: {
      "system-lost-on-chat": systemLostOnChat,
      "other-model-on-chat": otherModelOnChat,
      "limit-lost-on-chat": limitLostOnChat,
      "chat-turns-cut": changeRequest((request, { endpoint }) =>
        endpoint === "chat" && request.turns.length > 1
          ? { turns: request.turns.slice(1) }
          : {}
      ),
    },
  },
]);
