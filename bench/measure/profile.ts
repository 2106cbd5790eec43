/**
 * Summary of the processor profiles that Deno wrote for a gateway.
 */

/**
 * The table of the functions with the most self time on the main thread, from each profile in a
 * folder.
 */
export async function profileLines(folder: string): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const { name } of Deno.readDir(folder)) {
    if (!name.endsWith(".md")) continue;
    const text = await Deno.readTextFile(`${folder}/${name}`);
    const table = /## Hot Functions[^\n]*\n\n([^]*?)\n\n/.exec(text)?.[1];
    if (table !== undefined) lines.push("", `profile ${name}`, table);
  }
  return lines;
}
