/**
 * The list of known vulnerabilities of the locked packages, `advisories.json` beside `deno.lock`:
 * when each package was last looked up, and why a known vulnerability does not matter here.
 */

/** A known vulnerability of a locked package. */
export interface Advisory {
  /** Name of the package. */
  readonly package: string;
  /** The advisory's page, by which it is known. */
  readonly url: string;
  readonly title: string;
  readonly severity: string;
  /** The versions that have it, as a range. */
  readonly versions: string;
  /** Why it does not matter here; empty: it has not been looked into yet. */
  readonly reason: string;
}

export interface AdvisoryList {
  /** By `name@version`, the day of the last look-up; null: none so far. */
  readonly packages: Readonly<Record<string, string | null>>;
  readonly advisories: readonly Advisory[];
}

/** The registry does not answer questions about advisories. */
export class NoAnswerError extends Error {}

/** The packages of a lock file as `name@version`, each once, in order. */
export function lockedPackages(lock: string): readonly string[] {
  // The file's form is Deno's.
  const { npm } = JSON.parse(lock) as { readonly npm: object };
  const packages = Object.keys(npm).map((key) =>
    // Behind the version are those of its peers.
    /^(@?[^@]+@[^_]+)/.exec(key)?.[1] ?? key
  );
  return [...new Set(packages)].toSorted();
}

/** What is wrong with a list; empty if nothing is. */
export function faultsOf(
  { packages, advisories }: AdvisoryList,
  locked: readonly string[],
): readonly string[] {
  const names = new Set(locked.map(nameOf));
  return [
    ...locked.filter((one) => !(one in packages))
      .map((one) => `${one} is locked, but not in the list`),
    ...Object.keys(packages).filter((one) => !locked.includes(one))
      .map((one) => `${one} is in the list, but not locked`),
    ...advisories.filter((one) => !names.has(one.package))
      .map(({ package: name, url }) => `${name} is not locked: ${url}`),
    ...advisories.filter(({ reason }) => reason.trim() === "")
      .map(({ package: name, url }) => `${name} has no reason: ${url}`),
  ];
}

/**
 * Asks a registry about all locked packages. Reasons that the list has are kept.
 *
 * @param day such as 2026-12-31
 * @throws {NoAnswerError}
 */
export async function renewed(
  list: AdvisoryList,
  locked: readonly string[],
  registry: string,
  day: string,
): Promise<AdvisoryList> {
  const versions: Record<string, string[]> = {};
  for (const one of locked) {
    (versions[nameOf(one)] ??= []).push(one.slice(nameOf(one).length + 1));
  }
  const address = new URL("-/npm/v1/security/advisories/bulk", registry);
  const response = await fetch(address, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(versions),
    signal: AbortSignal.timeout(60_000),
  }).catch((error) => {
    throw new NoAnswerError(`could not be reached (${error.name})`);
  });
  if (!response.ok) {
    await response.body?.cancel();
    throw new NoAnswerError(`answered with status ${response.status}`);
  }
  // As npm's client reads it.
  const found = await response.json() as Readonly<
    Record<string, readonly Readonly<Record<string, unknown>>[]>
  >;
  const reasons = new Map(list.advisories.map((one) => [one.url, one.reason]));
  return {
    packages: Object.fromEntries(locked.map((one) => [one, day])),
    advisories: Object.entries(found).flatMap(([name, advisories]) =>
      advisories.map((one) => ({
        package: name,
        url: String(one["url"]),
        title: String(one["title"]),
        severity: String(one["severity"]),
        versions: String(one["vulnerable_versions"]),
        reason: reasons.get(String(one["url"])) ?? "",
      }))
    ),
  };
}

/** The list with the packages of the lock file, none of the new ones looked up. */
export function inStep(
  { packages, advisories }: AdvisoryList,
  locked: readonly string[],
): AdvisoryList {
  const names = new Set(locked.map(nameOf));
  return {
    packages: Object.fromEntries(
      locked.map((one) => [one, packages[one] ?? null]),
    ),
    advisories: advisories.filter((one) => names.has(one.package)),
  };
}

function nameOf(locked: string): string {
  return locked.slice(0, locked.lastIndexOf("@"));
}
