/**
 * `GET /v1/account/models`: prices, capabilities, limits and health of the models, for the holder
 * of an API key or an account token.
 */
import {
  accountModels,
  accountModelsJson,
} from "../../gateway/console/account_models.ts";
import { noQuery } from "../../gateway/admin/pages.ts";
import { check } from "../../translate/model/schema.ts";
import { queryOf } from "../admin/auth.ts";
import { type AccountRoute, jsonReply } from "../route.ts";

export const ACCOUNT_MODELS_ROUTE: AccountRoute = {
  access: "account",
  permission: "look",
  method: "GET",
  path: "/v1/account/models",
  operation: "listAccountModels",
  async handle({ gateway, query }, holder) {
    check(noQuery, queryOf(query));
    const { admin, models, now } = gateway;
    return jsonReply(
      accountModelsJson(await accountModels(admin, models, holder, now())),
    );
  },
};
