/** Checks of the area `hostile`: one rule for every spelling of the upstream's stream: what is said stays the same. */
import { contentOf, everythingIn, fixtureSays } from "../evidence/content.ts";
import { SPELLINGS, WHOLE_SPELLINGS } from "../scenarios/hostile.ts";
import type { Check } from "../suite/check.ts";
import { fact } from "../suite/finding.ts";
import { STREAM_CHECKS } from "./hostile_streams.ts";

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

const WHOLE_MUTANTS: Readonly<
  Record<typeof WHOLE_SPELLINGS[number], string>
> = {
  "bom": "byte-order-mark-kept",
  "gzip": "gzip-not-understood",
  "split=9": "decodes-each-piece",
};

/** The rule for one form of the stream. */
function sameWords(
  form: string,
  about: string,
  reads: string,
  mutant: string,
  fixture = "text-unicode",
): Check {
  return {
    id: `hostile.${fixture === "text-unicode" ? "" : "tools-"}${form}`,
    rule: {
      source: "https://html.spec.whatwg.org/multipage/server-sent-events.html",
      text: `An upstream stream says the same ${about}.`,
    },
    level: "convention",
    mode: "replay",
    reads: [reads],
    judge: (e) =>
      e.matching(`*/*/${form}`).map((x) => {
        const said = everythingIn(fixtureSays(fixture, x.via));
        const told = everythingIn(contentOf(x));
        return fact(said === told, "what is said", said, told, x);
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
  ...SPELLINGS.map((form) =>
    sameWords(
      form,
      `in the spelling "${form}", in tool arguments too`,
      "tools-respelled",
      MUTANTS[form],
      "tool-unicode-args",
    )
  ),
  sameWords(
    "split",
    "wherever it is cut, in tool arguments too",
    "tools-respelled",
    "decodes-each-piece",
    "tool-unicode-args",
  ),
  ...WHOLE_SPELLINGS.map((spelling) =>
    sameWords(
      `whole-${spelling}`,
      `in a whole reply that is sent with "${spelling}"`,
      "tools-respelled",
      WHOLE_MUTANTS[spelling],
      "tool-unicode-args",
    )
  ),
  ...STREAM_CHECKS,
];
