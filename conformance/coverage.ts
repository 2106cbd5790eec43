/**
 * Which checks cover which sentence of the specification. A check covers the sentence that it
 * quotes, so that most of the table follows from the checks. `covered_by.ts` adds sentences that a
 * check covers without quoting them, and sentences that no black-box test can observe.
 */
import { ALSO_COVERED, EXCLUDED } from "./covered_by.ts";
import type { Check } from "./suite/check.ts";

/** A sentence, or a row of a table. */
interface Sentence {
  /** The heading above it. */
  readonly section: string;
  /** Its words; whitespace is collapsed, list markers are removed. */
  readonly text: string;
}

export interface Coverage extends Sentence {
  readonly checks: readonly string[];
  /** Why no check can cover it; undefined when it can be observed. */
  readonly excluded: string | undefined;
}

/** The text with collapsed whitespace: the layout of tables does not matter. */
function plain(text: string): string {
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

/**
 * Paragraphs, list items, tables and headings, each as one text. The lines of a table are kept; an
 * introduction to a table is not.
 */
function blocksOf(specification: string): string[] {
  return specification.split(/\n{2,}|\n(?=(?:-|\d+\.|#+) )/)
    .map((block) => block.trim())
    .filter((block) => block !== "" && !/^[^.]*:$/.test(block))
    .map((block) =>
      block.startsWith("|") ? block : plain(block.replace(/^(?:-|\d+\.) /, ""))
    );
}

/** Every sentence, with the checks that cover it or the reason why none can. */
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
    excluded: EXCLUDED.find((entry) => isOf(entry, sentence))?.value,
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
    isOf(entry, sentence) && entry.value.some((pattern) => matches(id, pattern))
  );
}

/**
 * True when an entry of `covered_by.ts` refers to the sentence: it has its section and its first
 * words.
 */
export function isOf(
  entry: { readonly section: string; readonly begins: string },
  sentence: Sentence,
): boolean {
  return sentence.section.startsWith(entry.section) &&
    sentence.text.startsWith(entry.begins);
}

/** True when an id matches a pattern; `*` matches any characters. */
export function matches(id: string, pattern: string): boolean {
  const parts = pattern.split("*").map((part) => part.replaceAll(".", "\\."));
  return new RegExp(`^${parts.join(".*")}$`).test(id);
}
