/**
 * Which models are offered, and where a call to one can go: the rows of the catalogue joined with the configured vendors.
 *
 * @module
 */
import type { Capabilities } from "../../translate/capabilities.ts";
import type { DialectName } from "../../translate/request.ts";
import type { VendorAccess } from "../config.ts";
import {
  capabilitiesOf,
  type Catalogue,
  type Model,
  vendorOf,
} from "./catalogue.ts";
import type { VendorDialect, VendorName } from "./vendors.ts";

/** A model at an upstream: everything that a call needs to know. */
export interface Candidate {
  /** The row that the caller's id names. */
  readonly model: Model;
  /** What is spoken to the upstream. */
  readonly dialect: DialectName;
  /** The vendor's key and address, or those of the replay that stands in for it. */
  readonly access: VendorAccess;
  /** Paths and headers of the dialect at this vendor. */
  readonly wire: VendorDialect;
  /** The dialect's defaults under the model's own row. */
  readonly can: Capabilities;
}

/** The models on offer. */
export interface Offer {
  /** In the catalogue's order. */
  readonly models: readonly Model[];
  /** Looks a model up by the id that callers use; undefined where it is not on offer. */
  model(id: string): Model | undefined;
  /** Where a call to the model can go, best first: the caller's own dialect is preferred. */
  candidates(model: Model, caller: DialectName): readonly Candidate[];
}

/** Joins the catalogue with the vendors that can be called. */
export function offerOf(
  catalogue: Catalogue,
  vendors: Readonly<Partial<Record<VendorName, VendorAccess>>>,
): Offer {
  const byId = new Map<string, Model>();
  const byModel = new Map<Model, readonly Candidate[]>();
  for (const model of catalogue.models) {
    const access = vendors[model.vendor];
    if (access === undefined) continue;
    byId.set(model.id, model);
    byModel.set(
      model,
      vendorOf(model).dialects.map((wire) => ({
        model,
        dialect: wire.dialect,
        access,
        wire,
        can: capabilitiesOf(model, wire.dialect),
      })),
    );
  }
  return {
    models: [...byId.values()],
    model: (id) => byId.get(id),
    candidates(model, caller) {
      const rows = byModel.get(model) ?? [];
      return [
        ...rows.filter((row) => row.dialect === caller),
        ...rows.filter((row) => row.dialect !== caller),
      ];
    },
  };
}
