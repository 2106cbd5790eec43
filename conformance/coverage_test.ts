/**
 * Every sentence of the specification is covered by a check or excluded with a reason, and the
 * table holds nothing else.
 */
import assert from "node:assert/strict";
import { CHECKS } from "./areas/checks.ts";
import {
  type Coverage,
  coverageOf,
  isOf,
  matches,
  sentencesOf,
} from "./coverage.ts";
import { ALSO_COVERED, EXCLUDED } from "./covered_by.ts";

const SPECIFICATION = await Deno.readTextFile(
  new URL("specification.md", import.meta.url),
);

function named({ section, text }: Coverage): string {
  return `${section}: ${text}`;
}

Deno.test("sentencesOf() reads sentences, list items and table rows under their headings", () => {
  const text =
    "# A\n\nOne (e.g. `x`). Two\nlines.\n\n- Three\n  more.\n- Four\n\nRows:\n\n| a | b |\n| - | - |\n| 1 | 2. X |\n\n## B `c`\n\n1. Five.\n";
  assert.deepEqual(sentencesOf(text), [
    { section: "A", text: "One (e.g. `x`)." },
    { section: "A", text: "Two lines." },
    { section: "A", text: "Three more." },
    { section: "A", text: "Four" },
    { section: "A", text: "| 1 | 2. X |" },
    { section: "B `c`", text: "Five." },
  ]);
});

Deno.test("every sentence of the specification is covered by a check or excluded with a reason", () => {
  const open = coverageOf(SPECIFICATION, CHECKS).filter(
    ({ checks, excluded }) => checks.length === 0 && excluded === undefined,
  );
  assert.deepEqual(open.map(named), []);
});

Deno.test("nothing is excluded that a check covers", () => {
  const both = coverageOf(SPECIFICATION, CHECKS).filter(
    ({ checks, excluded }) => checks.length > 0 && excluded !== undefined,
  );
  assert.deepEqual(both.map(named), []);
});

Deno.test("every manual entry refers to a sentence of the specification, and every id to a check", () => {
  const sentences = sentencesOf(SPECIFICATION);
  for (const entry of [...ALSO_COVERED, ...EXCLUDED]) {
    assert.ok(
      sentences.some((sentence) => isOf(entry, sentence)),
      `stale: ${entry.section}: ${entry.begins}`,
    );
  }
  for (const pattern of ALSO_COVERED.flatMap(({ value }) => value)) {
    assert.ok(
      CHECKS.some(({ id }) => matches(id, pattern)),
      `no check matches ${pattern}`,
    );
  }
});
