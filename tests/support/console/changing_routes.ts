/**
 * Every route that is no GET: how it is called so that it changes something, and what is recorded of
 * it.
 *
 * @module
 */
import type {
  Action,
  ChangeRecord,
} from "../../../gateway/accounts/changes/change.ts";
import type { CredentialKind } from "../../../gateway/accounts/credential_kind.ts";
import { ADMIN_TOKEN, visit } from "./visitor.ts";
import type { TestGateway } from "../test_gateway.ts";

/** An account of its own for each step, with credentials. */
export interface World {
  readonly gateway: TestGateway;
  readonly account: string;
  readonly plan: string;
  readonly key: { readonly text: string; readonly id: string };
  readonly token: { readonly text: string; readonly id: string };
}

/** A route that changes something. */
interface Changing {
  /** What is recorded, oldest first. */
  readonly actions: readonly Action[];
  /** Whose credential the step uses. */
  readonly by?: CredentialKind;
  /** The variable part of the path; absent: the account. */
  readonly id?: (world: World) => string | Promise<string>;
  /** The body or the form. */
  readonly body?: (
    world: World,
  ) => Record<string, unknown> | Promise<Record<string, unknown>>;
  /** Which of before and after the first record has. */
  readonly has: readonly ("before" | "after")[];
}

/** Why a route leaves no record. */
type Unchanging = string;

const AFTER = ["after"] as const;
/** Both sides of a change. */
export const BOTH = ["before", "after"] as const;
/** An address with a path that must not be recorded. */
export const WEBHOOK = { url: "https://hooks.example.com/secret-path" };

const ofKey = ({ key }: World): string => key.id;
const ofToken = ({ token }: World): string => token.id;
const ofPlan = ({ plan }: World): string => plan;
const lastFour = ({ key }: World) => ({ last_four: key.text.slice(-4) });
const ofAccount = ({ account }: World) => ({ account });
const named = () => ({ name: "n" });

async function withWebhook({ gateway, account }: World): Promise<string> {
  await gateway.accounts.admin.webhooks.set(account, WEBHOOK.url);
  return account;
}

async function otherSession({ gateway, token }: World): Promise<
  Record<string, string>
> {
  await visit(gateway.url, "read", token.text);
  const [change] = await newest(gateway);
  return { id: change?.target ?? "" };
}

const COMPARISON: Unchanging = "books are compared, and nothing is stored";
const CALL: Unchanging = "a call is in the records of calls";

