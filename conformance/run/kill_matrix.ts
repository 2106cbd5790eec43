/**
 * The self-test's result as text: which check killed which mutant, in each kind of run, and what is
 * wrong with the suite.
 */
import type { Kill, Proof, SelftestOutcome } from "./selftest.ts";

export function killMatrix(outcome: SelftestOutcome): string {
  const { replay, live, unproved, strays, seconds, proved } = outcome;
  return [
    ...matrixOf(replay),
    ...survivors(replay.kills).map((text) => `SURVIVOR  ${text}`),
    "",
    "live, as against a deployment whose upstream the suite does not control:",
    ...matrixOf(live),
    ...survivors(live.kills).map((text) => `out of sight  ${text}`),
    ...unproved.map((id) => `UNPROVED  ${id} is failed live by no mutant`),
    ...replay.unnoticed.map((name) =>
      `UNNOTICED  ${name} is noticed by no check`
    ),
    ...strays.map((stray) => `STRAY  ${stray}`),
    "",
    ...ratesOf("replay", replay),
    ...ratesOf("live", live),
    `${proved ? "proved" : "NOT PROVED"} in ${seconds.toFixed(1)} s`,
  ].join("\n");
}

function matrixOf({ reference, kills }: Proof): string[] {
  return reference.flatMap(({ check, verdict, findings, why }) => {
    const marks = kills.filter((kill) => kill.check === check.id)
      .map(({ mutant, killed }) => `${killed ? "✓" : "✗"} ${mutant}`);
    const line = `${check.id}  ${
      verdict === "pass" ? "passes" : verdict.toUpperCase()
    }  ${marks.join("  ")}`;
    if (verdict === "pass") return [line];
    const open = findings.filter((finding) => finding.verdict !== "pass");
    return [
      line,
      ...open.map(({ exchange, fact, expected, actual }) =>
        `    ${
          exchange?.label ?? ""
        } ${fact}: expected ${expected}, was ${actual}`
      ),
      ...(why === undefined ? [] : [`    ${why}`]),
    ];
  });
}

function survivors(kills: readonly Kill[]): string[] {
  return kills.filter(({ killed }) => !killed).map((
    { mutant, check, reason },
  ) => `${mutant} is not caught by ${check}: ${reason}`);
}

function ratesOf(mode: string, { reference, kills, seconds }: Proof): string[] {
  const mutants = new Set(kills.map(({ mutant }) => mutant));
  const dead = new Set(
    kills.filter(({ killed }) => killed).map(({ mutant }) => mutant),
  );
  const passed = reference.filter(({ verdict }) => verdict === "pass").length;
  const killed = kills.filter((kill) => kill.killed).length;
  const rate = kills.length === 0 ? 100 : 100 * killed / kills.length;
  return [
    `${mode}: ${passed} of ${reference.length} checks pass on the reference gateway; ${killed} of ${kills.length} named pairs killed (${
      rate.toFixed(1)
    } %), ${dead.size} of ${mutants.size} mutants, in ${seconds.toFixed(1)} s`,
  ];
}
