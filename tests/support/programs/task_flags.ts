/** The permissions and unstable features of a task of deno.json, as flags. */
export async function taskFlags(task: string): Promise<readonly string[]> {
  const { tasks } = JSON.parse(
    await Deno.readTextFile(new URL("../../../deno.json", import.meta.url)),
  );
  const words: readonly string[] = String(tasks[task]).split(" ");
  return words.filter((word) => /^--(no-prompt$|allow-|unstable-)/.test(word));
}
