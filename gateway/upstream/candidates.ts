/**
 * Which models are offered, and where a call to one can go: the rows of the catalogue joined with the configured vendors.
 *
 * @module
 */
import type { Capabilities } from "../../translate/capabilities.ts";
import type { UpstreamDialect } from "../../translate/dialect.ts";
import { upstreamDialect } from "../../translate/dialects.ts";
import type { DialectName } from "../../translate/request.ts";
import { withoutSecret } from "../../translate/secret.ts";
import type { VendorAccess } from "../config.ts";
import { Breaker } from "./breaker.ts";
import {
  type CandidateRow,
  capabilitiesOf,
  type Catalogue,
  type Model,
} from "./catalogue.ts";
import type { CallLimits } from "./http_client.ts";
import { RetryBudget } from "./retry_budget.ts";
import type { VendorDialect } from "./vendors.ts";

/** A model at an upstream: everything that a call needs to know. */
export interface Candidate {
  /** The row that the caller's id names; its price is what the call costs, whoever answers. */
  readonly model: Model;
  /** `vendor/model`, for the log and the metrics. */
  readonly name: string;
  /** The vendor's own id of the model. */
  readonly upstreamModel: string;
  /** Betas that every call must switch on (messages dialect). */
  readonly betas: readonly string[];
  /** Lower ones are called first. */
  readonly priority: number;
  /** Share of the calls among those of the same priority; more than 0. */
  readonly weight: number;
  /** What is spoken to the upstream. It keeps the vendor's key out of what callers are told. */
  readonly dialect: UpstreamDialect;
  /** The vendor's key and address, or those of the replay that stands in for it. */
  readonly access: VendorAccess;
  /** Paths and headers of the dialect at this vendor. */
  readonly wire: VendorDialect;
  /** The dialect's defaults under the rows of the model and the candidate. */
  readonly can: Capabilities;
  /** Time limits that differ from the client's own; absent: none does. */
  readonly limits?: Partial<CallLimits>;
  /** One and the same whatever the caller speaks. */
  readonly health: Breaker;
}

/** The models on offer. */
export interface Offer {
  /** In the catalogue's order. */
  readonly models: readonly Model[];
  /** Looks a model up by the id that callers use; undefined where it is not on offer. */
  model(id: string): Model | undefined;
  /**
   * Where a call to the model can go, by rising priority: one candidate a row, in the caller's own dialect where the vendor
   * speaks it.
   */
  candidates(model: Model, caller: DialectName): readonly Candidate[];
  /** What the model's calls may spend on further attempts. */
  budget(model: Model): RetryBudget;
  /** One for each row of each model on offer, for whoever asks how they are. */
  readonly all: readonly Candidate[];
}

/** What a model has once it is on offer. */
interface Offered {
  readonly budget: RetryBudget;
  readonly candidates: Readonly<Record<DialectName, readonly Candidate[]>>;
}

/** Joins the catalogue with the vendors that can be called. */
export function offerOf(
  catalogue: Catalogue,
  access: Readonly<Record<string, VendorAccess>>,
): Offer {
  const byId = new Map<string, Model>();
  const byModel = new Map<Model, Offered>();
  for (const model of catalogue.models) {
    const rows = model.candidates
      .filter((row) => access[row.vendor] !== undefined)
      .toSorted((a, b) => a.priority - b.priority)
      .map((row) => ({ row, health: new Breaker() }));
    if (rows.length === 0) continue;
    const speaking = (caller: DialectName): readonly Candidate[] =>
      rows.flatMap(({ row, health }) =>
        candidate(catalogue, access, model, row, health, caller)
      );
    byId.set(model.id, model);
    byModel.set(model, {
      budget: new RetryBudget(),
      candidates: {
        messages: speaking("messages"),
        chat_completions: speaking("chat_completions"),
        generate_content: speaking("generate_content"),
      },
    });
  }
  const offered = (model: Model): Offered => {
    const found = byModel.get(model);
    if (found === undefined) throw new Error(`${model.id} is not on offer`);
    return found;
  };
  return {
    models: [...byId.values()],
    model: (id) => byId.get(id),
    candidates: (model, caller) => offered(model).candidates[caller],
    budget: (model) => offered(model).budget,
    all: [...byModel.values()].flatMap(({ candidates }) => candidates.messages),
  };
}

function candidate(
  catalogue: Catalogue,
  access: Readonly<Record<string, VendorAccess>>,
  model: Model,
  row: CandidateRow,
  health: Breaker,
  caller: DialectName,
): readonly Candidate[] {
  const there = access[row.vendor];
  const vendor = catalogue.vendors.find(({ name }) => name === row.vendor);
  const spoken =
    vendor?.dialects.filter(({ dialect }) =>
      row.dialect === undefined || dialect === row.dialect
    ) ?? [];
  const wire = spoken.find(({ dialect }) => dialect === caller) ?? spoken[0];
  if (there === undefined || wire === undefined) return [];
  const limits = { ...model.limits, ...row.limits };
  return [{
    model,
    name: `${row.vendor}/${row.upstreamModel}`,
    upstreamModel: row.upstreamModel,
    betas: row.betas,
    priority: row.priority,
    weight: row.weight,
    dialect: withoutSecret(upstreamDialect(wire.dialect), there.apiKey),
    access: there,
    wire,
    can: capabilitiesOf(row, wire.dialect),
    ...(Object.keys(limits).length === 0 ? {} : { limits }),
    health,
  }];
}
