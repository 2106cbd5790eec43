/**
 * Access checks that need no ledger read: the account is active, the model is offered and in the
 * caller's plan.
 */
import { ApiError } from "../../translate/model/error.ts";
import type { Caller } from "../accounts/accounts.ts";
import type { Gateway } from "../gateway.ts";
import { nearestModel } from "./nearest_model.ts";
import { cardAt } from "../accounts/charges/rate_card.ts";
import type { Model } from "../upstream/catalogue/catalogue.ts";
import {
  GENERATES,
  type ModelOperation,
} from "../upstream/catalogue/models.ts";
import { missingKeys } from "../upstream/catalogue/not_offered.ts";

/**
 * Refuses a disabled account. Checked before the model, so that its error comes first.
 *
 * @throws {ApiError} `permission` with code `account_disabled`
 */
export function assertActive(caller: Caller): void {
  if (caller.isActive) return;
  throw new ApiError("permission", "the account is disabled", {
    code: "account_disabled",
    retryable: false,
  });
}

/** By operation: where a model of another operation has to be called, for errors. */
const ENDPOINTS: Readonly<Record<string, string>> = {
  generation:
    "generates replies: call it at POST /v1/messages, POST /v1/chat/completions or POST /v1/responses",
  embeddings: "makes embeddings: call it at POST /v1/embeddings",
};

/**
 * The model with this id, if the caller may call it.
 *
 * @param operation what it is called for; absent: anything
 * @throws {ApiError} `not_found` if the model is not offered, `permission` if it has no price or is
 * not in the key's plan, `invalid_request` if it does not do the operation
 */
export function accessibleModel(
  gateway: Gateway,
  caller: Caller,
  id: string,
  operation?: ModelOperation,
): Model {
  const model = gateway.models.model(id);
  if (model === undefined) throw modelNotFound(gateway, caller, id);
  if (cardAt(model.cards, gateway.now()) === undefined) throw notPriced(model);
  if (!caller.allows(id)) {
    throw new ApiError(
      "permission",
      `model: ${id} is not in the plan of this key; GET /v1/models lists the models that it can call`,
      {
        code: "model_not_in_plan",
        param: "model",
        retryable: false,
      },
    );
  }
  const { operations = GENERATES } = model;
  if (operation !== undefined && !operations.includes(operation)) {
    throw new ApiError(
      "invalid_request",
      `model: ${id} ${
        operations.map((one) => ENDPOINTS[one] ?? passedText(gateway, one))
          .join("; it ")
      }`,
      { code: "unsupported_operation", param: "model", retryable: false },
    );
  }
  return model;
}

function passedText({ config }: Gateway, operation: string): string {
  const route = [...config.catalogue.routes.values()].find(({ name }) =>
    name === operation
  );
  return `is for ${operation}${
    route === undefined ? "" : `: call it at POST ${route.endpoint}`
  }`;
}

function notPriced({ id }: Model): ApiError {
  return new ApiError(
    "permission",
    `model: ${id} has no price on this gateway yet, so it cannot be called`,
    {
      code: "model_not_priced",
      param: "model",
      retryable: false,
      note: `set models.${id}.price in the configuration file, or "free": true`,
    },
  );
}

/** The message suggests only models that the key may call, so that others stay undisclosed. */
function modelNotFound(
  { config, models: registry }: Gateway,
  caller: Caller,
  id: string,
): ApiError {
  const error = (problem: string, note?: string): ApiError =>
    new ApiError(
      "not_found",
      `model: ${problem}; GET /v1/models lists the models that this key can call`,
      {
        code: "model_not_found",
        param: "model",
        retryable: false,
        ...(note === undefined ? {} : { note }),
      },
    );
  const shown = JSON.stringify(id.slice(0, 200));
  const known = config.catalogue.models.find((model) => model.id === id);
  if (known !== undefined && caller.allows(id)) {
    return error(
      `${shown} is not offered by this gateway`,
      `no vendor of ${id} has a key: set ${
        missingKeys(config, known).join(" or ")
      }`,
    );
  }
  const suggestion = nearestModel(
    id,
    registry.models.map((model) => model.id).filter((one) =>
      caller.allows(one)
    ),
  );
  return error(
    `there is no model ${shown} on this gateway${
      suggestion === undefined
        ? ""
        : ` (did you mean ${JSON.stringify(suggestion)}?)`
    }`,
  );
}
