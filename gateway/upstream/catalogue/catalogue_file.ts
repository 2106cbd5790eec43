/**
 * The parser of the file that `GATEWAY_CONFIG` names. `catalogue.ts` applies its overrides.
 */
import { duplicateKey } from "../../../translate/bytes/duplicate_key.ts";
import { type JsonObject, objectOr } from "../../../translate/bytes/json.ts";
import {
  type CatalogueOverrides,
  catalogueShape,
  type ModelOverride,
} from "./catalogue_shape.ts";
import { MODELS } from "./models.ts";
import { routeProblems } from "./route_problems.ts";
import { allowedText, meant, noSuch } from "./setting_errors.ts";
import type { z } from "zod";
import { type Vendor, VENDORS } from "./vendors.ts";
import { addedVendor, vendorProblems } from "./vendor_settings.ts";
import { isWildcard, mayBeListed, wildcardProblems } from "./wildcards.ts";

/** The file's content, or one line per problem. */
export type CatalogueFile =
  | {
    readonly ok: true;
    readonly overrides: CatalogueOverrides;
    /** The JSON as written. */
    readonly content: JsonObject;
  }
  | { readonly ok: false; readonly problems: readonly string[] };

export function parseCatalogueFile(text: string): CatalogueFile {
  let json: unknown;
  try {
    json = JSON.parse(text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text);
  } catch (error) {
    return {
      ok: false,
      problems: [
        `not JSON: ${
          error instanceof Error
            ? withoutText(error.message, text)
            : "unreadable"
        }`,
      ],
    };
  }
  const twice = duplicateKey(text);
  if (twice !== undefined) {
    return { ok: false, problems: [`${twice}: appears more than once`] };
  }
  const parsed = catalogueShape.safeParse(json, { error: allowedText });
  const problems = parsed.success ? inconsistencies(parsed.data) : [
    ...parsed.error.issues.map(problemOf),
    ...inconsistencies(...wellShaped(json, parsed.error.issues)),
  ];
  return parsed.success && problems.length === 0
    ? { ok: true, overrides: parsed.data, content: objectOr(json) }
    : { ok: false, problems };
}

const BYTE_ORDER_MARK = "\ufeff";

function problemOf(issue: z.core.$ZodIssue): string {
  // A name's own reason is one level down.
  const reason = issue.code === "invalid_key" ? issue.issues[0] : issue;
  return `${issue.path.join(".") || "top level"}: ${(reason ?? issue).message}`;
}

/**
 * The rows without an issue, so that their mistakes of meaning are reported as well, and the names
 * of the other vendors.
 */
function wellShaped(
  json: unknown,
  issues: readonly z.core.$ZodIssue[],
): [CatalogueOverrides, ReadonlySet<string>] {
  const faulty = (section: string): ReadonlySet<string> =>
    new Set(
      issues.flatMap(({ path: [first, row] }) =>
        first === section && row !== undefined ? [String(row)] : []
      ),
    );
  const [vendors, models, routes] = [
    faulty("vendors"),
    faulty("models"),
    faulty("routes"),
  ];
  const rows = (section: string, without: ReadonlySet<string>): JsonObject =>
    Object.fromEntries(
      Object.entries(objectOr(objectOr(json)[section]))
        .filter(([name]) => !without.has(name)),
    );
  const rest = catalogueShape.safeParse({
    vendors: rows("vendors", vendors),
    models: rows("models", models),
    routes: rows("routes", routes),
  });
  return [rest.data ?? {}, vendors];
}

/** An unexpected token as V8 reports it, with a piece of the text around it. */
const WITH_TEXT =
  /^(Unexpected token .{1,5}), (?:\.\.\.)?"([^]*)"(?:\.\.\.)? is not valid JSON$/u;

/** The parser's message with the line's number instead of the quoted text, which may be a key. */
function withoutText(message: string, text: string): string {
  const [, problem, piece = ""] = WITH_TEXT.exec(message) ?? [];
  if (problem === undefined) return message;
  const line = text.slice(0, text.indexOf(piece)).split("\n").length;
  return `${problem} near line ${line}`;
}

/**
 * Checks across rows: vendors exist, and rows are consistent with each other. Models of the
 * `unread` vendors are not checked against them.
 */
