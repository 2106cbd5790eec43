/**
 * Keeps processes on chosen cores, so that a load generator takes no time from the program that it
 * measures. Linux with `taskset` only.
 */

/**
 * Keeps a process on a core: its threads, and the threads and processes that they start. Returns
 * whether that was possible: never with a single core, where nothing would be apart.
 */
export async function pin(pid: number, core: number): Promise<boolean> {
  if (Deno.build.os !== "linux" || navigator.hardwareConcurrency < 2) {
    return false;
  }
  const { success } = await new Deno.Command("taskset", {
    args: ["--all-tasks", "--cpu-list", "--pid", `${core}`, `${pid}`],
    stdout: "null",
    stderr: "null",
  }).output().catch(() => ({ success: false }));
  return success;
}
