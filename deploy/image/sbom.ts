/**
 * The bill of materials of the image, in CycloneDX's JSON (https://cyclonedx.org/docs/1.6/json/),
 * and the list of licences.
 */
import type { DebianPackage } from "./debian.ts";
import type { NpmPackage } from "./npm_packages.ts";

/** What the image consists of. */
export interface Contents {
  readonly version: string;
  /** The runtime's own package. */
  readonly runtime: NpmPackage;
  readonly debian: readonly DebianPackage[];
  readonly npm: readonly NpmPackage[];
  /** Unix time in seconds, the same for all files. */
  readonly epoch: number;
}

/** The bill of materials; the same contents give the same bytes. */
export function sbom(contents: Contents): string {
  const { version, runtime, debian, npm, epoch } = contents;
  const gateway = {
    type: "application",
    "bom-ref": `pkg:generic/model-gateway@${version}`,
    name: "model-gateway",
    version,
    licenses: [{ license: { id: "MIT" } }],
    purl: `pkg:generic/model-gateway@${version}`,
  };
  return `${
    JSON.stringify(
      {
        bomFormat: "CycloneDX",
        specVersion: "1.6",
        version: 1,
        metadata: {
          timestamp: new Date(epoch * 1000).toISOString(),
          component: gateway,
        },
        components: [
          ...[runtime, ...npm].map(npmComponent),
          ...debian.map(debianComponent),
        ],
        dependencies: dependencyGraph(contents, gateway["bom-ref"]),
      },
      null,
      2,
    )
  }\n`;
}

/** Which component imports which: the product its packages, these theirs, the runtime its libraries. */
function dependencyGraph(
  { runtime, npm, debian }: Contents,
  gateway: string,
): readonly { readonly ref: string; readonly dependsOn: readonly string[] }[] {
  const refs = new Map(
    npm.map((one) => [`${one.name}@${one.version}`, npmRef(one)]),
  );
  const libraries = debian.filter(({ name }) => name.startsWith("lib"));
  const others = debian.filter((one) => !libraries.includes(one));
  return [
    {
      ref: gateway,
      dependsOn: [
        npmRef(runtime),
        ...npm.filter(({ isDirect }) => isDirect).map(npmRef),
        ...others.map(debianRef),
      ],
    },
    { ref: npmRef(runtime), dependsOn: libraries.map(debianRef) },
    ...npm.map((one) => ({
      ref: npmRef(one),
      dependsOn: [
        ...new Set(one.dependencies.flatMap((id) => refs.get(id) ?? [])),
      ],
    })),
    ...debian.map((one) => ({ ref: debianRef(one), dependsOn: [] })),
  ];
}

function npmRef({ name, version }: NpmPackage): string {
  return `pkg:npm/${name.replace("@", "%40")}@${version}`;
}

function debianRef({ name, version, architecture }: DebianPackage): string {
  return `pkg:deb/debian/${name}@${
    encodeURIComponent(version)
  }?arch=${architecture}`;
}

function npmComponent(one: NpmPackage): object {
  const { name, version, integrity, licence } = one;
  const purl = npmRef(one);
  return {
    type: "library",
    "bom-ref": purl,
    name,
    version,
    hashes: [{ alg: "SHA-512", content: hexOf(integrity) }],
    licenses: [{ expression: licence }],
    purl,
  };
}

function debianComponent(one: DebianPackage): object {
  const { name, version, licences } = one;
  const purl = debianRef(one);
  return {
    type: "library",
    "bom-ref": purl,
    name,
    version,
    licenses: licences.map((licence) => ({ license: { name: licence } })),
    purl,
  };
}

/** The hash of `sha512-…` in hexadecimal digits. */
function hexOf(integrity: string): string {
  return Uint8Array.fromBase64(integrity.slice("sha512-".length)).toHex();
}

/** A line for each package: name, version, licence. */
export function licenceList(
  { version, runtime, debian, npm }: Contents,
): string {
  const rows = [
    ["model-gateway", version, "MIT"],
    ...[runtime, ...npm].map((
      { name, version, licence },
    ) => [name, version, licence]),
    ...debian.map((
      { name, version, licences },
    ) => [name, version, licences.join(", ")]),
  ];
  return rows.map((row) => `${row.join("  ")}\n`).join("");
}
