/**
 * This executable of Deno, and the further ones that `TEST_DENO_VERSIONS` names, separated by
 * colons.
 */
export const DENOS: readonly {
  readonly deno: string;
  /** Such as `deno 2.8.2`. */
  readonly version: string;
}[] = await Promise.all(
  [
    Deno.execPath(),
    ...(Deno.env.get("TEST_DENO_VERSIONS") ?? "").split(":"),
  ].filter((path) => path !== "").map(async (deno) => {
    const { stdout } = await new Deno.Command(deno, { args: ["-V"] }).output();
    return { deno, version: new TextDecoder().decode(stdout).trim() };
  }),
);
