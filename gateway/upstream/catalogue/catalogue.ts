/**
 * The models: the built-in rows of `models.ts`, and a file that overrides them. Which models are
 * offered depends on the configured vendors and is decided in `model_registry.ts`.
 */
import { compact } from "../../../translate/bytes/compact.ts";
import {
  type Capabilities,
  DEFAULT_CAPABILITIES,
} from "../../../translate/model/capabilities.ts";
import {
  cardAt,
  FREE,
  type RateCard,
} from "../../accounts/charges/rate_card.ts";
import type { DialectName } from "../../../translate/model/request.ts";
import type {
  CandidateOverride,
  CatalogueOverrides,
  ModelOverride,
} from "./catalogue_shape.ts";
import { cardsOf } from "./price_shape.ts";
import type { CallLimits } from "../http/phase_timer.ts";
import type { HostDialect } from "../hosts/host.ts";
import { GENERATES, type ModelRow, MODELS } from "./models.ts";
import { type PassedRoute, passedRoutes } from "./route_settings.ts";
import { addedVendor } from "./vendor_settings.ts";
import { type Vendor, VENDORS } from "./vendors.ts";
import { type ListedIds, withListed } from "./wildcards.ts";

/** A vendor and the id under which it serves the model. */
export interface CandidateRow {
  /** Name of a vendor of the same catalogue. */
  readonly vendor: string;
  /** The vendor's own id. */
  readonly upstreamModel: string;
  /**
   * The only dialect to use there; absent: the client's if the vendor supports it, otherwise the
   * vendor's preferred one.
   */
  readonly dialect?: DialectName;
  /** Candidates with lower values are called first. */
  readonly priority: number;
  /** Share of the calls among candidates of the same priority; more than 0. */
  readonly weight: number;
  /** Betas to enable on every call (messages dialect). */
  readonly betas: readonly string[];
  /** Further betas that a client may ask for; absent: the model's. */
  readonly allowedBetas?: readonly string[];
  /** The name of the paths to call, where the host has several; absent: its usual ones. */
  readonly route?: string;
  /** Differences from the dialect's defaults, as the built-in rows know the model. */
  readonly capabilities: Partial<Capabilities>;
  /** Capabilities from the configuration file; they take precedence over the host's. */
  readonly overrides: Partial<Capabilities>;
  /** Time limits that replace the model's; absent: none. */
  readonly limits?: Partial<CallLimits>;
}

export interface Model extends ModelRow {
  /**
   * The card in force when the catalogue was made; the free one if there was none. A call is
   * charged by the card in force when it is made.
   */
  readonly price: RateCard;
  /**
   * No card was in force when the catalogue was made, so the model cannot be called. Absent: one
   * was.
   */
  readonly unpriced?: true;
  /** At least one; candidates whose vendor has no key are not called. */
  readonly candidates: readonly CandidateRow[];
  /** Time limits of its calls that replace the settings; absent: none. */
  readonly limits?: Partial<CallLimits>;
  /** Limit on a whole call, with its stream and all attempts; absent: the setting applies. */
  readonly totalTimeoutMs?: number;
}

/** The models, in the order of the model list. */
export interface Catalogue {
  /** Offered or not; ids are unique. */
  readonly models: readonly Model[];
  /** The built-in vendors, then those of the overrides; names are unique. */
  readonly vendors: readonly Vendor[];
  /** The configured endpoints, by their paths. */
  readonly routes: ReadonlyMap<string, PassedRoute>;
}

/**
 * The built-in rows with the overrides applied: rows are changed, added, or removed (null).
 *
 * @param listed the models that wildcard rows offer
 * @param nowMs Unix milliseconds: the prices of this time are shown
 */
export function catalogue(
  file: CatalogueOverrides = {},
  listed: ListedIds = {},
  nowMs: number = Date.now(),
): Catalogue {
  const overrides = withListed(file, listed);
  const vendors = [...VENDORS, ...addedVendors(overrides)];
  const rows = new Map(MODELS.map((model) => [model.id, model]));
  const kindOf = (name: string): string => {
    const vendor = vendors.find((one) => one.name === name);
    return vendor?.serves ?? vendor?.name ?? name;
  };
  const fileCapabilities = (id: string): Partial<Capabilities> =>
    compact(overrides.models?.[id]?.capabilities ?? {});
  for (const [id, override] of Object.entries(overrides.models ?? {})) {
    if (override?.alias !== undefined) continue;
    if (override === null) rows.delete(id);
    else rows.set(id, mergeRow(id, rows.get(id), override, kindOf));
  }
  const models = [...rows.values()].map((row): Model => {
    const override = overrides.models?.[row.id] ?? {};
    const total = override.timeouts?.total_seconds;
    const price = cardAt(row.cards, nowMs);
    return {
      ...row,
      price: price ?? FREE,
      ...(price === undefined ? { unpriced: true } : {}),
      ...limitsOf(override.timeouts),
      ...(total === undefined ? {} : { totalTimeoutMs: total * 1000 }),
      candidates: override.candidates?.map((candidate) =>
        candidateRow(
          candidate,
          row,
          [...rows.values()],
          kindOf,
          fileCapabilities,
          vendors.find(({ name }) => name === candidate.vendor)?.serves ===
            undefined,
        )
      ) ?? [{
        ...row,
        capabilities: builtInCapabilities(
          row,
          kindOf(row.vendor),
          row.upstreamModel,
        ),
        overrides: fileCapabilities(row.id),
        priority: 1,
        weight: 1,
      }],
    };
  });
  return {
    models: [...models, ...aliases(models, overrides)],
    vendors,
    routes: passedRoutes(file.routes),
  };
}

