/** Why a file that a setting names cannot be read; `error` is the system's or the runtime's. */
export function unreadable(path: string, error: unknown): string {
  const { name, code } = error instanceof Error
    ? error as Error & { readonly code?: unknown }
    : { name: "", code: undefined };
  if (name === "NotCapable") {
    return `${path} is outside what this process may read, which is the working directory under deno task start: ` +
      "copy the file into it, or start main.ts by deno run with the flags of that task and the file's folder in --allow-read";
  }
  switch (code) {
    case "ENOENT":
    case "ENOTDIR":
      return `there is no file ${path}; a relative path is resolved from the working directory`;
    case "EISDIR":
      return `${path} is a folder: name a file`;
    case "EACCES":
    case "EPERM":
      return `the process's user is not permitted to read ${path}`;
  }
  return `could not read ${path}`;
}
