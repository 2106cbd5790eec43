/**
 * What is wrong with the rows of `routes` in the configuration file, and with the models that name
 * them: no route is called without a price.
 */
import type { UnitMeter } from "../../accounts/charges/meters.ts";
import type { ModelOverride } from "./catalogue_shape.ts";
import { REQUIRED } from "./price_shape.ts";
import type { RouteSettings } from "./route_settings.ts";
import { noSuch } from "./setting_errors.ts";
import type { Vendor } from "./vendors.ts";

/** What models do without a row. */
const BUILT_IN_OPERATIONS = ["generation", "embeddings"] as const;

/** First parts of the gateway's paths below a version; `routes/mod_test.ts` checks them. */
export const OWN_PATHS: ReadonlySet<string> = new Set([
  "account",
  "calls",
  "chat",
  "embeddings",
  "messages",
  "models",
  "responses",
  "usage",
]);

/** What is wrong with the rows, and with the models that name them. */
export function routeProblems(
  { routes = {}, models = {} }: {
    readonly routes?: RouteSettings | undefined;
    readonly models?:
      | Readonly<Record<string, ModelOverride | null>>
      | undefined;
  },
  vendors: ReadonlyMap<string, Vendor>,
): readonly string[] {
  const problems: string[] = [];
  const seen = new Set<string>();
  for (const [name, { endpoint, vendor_paths }] of Object.entries(routes)) {
    const at = `routes.${name}`;
    if (BUILT_IN_OPERATIONS.some((one) => one === name)) {
      problems.push(`${at}: the gateway has this operation itself`);
    }
    if (OWN_PATHS.has(endpoint.split("/")[2] ?? "")) {
      problems.push(
        `${at}.endpoint: the gateway has endpoints of its own there`,
      );
    }
    if (seen.has(endpoint)) {
      problems.push(`${at}.endpoint: the same as of an earlier route`);
    }
    seen.add(endpoint);
    for (const vendor of Object.keys(vendor_paths ?? {})) {
      if (vendors.has(vendor)) continue;
      problems.push(
        `${at}.vendor_paths: ${noSuch("vendor", vendor, vendors.keys())}`,
      );
    }
  }
  for (const [id, model] of Object.entries(models)) {
    if (model === null) continue;
    problems.push(...modelProblems(id, model, routes, vendors));
  }
  return problems;
}

function modelProblems(
  id: string,
  model: ModelOverride,
  routes: RouteSettings,
  vendors: ReadonlyMap<string, Vendor>,
): readonly string[] {
  const at = `models.${id}`;
  const problems: string[] = [];
  const { operations = ["generation"] } = model;
  const known = [...BUILT_IN_OPERATIONS, ...Object.keys(routes)];
  for (const [i, name] of operations.entries()) {
    if (!known.includes(name)) {
      problems.push(
        `${at}.operations.${i}: ${noSuch("operation", name, known)}`,
      );
    }
  }
  const passed = operations.filter((name) => Object.hasOwn(routes, name));
  for (const [i, card] of cardsIn(model).entries()) {
    const where = Array.isArray(model.price) && model.price.length > 1
      ? `${at}.price.${i}`
      : `${at}.price`;
    const needed = operations.includes("generation")
      ? ["input", "output"] as const
      : operations.includes("embeddings")
      ? ["input"] as const
      : [];
    problems.push(
      ...needed.filter((name) => card[name] === undefined).map((name) =>
        `${where}.${name}: ${REQUIRED}`
      ),
    );
    if (card.input !== undefined || card.call !== undefined) continue;
    for (const name of passed) {
      const counts = Object.keys(routes[name]?.counts ?? {});
      if (counts.some((unit) => card[unit as UnitMeter] !== undefined)) {
        continue;
      }
      problems.push(
        `${where}: has no price for ${name}: needs ${
          ["input", "call", ...counts].join(" or ")
        }`,
      );
    }
  }
  if (model.allowed !== undefined && passed.length === 0) {
    problems.push(`${at}.allowed: is for models of configured routes only`);
  }
  if (passed.length === 0) return problems;
  const names = model.candidates?.map(({ vendor }) => vendor) ??
    (model.vendor === undefined ? [] : [model.vendor]);
  for (const vendor of names.flatMap((name) => vendors.get(name) ?? [])) {
    for (const name of passed) {
      const path = routes[name]?.vendor_paths?.[vendor.name] ??
        routes[name]?.path ?? "";
      for (const setting of placeholdersIn(path)) {
        if (setting === "model" || vendor.values[setting]) continue;
        problems.push(
          `routes.${name}.path: {${setting}} is no setting of ${vendor.name}`,
        );
      }
    }
  }
  return problems;
}

function cardsIn(
  { price }: ModelOverride,
): Exclude<NonNullable<ModelOverride["price"]>, "free"> {
  return price === undefined || price === null || price === "free" ? [] : price;
}

function placeholdersIn(path: string): readonly string[] {
  return [...path.matchAll(/\{([^}]*)\}?/g)].map(([, name = ""]) => name);
}
