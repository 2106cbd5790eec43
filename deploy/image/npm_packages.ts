/**
 * The npm packages of the image, by its lock.
 */
import { join } from "node:path";

export interface NpmPackage {
  readonly name: string;
  readonly version: string;
  /** Hash of its archive, as the registry and the lock have it: `sha512-` and base64. */
  readonly integrity: string;
  /** As its `package.json` has it. */
  readonly licence: string;
}

/** The packages of the lock in the folder `app`, with their files in the `DENO_DIR` `packages`. */
export async function npmPackages(
  app: string,
  packages: string,
): Promise<NpmPackage[]> {
  const { npm }: { npm: Record<string, { integrity: string }> } = JSON.parse(
    await Deno.readTextFile(join(app, "deno.lock")),
  );
  const found = new Map<string, NpmPackage>();
  for (const [key, { integrity }] of Object.entries(npm)) {
    const [, name = "", version = ""] = /^(@?[^@]+)@([^_]+)/.exec(key) ?? [];
    const folder = join(packages, "npm/registry.npmjs.org", name, version);
    const text = await Deno.readTextFile(join(folder, "package.json"));
    const { license } = JSON.parse(text);
    found.set(`${name}@${version}`, {
      name,
      version,
      integrity,
      licence: typeof license === "string" ? license : "",
    });
  }
  return [...found.values()];
}
