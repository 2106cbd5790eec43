import type { Caller } from "../../gateway/accounts/accounts.ts";
import type { Gateway } from "../../gateway/gateway.ts";
import type { Model } from "../../gateway/upstream/catalogue/catalogue.ts";

/** The models that a key can call. */
export function listedModels(
  gateway: Gateway,
  caller: Caller,
): readonly Model[] {
  return gateway.models.models.filter((model) =>
    caller.isActive && caller.allows(model.id) && model.unpriced !== true
  );
}
