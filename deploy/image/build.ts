/**
 * Builds the image of the gateway from Debian's packages, Deno's npm package and the npm packages
 * of the program:
 *
 *     deno task image                      # dist/model-gateway.oci.tar, dist/sbom.cdx.json, dist/licences.txt
 *     deno task image --tree=/opt/gateway  # only the tree, for the Containerfile and for systemd
 *
 * Two builds of one commit from the same versions of packages are equal byte for byte.
 * `SOURCE_DATE_EPOCH` dates its files; without it, the date is that of the commit.
 */
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { cachePackages, copyApp } from "./app.ts";
import { copyDebian } from "./debian.ts";
import { npmPackages } from "./npm_packages.ts";
import { writeOciArchive } from "./oci_archive.ts";
import { PLACES, ROOT_CONFIG } from "./places.ts";
import { run } from "./run.ts";
import { copyRuntime } from "./runtime.ts";
import { type Contents, licenceList, sbom } from "./sbom.ts";

const ROOT = resolve(import.meta.dirname ?? ".", "../..");

/** Builds the tree of the image in an empty folder. */
async function buildTree(
  tree: string,
  epoch: number,
): Promise<Contents> {
  const at = (name: keyof typeof PLACES): string => join(tree, PLACES[name]);
  await Deno.mkdir(tree, { recursive: true });
  if ([...Deno.readDirSync(tree)].length > 0) {
    throw new Error(`${tree} is not empty`);
  }
  const debian = await copyDebian(tree);
  const runtime = await copyRuntime(at("deno"));
  await copyApp(ROOT, at("app"));
  await cachePackages(at("deno"), at("app"), at("packages"));
  // Mount points: a read-only root cannot get them later.
  for (
    const path of [
      PLACES.data,
      "dev",
      "proc",
      "sys",
      "tmp",
      "run/secrets",
      "etc/model-gateway",
    ]
  ) await Deno.mkdir(join(tree, path), { recursive: true });
  await Deno.symlink("../run", join(tree, "var/run"));
  await Deno.writeTextFile(join(tree, "deno.json"), ROOT_CONFIG);
  const { version } = JSON.parse(
    await Deno.readTextFile(join(ROOT, "deno.json")),
  );
  const contents = {
    version,
    runtime,
    debian,
    npm: await npmPackages(at("app"), at("packages")),
    epoch,
  };
  await Deno.mkdir(dirname(at("sbom")), { recursive: true });
  await Deno.writeTextFile(at("sbom"), sbom(contents));
  await Deno.writeTextFile(at("licences"), licenceList(contents));
  return contents;
}

async function sourceEpoch(): Promise<number> {
  const given = Deno.env.get("SOURCE_DATE_EPOCH");
  return Number(
    given ?? await run("git", ["log", "-1", "--format=%ct"], { cwd: ROOT }),
  );
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    args: Deno.args,
    strict: false,
    options: { tree: { type: "string" }, to: { type: "string" } },
  });
  const { tree, to: folder, ...others } = values;
  if (
    typeof tree === "boolean" || typeof folder === "boolean" ||
    positionals.length + Object.keys(others).length > 0
  ) {
    // deno-lint-ignore no-console
    console.error("deno task image [--tree=FOLDER | --to=FOLDER]");
    Deno.exit(others["help"] === true ? 0 : 2);
  }
  const epoch = await sourceEpoch();
  if (tree !== undefined) {
    await buildTree(resolve(tree), epoch);
    return;
  }
  const to = resolve(folder ?? join(ROOT, "dist"));
  await Deno.mkdir(to, { recursive: true });
  const work = await Deno.makeTempDir();
  try {
    const tree = join(work, "tree");
    const { version } = await buildTree(tree, epoch);
    const archive = join(to, "model-gateway.oci.tar");
    const { digest, layerBytes } = await writeOciArchive({
      tree,
      archive,
      version,
      epoch,
    });
    await Deno.copyFile(join(tree, PLACES.sbom), join(to, "sbom.cdx.json"));
    await Deno.copyFile(join(tree, PLACES.licences), join(to, "licences.txt"));
    const { size } = await Deno.stat(archive);
    const megabytes = (bytes: number): string =>
      `${(bytes / 1e6).toFixed(1)} MB`;
    // deno-lint-ignore no-console
    console.log(
      `${archive}: ${digest}, ${megabytes(size)}; unpacked ${
        megabytes(layerBytes)
      }`,
    );
  } finally {
    await Deno.remove(work, { recursive: true });
  }
}

if (import.meta.main) await main();
