/**
 * Every route that is no GET: how it is called so that it changes something, and what is recorded
 * of it.
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

interface Changing {
  /** What is recorded, oldest first. */
  readonly actions: readonly Action[];
  /** Whose credential the step uses. */
  readonly by?: CredentialKind;
  /** The variable part of the path; absent: the account. */
  readonly id?: (world: World) => string | Promise<string>;
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

const OPERATOR = { name: "robot", scope: "keys" } as const;

async function ofOperatorToken({ gateway }: World): Promise<string> {
  const { record } = await gateway.accounts.admin.operatorTokens.issue(
    OPERATOR,
  );
  return record.id;
}

async function otherSession({ gateway, token }: World): Promise<
  Record<string, string>
> {
  await visit(gateway.url, "read", token.text);
  const [change] = await newest(gateway);
  return { id: change?.target ?? "" };
}

const SEARCH: Unchanging = "leads to the page of what is searched for";
const COMPARISON: Unchanging = "books are compared, and nothing is stored";
const CALL: Unchanging = "a call is in the records of calls";

/** What a route records: a change has both sides, unless it makes or ends something. */
function records(
  actions: Action | readonly Action[],
  how: Omit<Partial<Changing>, "actions"> = {},
): Changing {
  const all = typeof actions === "string" ? [actions] : actions;
  const [first = ""] = all;
  const has = /\.(create|issue|start|test)$/.test(first)
    ? AFTER
    : /\.(remove|end)$/.test(first)
    ? ["before"] as const
    : BOTH;
  return { actions: all, has, ...how };
}

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
  "POST /openai/v1/chat/completions": CALL,
  "POST /openai/deployments/:deployment/chat/completions": CALL,
  "POST /openai/v1/chat/completions/input_tokens": CALL,
  "POST /openai/v1/embeddings": CALL,
  "POST /openai/deployments/:deployment/embeddings": CALL,
  "POST /openai/v1/responses": CALL,
  "POST /openai/responses": CALL,
  "POST /openai/deployments/:deployment/responses": CALL,
  "POST /openai/v1/responses/input_tokens": CALL,
  "POST /openai/responses/input_tokens": CALL,
  "POST /openai/v1/responses/:id/cancel": CALL,
  "POST /openai/responses/:id/cancel": CALL,
  "DELETE /openai/v1/responses/:id":
    "a stored reply belongs to the key's holder",
  "DELETE /openai/responses/:id": "a stored reply belongs to the key's holder",
  "POST /v1/responses/:id/cancel": CALL,
  "DELETE /v1/responses/:id": "a stored reply belongs to the key's holder",
  "POST /console/theme": "a cookie of the browser",
  "POST /console/search": SEARCH,
  "POST /console/operator/search": SEARCH,
  "POST /admin/v1/account-imports": records("account.update", {
    body: ({ account }) => ({
      file: `account,name\n${account},renamed`,
      apply: true,
    }),
  }),
  "POST /admin/v1/reconciliations": COMPARISON,
  "POST /console/operator/reconcile": COMPARISON,
  "POST /v1/account/keys/self/revoke": records("key.revoke", {
    by: "key",
    body: lastFour,
  }),
  "POST /v1/account/keys": records("key.issue", { by: "manage", body: named }),
  "POST /v1/account/keys/:id/rotate": records(["key.rotate", "key.issue"], {
    by: "manage",
    id: ofKey,
  }),
  "POST /v1/account/keys/:id/revoke": records("key.revoke", {
    by: "manage",
    id: ofKey,
  }),
  "POST /v1/account/keys/:id": records("key.update", {
    by: "manage",
    id: ofKey,
    body: () => ({ name: "renamed" }),
  }),
  "POST /v1/account/tokens": records("token.issue", {
    by: "manage",
    body: named,
  }),
  "POST /v1/account/tokens/:id/revoke": records("token.revoke", {
    by: "manage",
    id: ofToken,
  }),
  "POST /admin/v1/accounts/:id/top-ups": records("account.top_up", {
    body: () => ({ micro_usd: 5, note: "a note" }),
  }),
  "POST /admin/v1/accounts/:id/webhook/remove": records("webhook.remove", {
    id: withWebhook,
  }),
  "POST /admin/v1/accounts/:id/webhook/test": records("webhook.test", {
    id: withWebhook,
  }),
  "POST /admin/v1/accounts/:id/webhook": records("webhook.set", {
    id: withWebhook,
    body: () => ({ url: "https://other.example.com/secret-path" }),
  }),
  "POST /admin/v1/accounts": records("account.create"),
  "POST /admin/v1/accounts/:id": records("account.update", {
    body: ({ plan }) => ({ plan }),
  }),
  "POST /admin/v1/plans": records("plan.create"),
  "POST /admin/v1/plans/:id": records("plan.update", {
    id: ofPlan,
    body: () => ({ requests_per_minute: 7 }),
  }),
  "POST /admin/v1/keys/:id/rotate": records(["key.rotate", "key.issue"], {
    id: ofKey,
  }),
  "POST /admin/v1/keys/:id/revoke": records("key.revoke", { id: ofKey }),
  "POST /admin/v1/keys/:id": records("key.update", {
    id: ofKey,
    body: () => ({ requests_per_minute: 7 }),
  }),
  "POST /admin/v1/keys": records("key.issue", { body: ofAccount }),
  "POST /admin/v1/tokens/:id/revoke": records("token.revoke", { id: ofToken }),
  "POST /admin/v1/tokens": records("token.issue", { body: ofAccount }),
  "POST /admin/v1/operator-tokens": records("operator_token.issue", {
    body: () => OPERATOR,
  }),
  "POST /admin/v1/operator-tokens/:id/revoke": records(
    "operator_token.revoke",
    { id: ofOperatorToken },
  ),
  "POST /console/operator/operators/new": records("operator_token.issue", {
    body: () => ({ ...OPERATOR, expires_at: "" }),
  }),
  "POST /console/operator/operators/revoke": records("operator_token.revoke", {
    body: async (world) => ({
      id: await ofOperatorToken(world),
      confirmed: "yes",
    }),
  }),
  "POST /admin/v1/sign-in-links": records("sign_in_link.create", {
    body: ofAccount,
  }),
  "POST /console/sign-in": records("session.start", {
    by: "key",
    body: ({ key }) => ({ credential: key.text }),
  }),
  "POST /console/operator/sign-in": records("session.start", {
    body: () => ({ credential: ADMIN_TOKEN }),
  }),
  "POST /console/sign-out": records("session.end", { by: "read" }),
  "POST /console/operator/sign-out": records("session.end"),
  "POST /console/operator/accounts/change/:id": records("account.update", {
    body: ({ plan }) => ({ name: "renamed", plan }),
  }),
  "POST /console/operator/accounts/status/:id": records("account.update", {
    body: () => ({ status: "disabled" }),
  }),
  "POST /console/operator/accounts/top-up/:id": records("account.top_up", {
    body: () => ({ usd: "12.50", note: "a note" }),
  }),
  "POST /console/operator/accounts/link/:id": records("sign_in_link.create"),
  "POST /console/operator/accounts/token/:id": records("token.issue", {
    body: named,
  }),
  "POST /console/operator/accounts/key/:id": records("key.issue", {
    body: named,
  }),
  "POST /console/operator/accounts/revoke-token/:id": records("token.revoke", {
    body: ({ token }) => ({ token: token.id }),
  }),
  "POST /console/operator/accounts/revoke-keys/:id": records("key.revoke", {
    body: ofAccount,
  }),
  "POST /admin/v1/accounts/:id/keys/revoke": records("key.revoke"),
  "POST /console/operator/webhooks/set/:id": records("webhook.set", {
    body: () => WEBHOOK,
    has: AFTER,
  }),
  "POST /console/operator/webhooks/test/:id": records("webhook.test", {
    id: withWebhook,
  }),
  "POST /console/operator/webhooks/remove/:id": records("webhook.remove", {
    id: withWebhook,
  }),
  "POST /console/operator/accounts/many": records("account.update", {
    body: ({ account }) => ({
      text: `account,name\n${account},renamed`,
      confirmed: "yes",
    }),
  }),
  "POST /console/operator/accounts/new": records("account.create", {
    body: ({ account, plan }) => ({
      id: `${account}-new`,
      name: "n",
      plan,
      billing: "prepaid",
    }),
  }),
  "POST /console/operator/plans/new": records("plan.create", {
    body: ({ plan }) => ({
      id: `${plan}-new`,
      all_models: "yes",
      no_limit: "yes",
    }),
  }),
  "POST /console/operator/plans/:id": records("plan.update", {
    id: ofPlan,
    body: () => ({ requests_per_minute: "7" }),
  }),
  "POST /console/operator/keys/limits/:id": records("key.update", {
    id: ofKey,
    body: () => ({ name: "renamed", requests_per_minute: "7" }),
  }),
  "POST /console/operator/keys/rotate/:id": records(
    ["key.rotate", "key.issue"],
    { id: ofKey, body: () => ({ overlap_seconds: "60" }) },
  ),
  "POST /console/operator/keys/revoke/:id": records("key.revoke", {
    id: ofKey,
    body: lastFour,
  }),
  "POST /console/keys/new": records("key.issue", { by: "manage", body: named }),
  "POST /console/keys/limits/:id": records("key.update", {
    by: "manage",
    id: ofKey,
    body: () => ({ name: "renamed", requests_per_minute: "7" }),
  }),
  "POST /console/keys/rotate/:id": records(["key.rotate", "key.issue"], {
    by: "manage",
    id: ofKey,
    body: () => ({ overlap_seconds: "60" }),
  }),
  "POST /console/keys/revoke/:id": records("key.revoke", {
    by: "manage",
    id: ofKey,
    body: lastFour,
  }),
  "POST /console/key/revoke": records("key.revoke", {
    by: "key",
    body: lastFour,
  }),
  "POST /console/access/tokens": records("token.issue", {
    by: "manage",
    body: named,
  }),
  "POST /console/access/tokens/revoke": records("token.revoke", {
    by: "manage",
    body: ({ token }) => ({ id: token.id }),
  }),
  "POST /console/access/sessions/end": records("session.end", {
    by: "manage",
    body: otherSession,
  }),
};

/** The newest changes, newest first. */
export async function newest(
  { accounts }: TestGateway,
): Promise<readonly ChangeRecord[]> {
  return (await accounts.admin.changes.list({ limit: 20 })).data;
}
