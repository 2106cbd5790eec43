/**
 * What a caller may call, as far as it can be said without asking the books: its account is active, the model is on offer and in
 * its plan.
 *
 * @module
 */
import { ApiError } from "../translate/error.ts";
import type { Caller } from "./accounts/accounts.ts";
import type { Gateway } from "./gateway.ts";
import type { Model } from "./upstream/catalogue.ts";

/**
 * Refuses a caller that may call nothing: a reason that comes before anything about the model.
 *
 * @throws {ApiError} `permission` with code `account_disabled`
 */
export function refuseDisabled(caller: Caller): void {
  if (caller.isActive) return;
  throw new ApiError("permission", "the account is disabled", {
    code: "account_disabled",
    retryable: false,
  });
}

/**
 * The model that a caller may call by an id.
 *
 * @throws {ApiError} `not_found` for an id that is not on offer, `permission` for one that the key may not call
 */
export function permittedModel(
  gateway: Gateway,
  caller: Caller,
  id: string,
): Model {
  const model = gateway.offer.model(id);
  if (model === undefined) {
    throw new ApiError(
      "not_found",
      `model: ${
        JSON.stringify(id.slice(0, 200))
      } is not offered here; GET /v1/models lists what is`,
      { code: "model_not_found", param: "model", retryable: false },
    );
  }
  if (!caller.allows(id)) {
    throw new ApiError(
      "permission",
      `model: ${id} is not in the plan of this key`,
      {
        code: "model_not_in_plan",
        param: "model",
        retryable: false,
      },
    );
  }
  return model;
}
