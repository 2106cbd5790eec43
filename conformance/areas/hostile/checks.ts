/**
 * Checks of the area `hostile`: however the upstream encodes and splits its stream, the content
 * stays the same.
 */
import {
  contentOf,
  fixtureContent,
  fullContent,
} from "../../evidence/content.ts";
import { SPELLINGS, WHOLE_SPELLINGS } from "./scenarios.ts";
import { READER_FAULTS } from "./faults.ts";
import { type Check, pick } from "../../suite/check.ts";
import { fact } from "../../suite/finding.ts";
import { STREAM_CHECKS } from "./checks_streams.ts";

const FAULTS: Readonly<Record<typeof SPELLINGS[number], string>> = {
  burst: "one-frame-a-piece",
  crlf: "line-feeds-only",
  cr: "line-feeds-only",
  bom: "byte-order-mark-kept",
  nospace: "blank-after-colon-needed",
  multiline: "first-data-line-only",
  comments: "comments-end-the-stream",
  ids: "id-lines-end-the-stream",
  gzip: "gzip-not-understood",
};

const WHOLE_FAULTS: Readonly<
  Record<typeof WHOLE_SPELLINGS[number], string>
> = {
  "bom": "byte-order-mark-kept",
  "gzip": "gzip-not-understood",
  "split=9": "decodes-each-piece",
};

function sameWords(
  form: string,
  about: string,
  reads: string,
  fault: string,
  fixture = "text-unicode",
): Check {
  return {
    id: `hostile.${fixture === "text-unicode" ? "" : "tools-"}${form}`,
    rule: {
      source: "https://html.spec.whatwg.org/multipage/server-sent-events.html",
      text: `An upstream stream has the same content ${about}.`,
    },
    level: "convention",
    mode: "replay",
    reads: [reads],
    judge: (e) =>
      e.matching(`*/*/${form}`).map((x) => {
        const expected = fullContent(fixtureContent(fixture, x.via));
        const actual = fullContent(contentOf(x));
        return fact(expected === actual, "content", expected, actual, x);
      }),
    faults: pick(READER_FAULTS, fault),
  };
}

export const HOSTILE_CHECKS: readonly Check[] = [
  ...SPELLINGS.map((form) =>
    sameWords(form, `in the encoding "${form}"`, "respelled", FAULTS[form])
  ),
  sameWords(
    "split",
    "wherever it is split",
    "cut-anywhere",
    "decodes-each-piece",
  ),
  ...SPELLINGS.map((form) =>
    sameWords(
      form,
      `in the encoding "${form}", also in tool arguments`,
      "tools-respelled",
      FAULTS[form],
      "tool-unicode-args",
    )
  ),
  sameWords(
    "split",
    "wherever it is split, also in tool arguments",
    "tools-respelled",
    "decodes-each-piece",
    "tool-unicode-args",
  ),
  ...WHOLE_SPELLINGS.map((spelling) =>
    sameWords(
      `whole-${spelling}`,
      `in a whole reply with the encoding "${spelling}"`,
      "tools-respelled",
      WHOLE_FAULTS[spelling],
      "tool-unicode-args",
    )
  ),
  ...STREAM_CHECKS,
];
