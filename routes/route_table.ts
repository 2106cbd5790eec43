import type { Route } from "./route.ts";

/** A route that accepts a path, of any method. */
export interface Match {
  readonly route: Route;
  /** The path's variable parts, decoded. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** A function that returns the routes of a path, in the order of `routes`. */
export function routeTable(
  routes: readonly Route[],
): (path: string) => readonly Match[] {
  /** Each route's path, split once. */
  const patterns: readonly Pattern[] = routes.map(patternOf);
  /** The routes of each path without a variable part, matched once. */
  const fixed: ReadonlyMap<string, readonly Match[]> = new Map(
    routes.filter(({ path }) => !path.includes(":"))
      .map(({ path }) => [path, matchesOf(path, patterns)]),
  );
  return (path) => fixed.get(path) ?? matchesOf(path, patterns);
}

interface Pattern {
  readonly route: Route;
  readonly segments: readonly string[];
  /** Fixed end of the last part, behind its variable: `:verb` of `/models/:model:verb`. */
  readonly suffix: string;
}

function patternOf(route: Route): Pattern {
  const [, path = route.path, suffix = ""] =
    /^(.*\/:\w+)(:\w+)$/.exec(route.path) ?? [];
  return { route, segments: path.split("/"), suffix };
}

function matchesOf(
  path: string,
  patterns: readonly Pattern[],
): readonly Match[] {
  const segments = path.split("/");
  const matches: Match[] = [];
  for (const { route, segments: pattern, suffix } of patterns) {
    if (!path.endsWith(suffix)) continue;
    const parameters = matchParameters(
      pattern,
      suffix === "" ? segments : path.slice(0, -suffix.length).split("/"),
    );
    if (
      parameters !== undefined && (route.accepts?.(parameters) ?? true)
    ) matches.push({ route, parameters });
  }
  return matches;
}

function matchParameters(
  pattern: readonly string[],
  segments: readonly string[],
): Record<string, string> | undefined {
  const takesRest = pattern.at(-1)?.startsWith(":") === true;
  if (
    takesRest
      ? segments.length < pattern.length
      : segments.length !== pattern.length
  ) return undefined;
  const parameters: Record<string, string> = {};
  for (const [i, part] of pattern.entries()) {
    if (!part.startsWith(":")) {
      if (part !== segments[i]) return undefined;
      continue;
    }
    // A final variable part takes the rest of the path, because model ids may contain slashes.
    const raw = i === pattern.length - 1
      ? segments.slice(i).join("/")
      : segments[i] ?? "";
    const value = decodedPart(raw);
    if (value === undefined || value === "") return undefined;
    parameters[part.slice(1)] = value;
  }
  return parameters;
}

function decodedPart(raw: string): string | undefined {
  try {
    return decodeURIComponent(raw);
  } catch {
    return undefined;
  }
}
