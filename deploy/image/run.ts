/** Runs a program to its end and gives its output; throws with what it wrote to standard error. */
export async function run(
  program: string,
  args: readonly string[],
  options: {
    /** Working directory. */
    readonly cwd?: string;
    /** In addition to this process's environment. */
    readonly env?: Readonly<Record<string, string>>;
  } = {},
): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(program, {
    args: [...args],
    ...options,
    stdin: "null",
  }).output();
  if (!success) {
    throw new Error(
      `${program} ${args.join(" ")} failed:\n${
        new TextDecoder().decode(stderr)
      }`,
    );
  }
  return new TextDecoder().decode(stdout);
}
