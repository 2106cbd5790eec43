/**
 * `/v1/account/…`: the operations of `gateway/console/` as routes, for API keys and account tokens.
 */
import type { Holder } from "../../gateway/accounts/credential_kind.ts";
import type { Admin } from "../../gateway/accounts/repositories/admin.ts";
import { invalidKey } from "../../gateway/accounts/key.ts";
import {
  ACCOUNT_OPERATIONS,
  type AccountOperation,
} from "../../gateway/console/account_operation.ts";
import { presentedKeys } from "../../gateway/http/presented_keys.ts";
import { compact } from "../../translate/bytes/compact.ts";
import { queryOf } from "../admin/auth.ts";
import { optionalBody } from "../optional_body.ts";
import { type AccountRoute, jsonReply, type RouteContext } from "../route.ts";

export const ACCOUNT_ROUTES: readonly AccountRoute[] = ACCOUNT_OPERATIONS.map(
  routeOf,
);

function routeOf(operation: AccountOperation): AccountRoute {
  return {
    access: "account",
    permission: operation.permission,
    method: operation.method,
    path: operation.path,
    operation: operation.operationId,
    async handle(context, holder) {
      const id = context.parameters["id"];
      const idempotencyKey = context.request.headers.get("idempotency-key");
      return jsonReply(
        await operation.run(administrationOf(context, holder), holder, {
          ...compact({ id }),
          ...(operation.method === "GET"
            ? { query: queryOf(context.query) }
            : { body: await optionalBody(context) }),
          ...(idempotencyKey === null ? {} : { idempotencyKey }),
        }),
      );
    },
  };
}

/** The administration, with the changes recorded as the holder's. */
function administrationOf(
  { gateway, requestId }: RouteContext,
  { kind, id }: Holder,
): Admin {
  return gateway.admin.as({ kind, id, via: "api", requestId });
}

/**
 * The key or account token that a request presents.
 *
 * @throws {ApiError} `authentication` if none is valid; `unavailable`
 */
export async function presentedHolder(
  { gateway, request }: Pick<RouteContext, "gateway" | "request">,
): Promise<Holder> {
  const presented = presentedKeys(request.headers);
  const token = presented.find((text) => text.startsWith("at-"));
  if (token !== undefined) {
    const holder = await gateway.admin.tokens.verify(token);
    if (holder === undefined) throw invalidKey(true);
    return holder;
  }
  const { keyId, accountId } = await gateway.accounts.authenticate(presented);
  return { kind: "key", id: keyId, accountId };
}
