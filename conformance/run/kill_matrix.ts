/** The self-test in text: which mutant which check killed, and what is wrong with the suite. */
import type { SelftestOutcome } from "./selftest.ts";

/** Renders the outcome. */
export function killMatrix(outcome: SelftestOutcome): string {
  const { golden, kills, strays, seconds, proved } = outcome;
  const lines: string[] = [];
  for (const { check, verdict, findings, why } of golden) {
    const of = kills.filter((kill) => kill.check === check.id);
    lines.push(
      `${check.id}  ${verdict === "pass" ? "passes" : verdict.toUpperCase()}  ${
        of.map(({ mutant, killed }) => `${killed ? "✓" : "✗"} ${mutant}`).join(
          "  ",
        )
      }`,
    );
    if (verdict === "pass") continue;
    for (const finding of findings.filter((each) => each.verdict !== "pass")) {
      lines.push(
        `    ${
          finding.exchange?.label ?? ""
        } ${finding.fact}: expected ${finding.expected}, was ${finding.actual}`,
      );
    }
    if (why !== undefined) lines.push(`    ${why}`);
  }
  for (const { check, mutant, killed, said } of kills) {
    if (!killed) {
      lines.push(`SURVIVOR  ${mutant} is not caught by ${check}: ${said}`);
    }
  }
  for (const stray of strays) lines.push(`STRAY  ${stray}`);
  const passed = golden.filter(({ verdict }) => verdict === "pass").length;
  const killed = kills.filter((kill) => kill.killed).length;
  lines.push(
    "",
    `golden gateway: ${passed} of ${golden.length} checks pass`,
    `mutants: ${killed} of ${kills.length} named pairs killed (${
      new Set(kills.map(({ mutant }) => mutant)).size
    } mutants)`,
    `${proved ? "proved" : "NOT PROVED"} in ${seconds.toFixed(1)} s`,
  );
  return lines.join("\n");
}