/** Every route that is no GET. */
export const STEPS: Readonly<Record<string, Changing | Unchanging>> = {
  "POST /v1/messages": CALL,
  "POST /v1/messages/count_tokens": CALL,
  "POST /v1/chat/completions/input_tokens": CALL,
  "POST /v1/responses/input_tokens": CALL,
  "POST /v1/embeddings": CALL,
  "POST /v1beta/models/:model:generateContent": CALL,
  "POST /v1beta/models/:model:streamGenerateContent": CALL,
  "POST /v1beta/models/:model:countTokens": CALL,
  "POST /v1/models/:model:generateContent": CALL,
  "POST /v1/models/:model:streamGenerateContent": CALL,
  "POST /v1/models/:model:countTokens": CALL,
  "POST /v1/chat/completions": CALL,
  "POST /v1/responses": CALL,
  "POST /v1/responses/:id/cancel": CALL,
  "DELETE /v1/responses/:id": "a stored reply belongs to the key's holder",
  "POST /console/theme": "a cookie of the browser",
  "POST /admin/v1/account-imports": {
    actions: ["account.update"],
    body: ({ account }) => ({
      file: `account,name\n${account},renamed`,
      apply: true,
    }),
    has: BOTH,
  },
  "POST /admin/v1/reconciliations": COMPARISON,
  "POST /console/operator/reconcile": COMPARISON,
  "POST /v1/account/keys/self/revoke": {
    actions: ["key.revoke"],
    by: "key",
    body: lastFour,
    has: BOTH,
  },
  "POST /v1/account/keys": {
    actions: ["key.issue"],
    by: "manage",
    body: named,
    has: AFTER,
  },
  "POST /v1/account/keys/:id/rotate": {
    actions: ["key.rotate", "key.issue"],
    by: "manage",
    id: ofKey,
    has: BOTH,
  },
  "POST /v1/account/keys/:id/revoke": {
    actions: ["key.revoke"],
    by: "manage",
    id: ofKey,
    has: BOTH,
  },
  "POST /v1/account/keys/:id": {
    actions: ["key.update"],
    by: "manage",
    id: ofKey,
    body: () => ({ name: "renamed" }),
    has: BOTH,
  },
  "POST /v1/account/tokens": {
    actions: ["token.issue"],
    by: "manage",
    body: named,
    has: AFTER,
  },
  "POST /v1/account/tokens/:id/revoke": {
    actions: ["token.revoke"],
    by: "manage",
    id: ofToken,
    has: BOTH,
  },
  "POST /admin/v1/accounts/:id/top-ups": {
    actions: ["account.top_up"],
    body: () => ({ micro_usd: 5, note: "a note" }),
    has: BOTH,
  },
  "POST /admin/v1/accounts/:id/webhook/remove": {
    actions: ["webhook.remove"],
    id: withWebhook,
    has: ["before"],
  },
  "POST /admin/v1/accounts/:id/webhook/test": {
    actions: ["webhook.test"],
    id: withWebhook,
    has: AFTER,
  },
  "POST /admin/v1/accounts/:id/webhook": {
    actions: ["webhook.set"],
    id: withWebhook,
    body: () => ({ url: "https://other.example.com/secret-path" }),
    has: BOTH,
  },
  "POST /admin/v1/accounts": {
    actions: ["account.create"],
    has: AFTER,
  },
  "POST /admin/v1/accounts/:id": {
    actions: ["account.update"],
    body: ({ plan }) => ({ plan }),
    has: BOTH,
  },
  "POST /admin/v1/plans": { actions: ["plan.create"], has: AFTER },
  "POST /admin/v1/plans/:id": {
    actions: ["plan.update"],
    id: ofPlan,
    body: () => ({ requests_per_minute: 7 }),
    has: BOTH,
  },
  "POST /admin/v1/keys/:id/rotate": {
    actions: ["key.rotate", "key.issue"],
    id: ofKey,
    has: BOTH,
  },
  "POST /admin/v1/keys/:id/revoke": {
    actions: ["key.revoke"],
    id: ofKey,
    has: BOTH,
  },
  "POST /admin/v1/keys/:id": {
    actions: ["key.update"],
    id: ofKey,
    body: () => ({ requests_per_minute: 7 }),
    has: BOTH,
  },
  "POST /admin/v1/keys": {
    actions: ["key.issue"],
    body: ofAccount,
    has: AFTER,
  },
  "POST /admin/v1/tokens/:id/revoke": {
    actions: ["token.revoke"],
    id: ofToken,
    has: BOTH,
  },
  "POST /admin/v1/tokens": {
    actions: ["token.issue"],
    body: ofAccount,
    has: AFTER,
  },
  "POST /admin/v1/sign-in-links": {
    actions: ["sign_in_link.create"],
    body: ofAccount,
    has: AFTER,
  },
  "POST /console/sign-in": {
    actions: ["session.start"],
    by: "key",
    body: ({ key }) => ({ credential: key.text }),
    has: AFTER,
  },
  "POST /console/operator/sign-in": {
    actions: ["session.start"],
    body: () => ({ credential: ADMIN_TOKEN }),
    has: AFTER,
  },
  "POST /console/sign-out": {
    actions: ["session.end"],
    by: "read",
    has: ["before"],
  },
  "POST /console/operator/sign-out": {
    actions: ["session.end"],
    has: ["before"],
  },
  "POST /console/operator/accounts/change/:id": {
    actions: ["account.update"],
    body: ({ plan }) => ({ name: "renamed", plan }),
    has: BOTH,
  },
  "POST /console/operator/accounts/status/:id": {
    actions: ["account.update"],
    body: () => ({ status: "disabled" }),
    has: BOTH,
  },
  "POST /console/operator/accounts/top-up/:id": {
    actions: ["account.top_up"],
    body: () => ({ usd: "12.50", note: "a note" }),
    has: BOTH,
  },
  "POST /console/operator/accounts/link/:id": {
    actions: ["sign_in_link.create"],
    has: AFTER,
  },
  "POST /console/operator/accounts/token/:id": {
    actions: ["token.issue"],
    body: named,
    has: AFTER,
  },
  "POST /console/operator/accounts/key/:id": {
    actions: ["key.issue"],
    body: named,
    has: AFTER,
  },
  "POST /console/operator/accounts/revoke-token/:id": {
    actions: ["token.revoke"],
    body: ({ token }) => ({ token: token.id }),
    has: BOTH,
  },
  "POST /console/operator/accounts/revoke-keys/:id": {
    actions: ["key.revoke"],
    body: ofAccount,
    has: BOTH,
  },
  "POST /admin/v1/accounts/:id/keys/revoke": {
    actions: ["key.revoke"],
    has: BOTH,
  },
  "POST /console/operator/webhooks/set/:id": {
    actions: ["webhook.set"],
    body: () => WEBHOOK,
    has: AFTER,
  },
  "POST /console/operator/webhooks/test/:id": {
    actions: ["webhook.test"],
    id: withWebhook,
    has: AFTER,
  },
  "POST /console/operator/webhooks/remove/:id": {
    actions: ["webhook.remove"],
    id: withWebhook,
    has: ["before"],
  },
  "POST /console/operator/accounts/many": {
    actions: ["account.update"],
    body: ({ account }) => ({
      text: `account,name\n${account},renamed`,
      confirmed: "yes",
    }),
    has: BOTH,
  },
  "POST /console/operator/accounts/new": {
    actions: ["account.create"],
    body: ({ account, plan }) => ({
      id: `${account}-new`,
      name: "n",
      plan,
      billing: "prepaid",
    }),
    has: AFTER,
  },
  "POST /console/operator/plans/new": {
    actions: ["plan.create"],
    body: ({ plan }) => ({
      id: `${plan}-new`,
      all_models: "yes",
      no_limit: "yes",
    }),
    has: AFTER,
  },
  "POST /console/operator/plans/:id": {
    actions: ["plan.update"],
    id: ofPlan,
    body: () => ({ requests_per_minute: "7" }),
    has: BOTH,
  },
  "POST /console/operator/keys/limits/:id": {
    actions: ["key.update"],
    id: ofKey,
    body: () => ({ name: "renamed", requests_per_minute: "7" }),
    has: BOTH,
  },
  "POST /console/operator/keys/rotate/:id": {
    actions: ["key.rotate", "key.issue"],
    id: ofKey,
    body: () => ({ overlap_seconds: "60" }),
    has: BOTH,
  },
  "POST /console/operator/keys/revoke/:id": {
    actions: ["key.revoke"],
    id: ofKey,
    body: lastFour,
    has: BOTH,
  },
  "POST /console/keys/new": {
    actions: ["key.issue"],
    by: "manage",
    body: named,
    has: AFTER,
  },
  "POST /console/keys/limits/:id": {
    actions: ["key.update"],
    by: "manage",
    id: ofKey,
    body: () => ({ name: "renamed", requests_per_minute: "7" }),
    has: BOTH,
  },
  "POST /console/keys/rotate/:id": {
    actions: ["key.rotate", "key.issue"],
    by: "manage",
    id: ofKey,
    body: () => ({ overlap_seconds: "60" }),
    has: BOTH,
  },
  "POST /console/keys/revoke/:id": {
    actions: ["key.revoke"],
    by: "manage",
    id: ofKey,
    body: lastFour,
    has: BOTH,
  },
  "POST /console/key/revoke": {
    actions: ["key.revoke"],
    by: "key",
    body: lastFour,
    has: BOTH,
  },
  "POST /console/access/tokens": {
    actions: ["token.issue"],
    by: "manage",
    body: named,
    has: AFTER,
  },
  "POST /console/access/tokens/revoke": {
    actions: ["token.revoke"],
    by: "manage",
    body: ({ token }) => ({ id: token.id }),
    has: BOTH,
  },
  "POST /console/access/sessions/end": {
    actions: ["session.end"],
    by: "manage",
    body: otherSession,
    has: ["before"],
  },
};

/** The newest changes, newest first. */
export async function newest(
  { accounts }: TestGateway,
): Promise<readonly ChangeRecord[]> {
  return (await accounts.admin.changes.list({ limit: 20 })).data;
}