/** Models of the file that are others under another id. */
function aliases(
  models: readonly Model[],
  overrides: CatalogueOverrides,
): readonly Model[] {
  return Object.entries(overrides.models ?? {}).flatMap(([id, override]) => {
    if (override?.alias === undefined) return [];
    const target = models.find((model) => model.id === override.alias);
    return target === undefined ? [] : [{
      ...target,
      id,
      displayName: override.display_name ?? target.displayName,
    }];
  });
}

function addedVendors({ vendors = {} }: CatalogueOverrides): Vendor[] {
  return Object.entries(vendors).flatMap(([name, row]) =>
    addedVendor(name, row) ?? []
  );
}

/**
 * The capabilities that the built-in rows state of a model: that of this id, else the one of the same
 * maker whose upstream model has this name.
 */
function builtInCapabilities(
  row: ModelRow | undefined,
  maker: string,
  upstreamModel: string,
): Partial<Capabilities> {
  const known = MODELS.find(({ id }) => id === row?.id) ??
    MODELS.find(({ vendor, upstreamModel: name }) =>
      vendor === maker && isNameOf(name, upstreamModel)
    );
  return known?.capabilities ?? {};
}

/** Whether a name is the model's own, or that with what clouds put around it: maker, date, version. */
function isNameOf(model: string, name: string): boolean {
  const at = name.lastIndexOf(model);
  return at >= 0 && /^(?:.*[./])?$/.test(name.slice(0, at)) &&
    /^(?:[-@]\d{4}-?\d\d-?\d\d)?(?:-v\d+(?::\d+)?)?$/.test(
      name.slice(at + model.length),
    );
}

function mergeRow(
  id: string,
  row: ModelRow | undefined,
  override: ModelOverride,
  kindOf: (vendor: string) => string,
): ModelRow {
  const cards = override.free === true || override.price === "free"
    ? [FREE]
    : override.price === undefined
    ? row?.cards
    : cardsOf(override.price ?? []);
  const first = override.candidates?.[0];
  return {
    id,
    displayName: override.display_name ?? row?.displayName ?? id,
    created: override.created ?? row?.created ?? 0,
    vendor: override.vendor ?? row?.vendor ??
      (first === undefined ? "vendora" : kindOf(first.vendor)),
    upstreamModel: override.upstream_model ?? row?.upstreamModel ??
      first?.upstream_model ?? id,
    betas: override.betas ?? row?.betas ?? [],
    cards: cards ?? [],
    contextTokens: override.context_tokens ?? row?.contextTokens ?? 128_000,
    capabilities: {
      ...row?.capabilities,
      ...compact(override.capabilities ?? {}),
    },
    operations: override.operations ?? row?.operations ?? GENERATES,
    ...compact({
      allowed: override.allowed,
      allowedBetas: override.allowed_betas,
    }),
  };
}

/**
 * A candidate from the overrides. Capabilities and betas default to those of the row that matches
 * its upstream model best.
 */
function candidateRow(
  candidate: CandidateOverride,
  model: ModelRow,
  rows: readonly ModelRow[],
  kindOf: (vendor: string) => string,
  fileCapabilities: (id: string) => Partial<Capabilities>,
  servesAny: boolean,
): CandidateRow {
  const kind = kindOf(candidate.vendor);
  const isSameKind = (row: ModelRow): boolean => kindOf(row.vendor) === kind;
  const known =
    [model, ...rows].find((row) =>
      isSameKind(row) && row.upstreamModel === candidate.upstream_model
    ) ?? (isSameKind(model) ? model : undefined);
  return {
    vendor: candidate.vendor,
    upstreamModel: candidate.upstream_model,
    priority: candidate.priority ?? 1,
    weight: candidate.weight ?? 1,
    ...compact({
      dialect: candidate.dialect,
      route: candidate.route,
      allowedBetas: candidate.allowed_betas,
    }),
    betas: candidate.betas ?? known?.betas ?? [],
    capabilities: builtInCapabilities(known, kind, candidate.upstream_model),
    overrides: {
      ...(known === undefined
        ? servesAny ? fileCapabilities(model.id) : {}
        : fileCapabilities(known.id)),
      ...compact(candidate.capabilities ?? {}),
    },
    ...limitsOf(candidate.timeouts),
  };
}

function limitsOf(
  timeouts: CandidateOverride["timeouts"],
): { readonly limits?: Partial<CallLimits> } {
  const { connect_seconds, first_byte_seconds, idle_seconds } = timeouts ?? {};
  const limits = {
    ...(connect_seconds === undefined
      ? {}
      : { connectTimeoutMs: connect_seconds * 1000 }),
    ...(first_byte_seconds === undefined
      ? {}
      : { firstByteTimeoutMs: first_byte_seconds * 1000 }),
    ...(idle_seconds !== undefined && { idleTimeoutMs: idle_seconds * 1000 }),
  };
  return Object.keys(limits).length === 0 ? {} : { limits };
}

/**
 * The capabilities of a model at a candidate, in one of the vendor's dialects: the configuration
 * file takes precedence over the host, the host over the model, the model over the dialect.
 */
export function capabilitiesOf(
  row: CandidateRow,
  { dialect, capabilities }: HostDialect,
): Capabilities {
  return {
    ...DEFAULT_CAPABILITIES[dialect],
    ...row.capabilities,
    ...capabilities,
    ...row.overrides,
  };
}
