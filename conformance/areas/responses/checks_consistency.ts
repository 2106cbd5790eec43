/** Checks of the area `responses`: what the states of one reply have in common, and its times. */
import {
  at,
  brief,
  listAt,
  numberAt,
  textAt,
} from "../../evidence/json_path.ts";
import { fixtureContent } from "../../evidence/content.ts";
import { inFrames, usage } from "./faults.ts";
import { inReply, put } from "../../faults/change_responses.ts";
import {
  repliesOf,
  responseOf,
  streamsOf,
  typeOf,
  whereAccepted,
} from "../../endpoints/read_responses.ts";
import { CHOICES } from "./scenarios.ts";
import { usualAndCalls } from "./checks_stream.ts";
import { MEMBERS, members, sameStates } from "./shapes.ts";
import { objectOf } from "@model-gateway/replay/json";
import {
  compare,
  demanded,
  factOf,
  type Finding,
  offered,
  some,
} from "../../suite/finding.ts";
import { type Check, checksWith, sharedFaults } from "../../suite/check.ts";
import type { Evidence } from "../../suite/evidence.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { withAt } from "../../faults/change_reply.ts";

/** Largest time in seconds: in milliseconds every time of this century is larger. */
const LATEST = 1e11;

const STREAMS = [
  "responses-replies",
  "responses-settings",
  "responses-choices",
];

const STREAM = "https://github.com/openai/openai-node, ResponseStream.ts";

