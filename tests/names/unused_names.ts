/**
 * Compares a library's declared names with the code's words and with what is accepted.
 */
import type { Accepted } from "./accepted_names.ts";
import type { DeclaredName } from "./declared_names.ts";
import type { IsUsed } from "./used_words.ts";

interface UnusedNames {
  /** How many names are declared, and how many of them no codec uses. */
  readonly declared: number;
  readonly unused: number;
  /** Names that are neither used nor accepted at a place, with the first such place. */
  readonly unexplained: readonly string[];
  /** What is accepted but not declared any more. */
  readonly outdated: readonly string[];
  /** Accepted by name although nothing else is left of it. */
  readonly needless: readonly string[];
}

export function unusedNames(
  names: readonly DeclaredName[],
  isUsed: IsUsed,
  accepted: readonly Accepted[],
): UnusedNames {
  const rules = accepted.map(({ files, declarations, names }) => ({
    files: whole(files),
    declarations: whole(declarations),
    names: typeof names === "string" ? new Set(names.split(" ")) : whole(names),
  }));
  const used = new Set<unknown>();
  const isAcceptedAt = (place: string): boolean => {
    const [path = "", owner = ""] = place.split("#");
    const declaration = owner.replace(/^Beta/, "");
    let found = false;
    for (const { files, declarations } of rules) {
      for (
        const [rule, text] of [[files, path], [
          declarations,
          declaration,
        ]] as const
      ) {
        if (rule?.test(text) !== true) continue;
        used.add(rule);
        found = true;
      }
    }
    return found;
  };
  const isAcceptedName = (name: string): boolean => {
    let found = false;
    for (const { names } of rules) {
      if (names instanceof Set ? names.has(name) : names?.test(name)) {
        used.add(names instanceof Set ? name : names);
        found = true;
      }
    }
    return found;
  };
  const unexplained: string[] = [];
  const needless: string[] = [];
  let unused = 0;
  for (const { name, places } of names) {
    const isAccepted = isAcceptedName(name);
    const unusedAt = [...places].filter((place) => !isUsed(name, place));
    if (unusedAt.length === places.size) unused++;
    const [open] = unusedAt.filter((place) => !isAcceptedAt(place));
    if (open !== undefined) {
      if (!isAccepted) unexplained.push(`${name} (${open})`);
    } else if (
      rules.some(({ names }) => names instanceof Set && names.has(name))
    ) {
      needless.push(name);
    }
  }
  const outdated = rules.flatMap(({ files, declarations, names }) =>
    [files, declarations, ...(names instanceof Set ? names : [names])].filter((
      rule,
    ) => rule !== undefined && !used.has(rule)).map(String)
  );
  return { declared: names.length, unused, unexplained, outdated, needless };
}

function whole(pattern: RegExp | undefined): RegExp | undefined {
  return pattern && new RegExp(`^(?:${pattern.source})$`);
}
