/**
 * The parser of the file that `GATEWAY_CONFIG` names. `catalogue.ts` applies its overrides.
 *
 * @module
 */
import { duplicateKey } from "../../translate/bytes/duplicate_key.ts";
import { type CatalogueOverrides, catalogueShape } from "./catalogue_shape.ts";
import { MODELS } from "./models.ts";
import type { Vendor } from "./vendors.ts";
import { VENDORS } from "./vendors.ts";
import { addedVendor, vendorProblems } from "./vendor_settings.ts";
import { isWildcard, mayBeListed, wildcardProblems } from "./wildcards.ts";

/** The file's content, or one line per problem. */
export type CatalogueFile =
  | { readonly ok: true; readonly overrides: CatalogueOverrides }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Parses the file's text. */
export function parseCatalogueFile(text: string): CatalogueFile {
  let json: unknown;
  try {
    json = JSON.parse(text);
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
  const parsed = catalogueShape.safeParse(json);
  if (parsed.success) {
    const problems = inconsistencies(parsed.data);
    return problems.length === 0
      ? { ok: true, overrides: parsed.data }
      : { ok: false, problems };
  }
  return {
    ok: false,
    problems: parsed.error.issues.map((issue) =>
      `${issue.path.join(".") || "top level"}: ${issue.message}`
    ),
  };
}

/** An unexpected token as V8 reports it, with a piece of the text around it. */
const WITH_TEXT =
  /^(Unexpected token .{1,5}), (?:\.\.\.)?"([^]*)"(?:\.\.\.)? is not valid JSON$/u;

/** The parser's message with the line in place of the text, which may be a key. */
function withoutText(message: string, text: string): string {
  const [, problem, piece = ""] = WITH_TEXT.exec(message) ?? [];
  if (problem === undefined) return message;
  const line = text.slice(0, text.indexOf(piece)).split("\n").length;
  return `${problem} near line ${line}`;
}

/** Checks across rows: vendors exist, and rows are consistent with each other. */
function inconsistencies(file: CatalogueOverrides): readonly string[] {
  const problems: string[] = [];
  const vendors = new Map<string, Vendor>(
    VENDORS.map((vendor) => [vendor.name, vendor]),
  );
  /** Vendors whose rows have a problem of their own, so that their models are not checked. */
  const invalid = new Set<string>();
  for (const [name, row] of Object.entries(file.vendors ?? {})) {
    problems.push(...vendorProblems(name, row));
    const vendor = addedVendor(name, row);
    if (vendor !== undefined) vendors.set(name, vendor);
    else if (!vendors.has(name)) invalid.add(name);
  }
  for (const [id, model] of Object.entries(file.models ?? {})) {
    const exists = (name: string): boolean =>
      vendors.has(name) || invalid.has(name);
    if (isWildcard(id)) {
      problems.push(...wildcardProblems(id, model, file));
      continue;
    }
    if (model?.alias !== undefined) {
      const target = file.models?.[model.alias];
      if (
        target === null || target?.alias !== undefined ||
        (target === undefined &&
          !MODELS.some((row) => row.id === model.alias) &&
          !mayBeListed(file, model.alias)) ||
        isWildcard(model.alias)
      ) {
        problems.push(`models.${id}.alias: there is no model ${model.alias}`);
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
      problems.push(`models.${id}.vendor: no such vendor`);
    }
    const seen = new Set<string>();
    for (const [i, candidate] of (model?.candidates ?? []).entries()) {
      const at = `models.${id}.candidates.${i}`;
      const { dialect, route } = candidate;
      const dialects = vendors.get(candidate.vendor)?.dialects;
      const name = `${candidate.vendor}/${candidate.upstream_model}`;
      if (!exists(candidate.vendor)) {
        problems.push(`${at}.vendor: no such vendor`);
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
  return problems;
}

function routeNames(dialects: Vendor["dialects"]): string {
  return dialects.flatMap(({ routes }) => Object.keys(routes ?? {}))
    .join(", ") || "none";
}
