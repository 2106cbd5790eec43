/**
 * The program in the image: the modules that `main.ts` and the command line for operators can load,
 * and a configuration and a lock for just them.
 */
import { dirname, join } from "node:path";
import { productLock } from "./product_lock.ts";
import { run } from "./run.ts";

const ENTRY_POINTS = ["main.ts", "gateway/cli/cli.ts"];
const OTHER_FILES = ["LICENSE", "deploy/image/health_check.ts"];

/** Copies the program from the checkout at `root` to the folder `app`. */
export async function copyApp(root: string, app: string): Promise<void> {
  const paths = new Set(OTHER_FILES);
  for (const entry of ENTRY_POINTS) {
    for (const path of await modulesOf(root, entry)) paths.add(path);
  }
  for (const path of paths) {
    const target = join(app, path);
    await Deno.mkdir(dirname(target), { recursive: true });
    await Deno.copyFile(join(root, path), target);
  }
  const { version, unstable, nodeModulesDir, imports, compilerOptions } = JSON
    .parse(await Deno.readTextFile(join(root, "deno.json")));
  const own = Object.entries<string>(imports).filter(([, target]) =>
    target.startsWith("npm:") || paths.has(target.slice("./".length))
  );
  const wanted = own.flatMap(([, target]) =>
    // A part of a package, such as `npm:preact@10.29.0/jsx-runtime`, is in the package's own line.
    /^npm:@?[^@]+@[^/]+$/.test(target) ? [target] : []
  ).toSorted();
  await Deno.writeTextFile(
    join(app, "deno.lock"),
    JSON.stringify(
      productLock(
        JSON.parse(await Deno.readTextFile(join(root, "deno.lock"))),
        wanted,
      ),
      null,
      2,
    ),
  );
  await Deno.writeTextFile(
    join(app, "deno.json"),
    JSON.stringify(
      {
        version,
        unstable,
        nodeModulesDir,
        lock: false,
        imports: Object.fromEntries(own),
        compilerOptions,
      },
      null,
      2,
    ),
  );
}

/**
 * Downloads the packages that the program in the folder `app` can load, by its lock, into the
 * `DENO_DIR` at `packages`.
 */
export async function cachePackages(
  deno: string,
  app: string,
  packages: string,
): Promise<void> {
  await run(deno, ["cache", "--lock=deno.lock", "--frozen", ...ENTRY_POINTS], {
    cwd: app,
    env: { DENO_DIR: packages, DENO_NO_UPDATE_CHECK: "1" },
  });
  // Compiled modules and databases differ from build to build, and are not needed.
  for await (const { name } of Deno.readDir(packages)) {
    if (name !== "npm") {
      await Deno.remove(join(packages, name), { recursive: true });
    }
  }
  await removeUnused(packages);
}

/** A package's files for compilers and debuggers, and the registry's answer about its versions. */
const UNUSED = /(?:\.d\.[cm]?ts|\.map|^registry\.json)$/;

async function removeUnused(folder: string): Promise<void> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = join(folder, name);
    if (isDirectory) await removeUnused(path);
    else if (UNUSED.test(name)) await Deno.remove(path);
  }
}

/** Paths of the modules of the checkout that a module loads, those loaded later included. */
async function modulesOf(root: string, entry: string): Promise<string[]> {
  const graph: { modules: { specifier: string; error?: string }[] } = JSON
    .parse(
      await run(
        Deno.execPath(),
        ["info", "--json", "--lock=deno.lock", entry],
        { cwd: root },
      ),
    );
  const prefix = new URL(`file://${root}/`).href;
  return graph.modules.flatMap(({ specifier, error }) => {
    if (error !== undefined) throw new Error(`${specifier}: ${error}`);
    return specifier.startsWith(prefix)
      ? [decodeURIComponent(specifier.slice(prefix.length))]
      : [];
  });
}
