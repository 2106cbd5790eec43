/**
 * The npm packages of the image, by its lock.
 */
import { join } from "node:path";
import { keyOf, type Lock } from "./product_lock.ts";

export interface NpmPackage {
  readonly name: string;
  readonly version: string;
  /** Hash of its archive, as the registry and the lock have it: `sha512-` and base64. */
  readonly integrity: string;
  /** As its `package.json` has it. */
  readonly licence: string;
  /** Names and versions of the packages that it imports: `name@version`. */
  readonly dependencies: readonly string[];
  /** Whether the product imports it. */
  readonly isDirect: boolean;
}

/** The packages of the lock in the folder `app`, with their files in the `DENO_DIR` `packages`. */
export async function npmPackages(
  app: string,
  packages: string,
): Promise<NpmPackage[]> {
  const lock: Lock = JSON.parse(
    await Deno.readTextFile(join(app, "deno.lock")),
  );
  const idOf = (id: string): string =>
    nameAndVersion(keyOf(lock, id)).join("@");
  const direct = new Set(
    Object.entries(lock.specifiers).map(([specifier, version]) =>
      idOf(`${/^npm:(@?[^@]+)/.exec(specifier)?.[1]}@${version}`)
    ),
  );
  const found = new Map<string, NpmPackage>();
  for (const [key, locked] of Object.entries(lock.npm)) {
    const { integrity, dependencies = [], optionalDependencies = [] } = locked;
    const [name, version] = nameAndVersion(key);
    const folder = join(packages, "npm/registry.npmjs.org", name, version);
    const text = await Deno.readTextFile(join(folder, "package.json"));
    const { license } = JSON.parse(text);
    found.set(`${name}@${version}`, {
      name,
      version,
      integrity,
      licence: typeof license === "string" ? license : "",
      dependencies: [...dependencies, ...optionalDependencies].map(idOf),
      isDirect: direct.has(`${name}@${version}`),
    });
  }
  return [...found.values()];
}

/** The name and the version in a key of the lock, without the versions of peers. */
function nameAndVersion(key: string): readonly [string, string] {
  const [, name = "", version = ""] = /^(@?[^@]+)@([^_]+)/.exec(key) ?? [];
  return [name, version];
}
