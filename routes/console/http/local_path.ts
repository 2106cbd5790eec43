/** A path of the console, or the fallback: a form or link must not lead to another site. */
export function localPath(
  path: string | null | undefined,
  fallback: string,
): string {
  return typeof path === "string" &&
      /^\/console\/[\w./?=&%+:,~-]*$/.test(path) && !path.includes("..")
    ? path
    : fallback;
}
