/**
 * Known defects of Deno versions that can cost an operator money; the start reports them. Found by
 * experiment: versions that were not tested are not listed.
 */

/** A defect, and the versions known to have it. */
interface DenoDefect {
  /** The first version known to have it. */
  readonly from: string;
  /** The last version known to have it. */
  readonly to: string;
  /** The behaviour and its consequence, for the operator. */
  readonly cost: string;
}

const DEFECTS: readonly DenoDefect[] = [
  {
    from: "2.8.3",
    to: "2.9.6",
    cost:
      "over HTTP/1.1, it does not report a client that disconnects before the reply begins, so the upstream continues to generate and is charged",
  },
];

/** One line per known defect of a Deno version. */
export function denoDefects(version: string): readonly string[] {
  return DEFECTS
    .filter(({ from, to }) =>
      !isBefore(version, from) && !isBefore(to, version)
    )
    .map(({ cost }) => `Deno ${version} has a known defect: ${cost}.`);
}

/** Compares major, minor and patch; the part after a hyphen (a release candidate) is ignored. */
function isBefore(version: string, other: string): boolean {
  const a = numbers(version);
  const b = numbers(other);
  for (const at of [0, 1, 2]) {
    const difference = (a[at] ?? 0) - (b[at] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

function numbers(version: string): readonly number[] {
  return (version.split("-")[0] ?? "").split(".").map(Number);
}
