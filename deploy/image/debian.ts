/**
 * The part of the image that comes from Debian: the C library, authorities of certificates, and
 * what scanners look at. `apt-get download` and `dpkg-deb` need no privilege.
 */
import { basename, dirname, join } from "node:path";
import { run } from "./run.ts";

export interface DebianPackage {
  readonly name: string;
  readonly version: string;
  readonly architecture: string;
  /** Names of the licences, as its copyright file has them. */
  readonly licences: readonly string[];
}

/** The packages, and which of their files the image has. */
const PACKAGES: Readonly<Record<string, RegExp>> = {
  "base-files": /^usr\/lib\/os-release$/,
  "ca-certificates": /^usr\/share\/ca-certificates\/mozilla\/.*\.crt$/,
  "libc6": /^(?:usr\/)?lib\d*\/(?:[^/]*-linux-gnu\/)?[^/]*\.so[^/]*$/,
  "libgcc-s1": /^(?:usr\/)?lib\/[^/]*\/libgcc_s\.so[^/]*$/,
};

const ACCOUNTS = {
  "etc/passwd":
    "root:x:0:0:root:/:/nonexistent\ngateway:x:65532:65532:gateway:/data:/nonexistent\n",
  "etc/group": "root:x:0:\ngateway:x:65532:\n",
  "etc/nsswitch.conf": "hosts: files dns\n",
};

/** Fills the folder `tree` from Debian's packages. */
export async function copyDebian(tree: string): Promise<DebianPackage[]> {
  const work = await Deno.makeTempDir();
  try {
    // Merged folders, as Debian has them: the loader is found at /lib64.
    for (const name of ["lib", "lib64"]) {
      await Deno.mkdir(join(tree, "usr", name), { recursive: true });
      await Deno.symlink(`usr/${name}`, join(tree, name));
    }
    await Deno.mkdir(join(tree, "etc/ssl/certs"), { recursive: true });
    for (const [path, text] of Object.entries(ACCOUNTS)) {
      await Deno.writeTextFile(join(tree, path), text);
    }
    const found: DebianPackage[] = [];
    for (const [name, wanted] of Object.entries(PACKAGES)) {
      found.push(await copyPackage(name, wanted, work, tree));
    }
    await Deno.symlink(
      "../usr/lib/os-release",
      join(tree, "etc/os-release"),
    );
    return found;
  } finally {
    await Deno.remove(work, { recursive: true });
  }
}

async function copyPackage(
  name: string,
  wanted: RegExp,
  work: string,
  tree: string,
): Promise<DebianPackage> {
  const { control, folder } = await unpack(name, work);
  const certificates: string[] = [];
  for (const path of filesIn(folder).toSorted()) {
    if (!wanted.test(path)) continue;
    if (path.endsWith(".crt")) {
      certificates.push(await Deno.readTextFile(join(folder, path)));
    } else {
      await copy(
        join(folder, path),
        join(tree, /^lib\d*\//.test(path) ? `usr/${path}` : path),
      );
    }
  }
  if (certificates.length > 0) {
    await Deno.writeTextFile(
      join(tree, "etc/ssl/certs/ca-certificates.crt"),
      certificates.join(""),
    );
  }
  const copyright = await copyrightOf(name, folder, work);
  await copy(copyright, join(tree, `usr/share/doc/${name}/copyright`));
  // Where scanners of images look for the packages of a root file system without dpkg.
  const status = join(tree, "var/lib/dpkg/status.d", name);
  await Deno.mkdir(dirname(status), { recursive: true });
  await Deno.writeTextFile(
    status,
    control.replace(/^(?=Version: )/m, "Status: install ok installed\n"),
  );
  return {
    name,
    version: field(control, "Version"),
    architecture: field(control, "Architecture"),
    licences: licencesIn(await Deno.readTextFile(copyright)),
  };
}

/** Downloads a package and unpacks it; nothing of it is run. */
async function unpack(
  name: string,
  work: string,
): Promise<{ readonly control: string; readonly folder: string }> {
  const folder = join(work, name);
  const archives = join(work, `${name}-archive`);
  await Deno.mkdir(archives);
  await run("apt-get", ["download", "-qq", name], { cwd: archives });
  const [archive] = [...Deno.readDirSync(archives)];
  if (archive === undefined) throw new Error(`${name} was not downloaded`);
  const path = join(archives, archive.name);
  await run("dpkg-deb", ["-x", path, folder]);
  return { control: await run("dpkg-deb", ["-f", path]), folder };
}

/** The copyright file of a package, which may be that of another package from the same source. */
async function copyrightOf(
  name: string,
  folder: string,
  work: string,
): Promise<string> {
  const documents = join(folder, "usr/share/doc", name);
  if (!(await Deno.lstat(documents)).isSymlink) {
    return join(documents, "copyright");
  }
  const owner = basename(await Deno.readLink(documents));
  const { folder: other } = await unpack(owner, work);
  return join(other, "usr/share/doc", owner, "copyright");
}

async function copy(source: string, target: string): Promise<void> {
  await Deno.mkdir(dirname(target), { recursive: true });
  const { isSymlink } = await Deno.lstat(source);
  if (isSymlink) {
    await Deno.symlink(await Deno.readLink(source), target);
  } else await Deno.copyFile(source, target);
}

/** Paths below a folder of everything but folders. */
function filesIn(folder: string, below = ""): string[] {
  return [...Deno.readDirSync(join(folder, below))].flatMap((
    { name, isDirectory },
  ) => isDirectory ? filesIn(folder, join(below, name)) : [join(below, name)]);
}

function field(control: string, name: string): string {
  const value = new RegExp(`^${name}: (.*)$`, "m").exec(control)?.[1];
  if (value === undefined) throw new Error(`a package has no ${name}`);
  return value;
}

/**
 * The licences that a copyright file names: in its fields, else by the common texts that it refers
 * to.
 */
function licencesIn(copyright: string): string[] {
  const fields = [...copyright.matchAll(/^License: (\S.*)$/gm)].map((
    [, name = ""],
  ) => name.trim());
  const common = [...copyright.matchAll(/common-licenses\/([\w.+-]+\w)/g)].map((
    [, name = ""],
  ) => name);
  return [...new Set(fields.length > 0 ? fields : common)].toSorted();
}
