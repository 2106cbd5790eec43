/**
 * Checks of the area `hostile`: a reply that breaks off or fails never looks complete, and a
 * readable reply is read correctly.
 */
import { textsOfOthers } from "../transport/faults.ts";
import {
  compare,
  fact,
  factOf,
  NotTestable,
  statusIs,
} from "../../suite/finding.ts";
import {
  confusedForGood,
  STREAM_FAULTS,
  usageMixes,
  wholeText,
} from "./faults.ts";
import { breakBecomesEnd } from "../upstream/faults.ts";
import {
  type Check,
  type Faults,
  pick,
  sharedFaults,
} from "../../suite/check.ts";
import {
  contentOf,
  fixtureContent,
  fullContent,
} from "../../evidence/content.ts";
import { type Exchange, headerOf } from "../../evidence/exchange.ts";
import {
  CONFUSED,
  CROWD,
  CUT_FIXTURES,
  ERRORS_INSIDE,
  NOTHING,
  STOPS,
} from "./scenarios_streams.ts";
import type { Evidence } from "../../suite/evidence.ts";
import { errorIn, failed, rightOrFailed } from "../chat_stream/broken_reply.ts";

/** The exchanges whose reply was cut in one way: their labels end with it and a number. */
function cutsOf(e: Evidence, how: string): readonly Exchange[] {
  const found = e.exchanges.filter(({ label }) =>
    new RegExp(`/${how}-\\d+$`).test(label)
  );
  if (found.length > 0) return found;
  throw new NotTestable(`no exchange was cut by ${how}`);
}

const BREAKS_OFF = {
  source: "https://github.com/NVIDIA/TensorRT-LLM/issues/18289",
} as const;

function hostile(
  name: string,
  text: string,
  reads: string,
  judge: Check["judge"],
  faults: Faults,
): Check {
  return {
    id: `hostile.${name}`,
    rule: { ...BREAKS_OFF, text },
    level: "convention",
    mode: "replay",
    reads: [reads],
    judge,
    faults,
  };
}

const ABOUT: Readonly<Record<typeof STOPS[number], string>> = {
  "cut": "ends properly between two frames",
  "cut-frame": "ends properly inside a frame",
  "cut-chunk": "ends without its last chunk",
  "reset": "is reset",
};