export const RESPONSES_CONSISTENCY_CHECKS: readonly Check[] = checksWith({
  mode: "both",
  needs: "responses",
  level: "convention",
  reads: ["responses-replies"],
}, [
  {
    id: "responses.times",
    source: "https://www.openresponses.org/specification, created_at",
    rule:
      "Times are seconds, a completed reply has the time of its end, and no reply ends before it begins.",
    judge: (e) =>
      repliesOf(e).map((x) => {
        const reply = responseOf(x);
        const [created = NaN, completed] = ["created_at", "completed_at"].map((
          name,
        ) => numberAt(reply, name));
        const isDone = at(reply, "status") === "completed";
        return factOf("times", [created, completed ?? null], x).mustBe(
          "seconds, in order",
          created < LATEST &&
            (completed === undefined
              ? !isDone
              : completed >= created && completed < LATEST),
        );
      }),
    faults: {
      "responses-created-in-milliseconds": put("created_at", 1.78e12),
      "responses-completed-null": put("completed_at", null),
      "responses-completed-early": put("completed_at", 1),
    },
  },
  {
    id: "responses.no-error-in-a-reply",
    source: "Libraries treat a reply with an error as failed",
    rule: "A reply that did not fail has no error.",
    judge: (e) =>
      repliesOf(e).map((x) =>
        factOf("error", at(responseOf(x), "error"), x).mustBe(
          "null",
          (at(responseOf(x), "error") ?? null) === null,
        )
      ),
    faults: {
      "responses-error-in-reply": put("error", {
        code: "server_error",
        message: "An error occurred",
      }),
    },
  },
  {
    id: "responses.stream-start-members",
    source: "https://www.openresponses.org/specification, the response object",
    rule: "The reply in the first two frames has every member, as at the end.",
    reads: STREAMS,
    of: (e: Evidence) => streamsOf(e),
    each: (x: Exchange) =>
      some(
        x.frames.filter((frame) =>
          ["response.created", "response.in_progress"].includes(typeOf(frame))
        ).flatMap(({ json }) => members(x, at(json, "response"), MEMBERS)),
        "a stream with a beginning",
      ),
    faults: {
      "responses-created-bare": inFrames(/^created$/, (data) => {
        const { id, object, status, output } = objectOf(data["response"]);
        return { ...data, response: { id, object, status, output } };
      }),
    },
  },
  {
    id: "responses.stream-same-reply",
    source: STREAM,
    rule:
      "All frames that carry the reply agree on its id, its beginning, its model and its settings.",
    reads: STREAMS,
    of: (e: Evidence) => streamsOf(e),
    each: (x: Exchange) => sameStates(x),
    faults: {
      "responses-model-changes": inFrames(
        /^(completed|incomplete)$/,
        (data) => withAt(data, "response.model", "another-model"),
      ),
      "responses-created-changes": inFrames(
        /^(completed|incomplete)$/,
        (data) => withAt(data, "response.created_at", 1_780_000_777),
      ),
      "responses-settings-change": inFrames(
        /^(completed|incomplete)$/,
        (data) => withAt(data, "response.text.format.type", "json_object"),
      ),
      "responses-settings-not-echoed-at-once": inFrames(
        /^(created|in_progress)$/,
        (data) => withAt(data, "response.tools", []),
      ),
    },
  },
  {
    id: "responses.stream-states",
    source: STREAM,
    rule:
      "Whatever a reply contains and however it ends, all frames that carry it have all its members, and agree on what does not change.",
    mode: "replay",
    reads: [
      "responses-contents",
      "responses-more-settings",
      "responses-broken",
    ],
    of: (e: Evidence) => streamsOf(e),
    each: (x: Exchange) => [
      sameStates(x),
      ...x.frames.flatMap(({ json }) => {
        const reply = at(json, "response");
        return reply === undefined ? [] : members(x, reply, MEMBERS);
      }),
    ],
    faults: {
      "responses-failed-by-another-id": inFrames(
        /^failed$/,
        (data) => withAt(data, "response.id", "resp_another"),
      ),
      "responses-failed-bare": inFrames(/^failed$/, (data) => {
        const { id, status, error } = objectOf(data["response"]);
        return { ...data, response: { id, status, error } };
      }),
      ...sharedFaults(
        "responses-created-bare",
        "responses-settings-not-echoed-at-once",
      ),
    },
  },
  {
    id: "responses.stream-added-empty",
    source: `${STREAM}: it appends each delta to what was added`,
    rule:
      "An item is added `in_progress`, without content or arguments, and a part without text.",
    reads: ["responses-replies", "responses-choices"],
    of: usualAndCalls,
    each: (x: Exchange, e: Evidence) => {
      const added = addedIn(x);
      // A real model may end without any item.
      return added.length > 0
        ? added
        : demanded(e)(false, "items", "one or more", [], x);
    },
    faults: {
      "responses-added-complete": inFrames(
        /^output_item\.added$/,
        (data) => withAt(data, "item.status", "completed"),
      ),
      "responses-added-with-arguments": inFrames(
        /^output_item\.added$/,
        (data) =>
          at(data, "item.arguments") === undefined
            ? data
            : withAt(data, "item.arguments", '{"city":"Paris"}'),
      ),
      "responses-part-without-annotations": inFrames(
        /^content_part\.added$/,
        (data) => withAt(data, "part.annotations", undefined),
      ),
    },
  },
  {
    id: "responses.reasoning-tokens",
    source: "https://platform.openai.com/docs/guides/reasoning",
    rule:
      "`reasoning_tokens` is the number of an upstream that reports it in this format.",
    mode: "replay",
    reads: ["responses-contents"],
    judge: (e) =>
      offered(
        repliesOf(e, "reasoning-usage").filter(({ via }) => via === "responses")
          .map((x) => {
            const path = "usage.output_tokens_details.reasoning_tokens";
            const found = at(responseOf(x), path);
            const { reasoning } =
              fixtureContent("reasoning-usage", x.via).usage;
            return compare(path, found, reasoning, x);
          }),
        "has this format",
      ),
    faults: {
      "responses-reasoning-tokens-zero": usage(
        "output_tokens_details.reasoning_tokens",
        () => 0,
      ),
    },
  },
  {
    id: "responses.echo-choice",
    source: "https://www.openresponses.org/specification, tool_choice",
    rule: "`tool_choice` of a reply is that of its request.",
    reads: ["responses-choices"],
    judge: (e) =>
      ["required", "named", "none"].flatMap((name) =>
        whereAccepted(e, name, (x) => {
          const asked = at(CHOICES[name], "tool_choice") ?? null;
          const found = at(responseOf(x), "tool_choice");
          return compare("tool_choice", found, asked, x);
        })
      ),
    faults: {
      "responses-choice-not-echoed": inReply({ tool_choice: "auto" }),
    },
  },
]);

/** A finding for each item and each part that a stream adds. */
function addedIn(x: Exchange): Finding[] {
  return x.frames.flatMap((frame) => {
    const { json } = frame;
    if (typeOf(frame) === "response.output_item.added") {
      const item = at(json, "item");
      const isEmpty = textAt(item, "arguments") === "" &&
        textAt(item, "input") === "" && listAt(item, "content").length === 0;
      const status = textAt(item, "status") || undefined;
      return [
        factOf("item", item, x, frame).mustBe(
          "in progress, and empty",
          isEmpty && [undefined, "in_progress"].includes(status),
        ),
      ];
    }
    if (typeOf(frame) !== "response.content_part.added") return [];
    const part = at(json, "part");
    return [
      factOf("part", part, x, frame).mustBe(
        "without text, and with an empty list of annotations",
        textAt(part, "text") === "" &&
          (textAt(part, "type") !== "output_text" ||
            brief(at(part, "annotations")) === "[]"),
      ),
    ];
  });
}
