/** Whether a path belongs to the console: errors there are pages. */
export function isConsolePath(path: string): boolean {
  return path === "/console" || path.startsWith("/console/");
}
