/** Checks of the area `hostile`: one rule for every spelling of the upstream's stream: what is said stays the same. */
import { contentOf, fixtureSays } from "../evidence/content.ts";
import { SPELLINGS } from "../scenarios/hostile.ts";
import type { Check } from "../suite/check.ts";
import { fact } from "../suite/finding.ts";

const MUTANTS: Readonly<Record<typeof SPELLINGS[number], string>> = {
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

/** The rule for one form of the stream. */
function sameWords(
  form: string,
  about: string,
  reads: string,
  mutant: string,
): Check {
  return {
    id: `hostile.${form}`,
    rule: {
      source: "https://html.spec.whatwg.org/multipage/server-sent-events.html",
      text: `An upstream stream says the same ${about}.`,
    },
    level: "convention",
    mode: "replay",
    reads: [reads],
    judge: (e) =>
      e.matching(`*/*/${form}`).map((x) => {
        const said = fixtureSays("text-unicode", x.via).text;
        const { text } = contentOf(x);
        return fact(text === said, "text", said, text, x);
      }),
    mutants: [mutant],
  };
}

/** The checks. */
export const HOSTILE_CHECKS: readonly Check[] = [
  ...SPELLINGS.map((form) =>
    sameWords(form, `in the spelling "${form}"`, "respelled", MUTANTS[form])
  ),
  sameWords(
    "split",
    "wherever it is cut",
    "cut-anywhere",
    "decodes-each-piece",
  ),
];
