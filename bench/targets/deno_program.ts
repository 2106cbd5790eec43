/**
 * Other versions of Deno, from npm.
 */
import { Skipped } from "./target.ts";

/**
 * Path of the program of a version, such as `2.5.0`.
 *
 * @throws {Skipped} when npm cannot provide it
 */
export async function denoProgram(version: string): Promise<string> {
  if (version === Deno.version.deno) return Deno.execPath();
  try {
    const { success, stdout } = await new Deno.Command("npx", {
      args: [
        "--yes",
        `deno@${version}`,
        "eval",
        "console.log(Deno.execPath())",
      ],
      stderr: "null",
    }).output();
    const path = new TextDecoder().decode(stdout).trim();
    if (success && path !== "") return path;
  } catch {
    // npx is not installed.
  }
  throw new Skipped(`npx could not run deno@${version}`);
}
