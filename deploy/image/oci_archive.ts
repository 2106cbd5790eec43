/**
 * An image of one layer as an OCI archive (https://github.com/opencontainers/image-spec). The same
 * tree gives the same bytes: `podman load`, `skopeo` and `umoci` read it.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { ENTRYPOINT, ENVIRONMENT, PLACES, USER } from "./places.ts";
import { run } from "./run.ts";

const LAYER = "application/vnd.oci.image.layer.v1.tar+gzip";
const CONFIG = "application/vnd.oci.image.config.v1+json";
const MANIFEST = "application/vnd.oci.image.manifest.v1+json";
const INDEX = "application/vnd.oci.image.index.v1+json";

interface Blob {
  readonly digest: string;
  readonly size: number;
}

/** Describes the archive that was written. */
interface OciArchive {
  /** Digest of the manifest, which identifies the image. */
  readonly digest: string;
  /** Bytes of the layer before compression. */
  readonly layerBytes: number;
}

/**
 * Packs the folder `tree` into an archive.
 *
 * @param epoch Unix time in seconds, for every file and for the image
 */
export async function writeOciArchive(
  { tree, archive, version, epoch }: {
    readonly tree: string;
    readonly archive: string;
    readonly version: string;
    readonly epoch: number;
  },
): Promise<OciArchive> {
  const work = await Deno.makeTempDir();
  try {
    const layout = join(work, "layout");
    const blobs = join(layout, "blobs/sha256");
    await Deno.mkdir(blobs, { recursive: true });
    const layer = join(work, "layer.tar");
    await writeLayer(tree, layer, epoch);
    const diffId = await digestOf(layer);
    const { size: layerBytes } = await Deno.stat(layer);
    await run("gzip", ["-n", "-3", layer]);
    const layerBlob = await addFile(`${layer}.gz`, blobs);
    const config = await addJson({
      created: new Date(epoch * 1000).toISOString(),
      architecture: Deno.build.arch === "aarch64" ? "arm64" : "amd64",
      os: "linux",
      config: {
        User: `${USER}:${USER}`,
        ExposedPorts: { [`${ENVIRONMENT["PORT"]}/tcp`]: {} },
        Env: Object.entries(ENVIRONMENT).map((pair) => pair.join("=")),
        Entrypoint: ENTRYPOINT,
        Volumes: { [`/${PLACES.data}`]: {} },
        WorkingDir: "/",
        StopSignal: "SIGTERM",
        Labels: {
          "org.opencontainers.image.title": "Model Gateway",
          "org.opencontainers.image.version": version,
          "org.opencontainers.image.licenses": "MIT",
        },
      },
      rootfs: { type: "layers", diff_ids: [diffId] },
      history: [{
        created: new Date(epoch * 1000).toISOString(),
        created_by: "deno task image",
      }],
    }, blobs);
    const manifest = await addJson({
      schemaVersion: 2,
      mediaType: MANIFEST,
      config: { mediaType: CONFIG, ...config },
      layers: [{ mediaType: LAYER, ...layerBlob }],
    }, blobs);
    const reference = `model-gateway:${version}`;
    await Deno.writeTextFile(
      join(layout, "oci-layout"),
      JSON.stringify({ imageLayoutVersion: "1.0.0" }),
    );
    await Deno.writeTextFile(
      join(layout, "index.json"),
      JSON.stringify({
        schemaVersion: 2,
        mediaType: INDEX,
        manifests: [{
          mediaType: MANIFEST,
          ...manifest,
          annotations: { "org.opencontainers.image.ref.name": reference },
        }],
      }),
    );
    await run("tar", [...sameBytes(epoch), "-cf", archive, "-C", layout, "."]);
    return { digest: manifest.digest, layerBytes };
  } finally {
    await Deno.remove(work, { recursive: true });
  }
}

/** Options of GNU tar that leave nothing of the machine and the moment in an archive. */
function sameBytes(epoch: number, user = 0): string[] {
  return [
    "--sort=name",
    "--format=gnu",
    "--numeric-owner",
    `--owner=${user}`,
    `--group=${user}`,
    `--mtime=@${epoch}`,
    "--mode=u=rwX,go=rX",
  ];
}

async function writeLayer(
  tree: string,
  layer: string,
  epoch: number,
): Promise<void> {
  await run("tar", [
    ...sameBytes(epoch),
    `--exclude=./${PLACES.data}`,
    "-cf",
    layer,
    "-C",
    tree,
    ".",
  ]);
  await run("tar", [
    ...sameBytes(epoch, USER),
    "-rf",
    layer,
    "-C",
    tree,
    `./${PLACES.data}`,
  ]);
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  using file = await Deno.open(path);
  for await (const piece of file.readable) hash.update(piece);
  return `sha256:${hash.digest("hex")}`;
}

async function addFile(path: string, blobs: string): Promise<Blob> {
  const digest = await digestOf(path);
  const { size } = await Deno.stat(path);
  await Deno.rename(path, join(blobs, digest.slice("sha256:".length)));
  return { digest, size };
}

async function addJson(value: unknown, blobs: string): Promise<Blob> {
  const path = await Deno.makeTempFile({ dir: blobs });
  await Deno.writeTextFile(path, JSON.stringify(value));
  return await addFile(path, blobs);
}