export const STREAM_CHECKS: readonly Check[] = [
  ...CUT_FIXTURES.flatMap((fixture) =>
    STOPS.map((how) =>
      hostile(
        `${how}-${fixture}`,
        `An upstream stream that ${
          ABOUT[how]
        }, anywhere before its end, never looks complete: the client receives an error and nothing after it.`,
        `cut-${fixture}`,
        (e) => cutsOf(e, how).flatMap((x) => failed(x, fixture)),
        how === "reset"
          ? {
            ...pick(STREAM_FAULTS, "break-is-silent"),
            "break-becomes-end": breakBecomesEnd,
          }
          : {
            ...pick(
              STREAM_FAULTS,
              "break-is-silent",
              "break-is-told-and-finished",
              "break-without-words-becomes-end",
              "break-has-no-message",
              "break-adds-words",
              "late-break-becomes-end",
              "break-has-no-event-name",
            ),
            ...sharedFaults("break-becomes-end"),
          },
      )
    )
  ),
  ...["cut", "cut-chunk", "reset", "short-length"].map((how) =>
    hostile(
      `whole-${how}`,
      `A whole reply that ends in the middle (${how}) is an error of status 500 to 599.`,
      "cut-whole",
      (e) =>
        e.matching(`*/*/${how}`).flatMap((x) =>
          how === "short-length" ? rightOrFailed(x, "text") : failed(x, "text")
        ),
      how === "short-length"
        ? pick(STREAM_FAULTS, "half-replies-are-replies")
        : pick(
          STREAM_FAULTS,
          "half-replies-are-replies",
          "broken-replies-are-400",
        ),
    )
  ),
  ...[...Object.keys(ERRORS_INSIDE), "error-late"].map((form) =>
    hostile(
      form,
      `An error inside an upstream stream (${form}) reaches the client as an error of its format, and nothing follows it.`,
      "errors-inside",
      (e) => e.matching(`*/*/${form}`).flatMap((x) => failed(x, "text")),
      {
        ...pick(
          STREAM_FAULTS,
          "break-is-silent",
          "break-is-told-and-finished",
          "break-has-no-message",
          "break-adds-words",
          ...form === "error-first" ? ["break-without-words-becomes-end"] : [],
        ),
        ...sharedFaults("break-becomes-end"),
      },
    )
  ),
  ...CONFUSED.flatMap((form) =>
    ["whole", "stream"].map((way) =>
      hostile(
        `${form}-${way}`,
        `An unexpected reply of the upstream (${form}) becomes the right reply or an error, never a part of it.`,
        "confusing",
        (e) =>
          e.matching(`*/*/${form}-${way}`).flatMap((x) =>
            // The request upstream asked for no stream, so that it could not ask for usage in a
            // stream.
            rightOrFailed(x, "text", form !== "sse-for-json")
          ),
        way === "stream"
          ? pick(
            STREAM_FAULTS,
            "confused-streams-lose-words",
            "confused-streams-hold-no-json",
          )
          : pick(STREAM_FAULTS, "confused-replies-lose-words"),
      )
    )
  ),
  ...NOTHING.map((form) =>
    hostile(
      form,
      `A reply of status 200 without content (${form}) is an error, never an empty success.`,
      "confusing",
      (e) =>
        ["whole", "stream"].flatMap((way) => e.matching(`*/*/${form}-${way}`))
          .flatMap((x) => failed(x, "text")),
      pick(STREAM_FAULTS, "nothing-is-a-reply"),
    )
  ),
  hostile(
    "no-done",
    "A chat stream that ends after its finish reason without [DONE] is complete.",
    "confusing",
    (e) =>
      e.streams("*/*/no-done").flatMap((x) => [
        ...rightOrFailed(x, "text"),
        fact(errorIn(x) < 0, "errors", "none", x.frames[errorIn(x)]?.data, x),
      ]),
    {
      "no-done-is-a-break": wholeText((text) =>
        text.includes('"choices"') && !text.includes("[DONE]")
          ? text.split('data: {"id"').slice(0, -3).join('data: {"id"')
          : text
      ),
    },
  ),
  hostile(
    "next-request-works",
    "After such replies the next request succeeds.",
    "confusing",
    (e) =>
      ["whole", "stream"].flatMap((way) => e.matching(`*/*/afterwards-${way}`))
        .flatMap((x) => [
          statusIs(x, 200),
          compare(
            "text",
            contentOf(x).text,
            fixtureContent("text", x.via).text,
            x,
          ),
        ]),
    { "confused-for-good": confusedForGood },
  ),
  hostile(
    "crowd",
    "Concurrent requests each get their own reply, whole and unmixed.",
    "crowded",
    (e) =>
      CROWD.flatMap((fixture) =>
        ["whole", "stream"].flatMap((way) =>
          e.matching(`*/*/${fixture}-${way}`)
        ).flatMap((x) => {
          const content = fixtureContent(fixture, x.via);
          const expected = fullContent(content);
          const got = fullContent(contentOf(x));
          return [
            statusIs(x, 200),
            fact(expected === got, "content", expected, got, x),
          ];
        })
      ),
    { "replies-mix": textsOfOthers(), "usage-mixes": usageMixes },
  ),
  hostile(
    "crowd-ids",
    "Concurrent requests have different request ids.",
    "crowded",
    (e) => {
      const all = e.matching("*/*/*");
      return ["request-id", "x-request-id"].map((name) => {
        const ids = all.flatMap((x) => headerOf(x, name) ?? []);
        return factOf(
          `${name} of ${all.length} replies`,
          `${new Set(ids).size} of ${ids.length} different`,
        ).mustBe("all different", new Set(ids).size === ids.length);
      });
    },
    {
      "request-ids-repeat": {
        reply: (reply) => ({
          ...reply,
          headers: { ...reply.headers, "request-id": "req_1" },
        }),
        streamHeaders: (headers) => ({ ...headers, "request-id": "req_1" }),
      },
    },
  ),
];