function inconsistencies(
  file: CatalogueOverrides,
  unread: ReadonlySet<string> = new Set(),
): readonly string[] {
  const problems: string[] = [];
  const vendors = new Map<string, Vendor>(
    VENDORS.map((vendor) => [vendor.name, vendor]),
  );
  /** Vendors whose rows have a problem of their own, so that their models are not checked. */
  const invalid = new Set<string>(unread);
  for (const [name, row] of Object.entries(file.vendors ?? {})) {
    problems.push(...vendorProblems(name, row));
    const vendor = addedVendor(name, row);
    if (vendor !== undefined) vendors.set(name, vendor);
    else if (!vendors.has(name)) invalid.add(name);
  }
  const exists = (name: string): boolean =>
    vendors.has(name) || invalid.has(name);
  const noVendor = (name: string): string =>
    noSuch("vendor", name, [...vendors.keys(), ...invalid]);
  const builtIn = new Set(MODELS.map(({ id }) => id));
  for (const [id, model] of Object.entries(file.models ?? {})) {
    if (isWildcard(id)) {
      problems.push(...wildcardProblems(id, model, file));
      continue;
    }
    if (model === null && !builtIn.has(id) && !mayBeListed(file, id)) {
      problems.push(
        `models.${id}: there is no such model to remove${meant(id, builtIn)}`,
      );
    }
    if (
      model !== null && !builtIn.has(id) && !mayBeListed(file, id) &&
      model.alias === undefined && model.vendor === undefined &&
      model.candidates === undefined
    ) {
      problems.push(
        `models.${id}: is not a built-in model, so it needs vendor, candidates or alias`,
      );
    }
    if (model?.alias !== undefined) {
      const target = file.models?.[model.alias];
      if (
        target === null || target?.alias !== undefined ||
        (target === undefined &&
          !builtIn.has(model.alias) &&
          !mayBeListed(file, model.alias)) ||
        isWildcard(model.alias)
      ) {
        problems.push(
          `models.${id}.alias: ${
            noSuch(
              "model",
              model.alias,
              [
                ...builtIn,
                ...Object.keys(file.models ?? {}),
              ].filter((name) => name !== id && !isWildcard(name)),
            )
          }`,
        );
      }
      const others = Object.keys(model).filter((key) =>
        key !== "alias" && key !== "display_name"
      );
      if (others.length > 0) {
        problems.push(
          `models.${id}: an alias has everything but display_name from its model: ${
            others.join(", ")
          }`,
        );
      }
    }
    if (model?.free === true && model.price !== undefined) {
      problems.push(`models.${id}.free: cannot be used together with price`);
    }
    if (model?.vendor !== undefined && !exists(model.vendor)) {
      problems.push(`models.${id}.vendor: ${noVendor(model.vendor)}`);
    }
    problems.push(...spaceProblems(id, model));
    const seen = new Set<string>();
    for (const [i, candidate] of (model?.candidates ?? []).entries()) {
      const at = `models.${id}.candidates.${i}`;
      const { dialect, route } = candidate;
      const dialects = vendors.get(candidate.vendor)?.dialects;
      const name = `${candidate.vendor}/${candidate.upstream_model}`;
      if (!exists(candidate.vendor)) {
        problems.push(`${at}.vendor: ${noVendor(candidate.vendor)}`);
      } else if (
        dialect !== undefined &&
        dialects?.some((one) => one.dialect === dialect) === false
      ) {
        problems.push(
          `${at}.dialect: the vendor does not support this dialect`,
        );
      } else if (
        route !== undefined &&
        dialects?.some(({ routes }) => routes?.[route] !== undefined) === false
      ) {
        problems.push(
          `${at}.route: the vendor has no such route; it has ${
            routeNames(dialects)
          }`,
        );
      }
      if (seen.has(name)) {
        problems.push(
          `${at}: the same vendor and model as an earlier candidate`,
        );
      }
      seen.add(name);
    }
  }
  problems.push(...routeProblems(file, vendors));
  return problems;
}

/**
 * Vectors of different models cannot be compared, so a reply must not come from another one by
 * chance.
 */
function spaceProblems(
  id: string,
  model: ModelOverride | null,
): readonly string[] {
  const [first, ...others] = model?.candidates ?? [];
  if (
    first === undefined || others.length === 0 ||
    model?.operations?.includes("embeddings") !== true
  ) return [];
  const space = first.vector_space;
  return [first, ...others].flatMap((one, i) =>
    one.vector_space !== undefined && one.vector_space === space ? [] : [
      `models.${id}.candidates.${i}.vector_space: every candidate of a model that makes embeddings needs the same one, because vectors of different spaces cannot be compared`,
    ]
  );
}

function routeNames(dialects: Vendor["dialects"]): string {
  return dialects.flatMap(({ routes }) => Object.keys(routes ?? {}))
    .join(", ") || "none";
}
