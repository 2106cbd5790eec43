/**
 * Which of the gateway's models a vendor's export means: vendors name their own models.
 */
import { modelKey } from "./billing_names.ts";
import type { RateCard } from "../accounts/charges/rate_card.ts";

/** A model of the catalogue, as far as it is compared. */
export interface PricedModel {
  readonly id: string;
  readonly price: RateCard;
  readonly candidates: readonly {
    readonly vendor: string;
    readonly upstreamModel: string;
  }[];
}

/** Models that a vendor serves as one; compared together. */
interface ModelGroup {
  /** Ids of the gateway; none if the gateway does not know the model. */
  readonly ids: readonly string[];
  /** The ids, or the vendor's name of an unknown model. */
  readonly name: string;
}

export interface VendorModels {
  /** The group of a model as the file names it. */
  of(vendorName: string): ModelGroup;
  ofOwn(id: string): ModelGroup;
  /** All models of the gateway that the vendor serves. */
  readonly all: readonly ModelGroup[];
}

/** Joins models with a common name at the vendor; absent: at any vendor. */
export function vendorModels(
  models: readonly PricedModel[],
  vendor?: string,
): VendorModels {
  const groups: { ids: string[]; names: Set<string> }[] = [];
  for (const { id, candidates } of models) {
    const names = candidates.filter((one) =>
      vendor === undefined || one.vendor === vendor
    ).map(({ upstreamModel }) => upstreamModel);
    if (names.length === 0) continue;
    const same = groups.filter((group) =>
      names.some((name) => group.names.has(name))
    );
    const joined = {
      ids: [...same.flatMap((group) => group.ids), id],
      names: new Set([...same.flatMap((group) => [...group.names]), ...names]),
    };
    for (const one of same) groups.splice(groups.indexOf(one), 1);
    groups.push(joined);
  }
  const own = new Map<string, ModelGroup>();
  const byName = new Map<string, ModelGroup>();
  const all = groups.map(({ ids, names }): ModelGroup => {
    const group = { ids, name: ids.join(", ") };
    for (const id of ids) own.set(id, group);
    for (const name of names) byName.set(name, group);
    return group;
  });
  const byKey = new Map<string, Set<ModelGroup>>();
  for (const [name, group] of [...own, ...byName]) {
    const key = modelKey(name);
    byKey.set(key, (byKey.get(key) ?? new Set()).add(group));
  }
  const unknownModel = (name: string): ModelGroup => ({ ids: [], name });
  return {
    all,
    ofOwn: (id) => own.get(id) ?? { ids: [id], name: id },
    of(name) {
      for (const one of [name, withoutDate(name)]) {
        const group = own.get(one) ?? byName.get(one);
        if (group !== undefined) return group;
      }
      const [alike, ...others] = byKey.get(modelKey(name)) ?? [];
      return alike === undefined || others.length > 0
        ? unknownModel(name)
        : alike;
    },
  };
}

/** Vendors add the day of a version: `name-20260528`, `name-2026-05-28`. */
function withoutDate(name: string): string {
  return name.replace(/[-@](?:\d{8}|\d{4}-\d{2}-\d{2})$/, "");
}
