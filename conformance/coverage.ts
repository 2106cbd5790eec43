/**
 * Which checks cover which sentence of the specification. A check covers what it quotes, so the table keeps itself; by
 * hand are only `covered_by.ts`, for sentences that a check covers without quoting them, and what no black box can see.
 */
import { ALSO_COVERED, EXCLUDED } from "./covered_by.ts";
import type { Check } from "./suite/check.ts";

/** A sentence, or a row of a table. */
export interface Sentence {
  /** The heading it stands under. */
  readonly section: string;
  /** Its words; white space is one blank each, markers of lists are left out. */
  readonly text: string;
}

/** A sentence and what covers it. */
export interface Coverage extends Sentence {
  /** Ids of the checks that cover it. */
  readonly checks: readonly string[];
  /** Why no check can; undefined when it can be observed. */
  readonly excluded: string | undefined;
}

/** The text with each white space as one blank: how tables are laid out does not count. */
export function plain(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

/** All sentences and table rows of a specification, in order. */
export function sentencesOf(specification: string): Sentence[] {
  const found: Sentence[] = [];
  let section = "";
  for (const block of blocksOf(specification)) {
    const heading = /^#+ (.*)$/.exec(block)?.[1];
    if (heading !== undefined) {
      section = plain(heading);
      continue;
    }
    const texts = block.startsWith("|")
      ? block.split("\n").slice(2)
      : block.split(/(?<=(?<!e\.g)\.) +(?=[A-Z`])/);
    found.push(...texts.map((text) => ({ section, text: plain(text) })));
  }
  return found;
}

/** Paragraphs, list items, tables and headings; each is one text, lines of a table are kept, words that only lead in a table are not. */
function blocksOf(specification: string): string[] {
  return specification.split(/\n{2,}|\n(?=(?:-|\d+\.|#+) )/)
    .map((block) => block.trim())
    .filter((block) => block !== "" && !/^[^.]*:$/.test(block))
    .map((block) =>
      block.startsWith("|") ? block : plain(block.replace(/^(?:-|\d+\.) /, ""))
    );
}

/** The table: every sentence with the checks that cover it, or the reason why none can. */
export function coverageOf(
  specification: string,
  checks: readonly Check[],
): Coverage[] {
  return sentencesOf(specification).map((sentence) => ({
    ...sentence,
    checks: checks.filter(({ id, rule }) =>
      ("section" in rule && quotes(rule, sentence)) ||
      alsoCovers(id, sentence)
    ).map(({ id }) => id),
    excluded: EXCLUDED.find((entry) => isOf(entry, sentence))?.because,
  }));
}

function quotes(
  rule: { readonly section: string; readonly text: string },
  { section, text }: Sentence,
): boolean {
  const quoted = plain(rule.text);
  return section.startsWith(plain(rule.section)) &&
    (text.includes(quoted) || quoted.includes(text));
}

function alsoCovers(id: string, sentence: Sentence): boolean {
  return ALSO_COVERED.some((entry) =>
    isOf(entry, sentence) && entry.by.some((pattern) => matches(id, pattern))
  );
}

/** True when an entry of `covered_by.ts` means the sentence: it has its section and its first words. */
export function isOf(
  entry: { readonly section: string; readonly begins: string },
  sentence: Sentence,
): boolean {
  return sentence.section.startsWith(entry.section) &&
    sentence.text.startsWith(entry.begins);
}

/** True when an id fits a pattern; `*` stands for anything. */
export function matches(id: string, pattern: string): boolean {
  const parts = pattern.split("*").map((part) => part.replaceAll(".", "\\."));
  return new RegExp(`^${parts.join(".*")}$`).test(id);
}
