/**
 * Packages whose files tests read without importing them.
 */

/**
 * Unpacks a package of the registry into `into`: its folder.
 *
 * @throws {Error} the message of npm or tar where it cannot be had
 */
export async function packedLibrary(
  specifier: string,
  into: URL,
): Promise<URL> {
  const folder = new URL(`${specifier.replaceAll(/[^\w.-]/g, "_")}/`, into);
  await Deno.mkdir(folder, { recursive: true });
  const tarball = await output("npm", [
    "pack",
    "--silent",
    "--prefer-offline",
    specifier,
  ], folder);
  await output("tar", ["-xzf", tarball.trim()], folder);
  return new URL("package/", folder);
}

async function output(
  command: string,
  args: readonly string[],
  cwd: URL,
): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(command, {
    args: [...args],
    cwd,
  }).output();
  if (!success) {
    throw new Error(`${command}: ${new TextDecoder().decode(stderr)}`);
  }
  return new TextDecoder().decode(stdout);
}
