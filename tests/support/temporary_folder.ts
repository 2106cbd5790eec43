/** A folder for the files of a test. Disposing of it removes it with all that it holds. */
export async function temporaryFolder(): Promise<
  AsyncDisposable & { readonly path: string }
> {
  const path = await Deno.makeTempDir();
  return {
    path,
    [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }),
  };
}
