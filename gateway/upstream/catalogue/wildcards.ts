/**
 * Wildcard rows of the configuration file, such as `groq/*`: each offers the models that its vendor
 * lists. They become one row for each listed model before the catalogue is made.
 */
import type { CatalogueOverrides, ModelOverride } from "./catalogue_shape.ts";

/** The ids that hosts list, by vendor. */
export type ListedIds = Readonly<Record<string, readonly string[]>>;

interface Wildcard {
  readonly vendor: string;
  /** What the host's ids begin with; empty for all. */
  readonly prefix: string;
  /** Null: the models that match are not offered. */
  readonly row: ModelOverride | null;
}

const OWN_FIELDS: ReadonlySet<string> = new Set([
  "vendor",
  "betas",
  "allowed_betas",
  "context_tokens",
  "price",
  "free",
  "capabilities",
  "timeouts",
]);

/** Whether the id of a row is a pattern. */
export function isWildcard(id: string): boolean {
  return id.includes("*");
}

/** What is wrong with a wildcard row; each problem begins with the row's path. */
export function wildcardProblems(
  id: string,
  row: ModelOverride | null,
  { vendors = {} }: CatalogueOverrides,
): readonly string[] {
  const at = `models.${id}`;
  const slash = id.indexOf("/");
  const vendor = slash < 1 ? undefined : id.slice(0, slash);
  if (vendor === undefined || id.indexOf("*") !== id.length - 1) {
    return [
      `${at}: a wildcard is VENDOR/* or VENDOR/PREFIX*, with one star at its end`,
    ];
  }
  const kind = vendors[vendor]?.kind;
  if (kind !== "openai_compatible") {
    return [
      `${at}: a wildcard needs a vendor of the kind openai_compatible in vendors; ${
        kind === undefined
          ? `there is no vendor ${vendor}`
          : `${vendor} is of the kind ${kind}`
      }`,
    ];
  }
  if (row === null) return [];
  const problems: string[] = [];
  if (row.vendor !== undefined && row.vendor !== vendor) {
    problems.push(`${at}.vendor: must be ${vendor}, as in the row's id`);
  }
  const others = Object.keys(row).filter((key) => !OWN_FIELDS.has(key));
  if (others.length > 0) {
    problems.push(`${at}: a wildcard does not take ${others.join(", ")}`);
  }
  return problems;
}

/** The wildcard that decides about an id, which need not be listed; undefined if none does. */
function wildcardOf(
  wildcards: readonly Wildcard[],
  vendor: string,
  upstreamModel: string,
): Wildcard | undefined {
  let found: Wildcard | undefined;
  for (const one of wildcards) {
    if (
      one.vendor === vendor && upstreamModel.startsWith(one.prefix) &&
      one.prefix.length >= (found?.prefix.length ?? 0)
    ) found = one;
  }
  return found;
}

function wildcardsOf({ models = {} }: CatalogueOverrides): Wildcard[] {
  return Object.entries(models).filter(([id]) => isWildcard(id)).map(
    ([id, row]) => {
      const slash = id.indexOf("/");
      return {
        vendor: id.slice(0, slash),
        prefix: id.slice(slash + 1, -1),
        row,
      };
    },
  );
}

/** Whether a model with this id exists as soon as its host lists it. */
export function mayBeListed(file: CatalogueOverrides, id: string): boolean {
  const slash = id.indexOf("/");
  const match = wildcardOf(
    wildcardsOf(file),
    id.slice(0, Math.max(slash, 0)),
    id.slice(slash + 1),
  );
  return match !== undefined && match.row !== null;
}

/** By vendor, which of the host's ids the wildcard rows offer. */
export function wantedIds(
  file: CatalogueOverrides,
): ReadonlyMap<string, (upstreamModel: string) => boolean> {
  const wildcards = wildcardsOf(file);
  return new Map(
    wildcards.filter(({ row }) => row !== null).map(({ vendor }) => [
      vendor,
      (id) => {
        const match = wildcardOf(wildcards, vendor, id);
        return match !== undefined && match.row !== null;
      },
    ]),
  );
}

/**
 * The file with a row for each listed model in place of the wildcard rows. The longest pattern
 * wins, and a row of the file wins over every pattern. A model whose pattern has no price is
 * refused.
 */
export function withListed(
  file: CatalogueOverrides,
  listed: ListedIds,
): CatalogueOverrides {
  const rows = Object.entries(file.models ?? {});
  const wildcards = wildcardsOf(file);
  if (wildcards.length === 0) return file;
  const own = new Map(rows.filter(([id]) => !isWildcard(id)));
  const added = new Map<string, ModelOverride>();
  for (const [vendor, ids] of Object.entries(listed)) {
    for (const upstreamModel of ids) {
      const id = `${vendor}/${upstreamModel}`;
      const row = wildcardOf(wildcards, vendor, upstreamModel)?.row;
      if (row === undefined || row === null || own.has(id)) continue;
      added.set(id, {
        ...row,
        vendor,
        upstream_model: upstreamModel,
        price: row.price ?? null,
      });
    }
  }
  return { ...file, models: Object.fromEntries([...own, ...added]) };
}
