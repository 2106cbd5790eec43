/**
 * Deno, as its npm package has it.
 */
import { dirname, join } from "node:path";
import type { NpmPackage } from "./npm_packages.ts";
import { run } from "./run.ts";

const PACKAGES: Readonly<Record<string, string>> = {
  x86_64: "@deno/linux-x64-glibc",
  aarch64: "@deno/linux-arm64-glibc",
};

/**
 * Copies the runtime of this process's version to `target`; npm checks its archive against the
 * registry.
 */
export async function copyRuntime(target: string): Promise<NpmPackage> {
  const name = PACKAGES[Deno.build.arch];
  if (name === undefined) {
    throw new Error(`there is no image for ${Deno.build.arch}`);
  }
  const version = Deno.version.deno;
  const work = await Deno.makeTempDir();
  try {
    const [packed]: { filename: string; integrity: string }[] = JSON.parse(
      await run("npm", ["pack", "--json", `${name}@${version}`], {
        cwd: work,
      }),
    );
    if (packed === undefined) throw new Error(`npm packed no ${name}`);
    await run("tar", ["-xzf", packed.filename], { cwd: work });
    await Deno.mkdir(dirname(target), { recursive: true });
    await Deno.copyFile(join(work, "package/deno"), target);
    await Deno.chmod(target, 0o755);
    const { license } = JSON.parse(
      await Deno.readTextFile(join(work, "package/package.json")),
    );
    return {
      name,
      version,
      integrity: packed.integrity,
      licence: license,
      dependencies: [],
      isDirect: true,
    };
  } finally {
    await Deno.remove(work, { recursive: true });
  }
}
