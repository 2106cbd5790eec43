/**
 * A visitor of the console without a browser: signs in as a kind of credential, keeps the cookie,
 * and sends forms as a browser does.
 */
import assert from "node:assert/strict";
import type { CredentialKind } from "../../../gateway/accounts/credential_kind.ts";
import { formTokenOf } from "../../../gateway/console/visit.ts";
import {
  startTestGateway,
  type TestGateway,
  type TestGatewayOptions,
} from "../test_gateway.ts";

export const ADMIN_TOKEN = "an-admin-token-for-consoles";

/** A test gateway with an operator's area. */
export function startConsole(
  options: TestGatewayOptions = {},
): Promise<TestGateway> {
  return startTestGateway({
    ...options,
    env: { GATEWAY_ADMIN_TOKEN: ADMIN_TOKEN, ...options.env },
  });
}

/** A new credential of a kind, of an account that is created if it is missing. */
export async function credentialOf(
  { accounts: { admin } }: Pick<TestGateway, "accounts">,
  kind: CredentialKind,
  accountId: string = "default",
): Promise<{ readonly text: string; readonly id: string }> {
  if (kind === "operator") return { text: ADMIN_TOKEN, id: "operator" };
  const { record, text } = kind === "key"
    ? await admin.keys.issue({ accountId, name: "of a test" })
    : await admin.tokens.issue({ accountId, scope: kind });
  assert.ok(text !== undefined);
  return { text, id: record.id };
}

export interface Visitor {
  /** As the browser sends it: `name=value`. */
  readonly cookie: string;
  /** Attributes of the cookie as the gateway set it. */
  readonly setCookie: string;
  /** Gets a page; redirects are not followed. */
  get(path: string): Promise<Response>;
  /** The text of a page that must be served, with its `&` and apostrophes as shown. */
  read(path: string): Promise<string>;
  /** Sends a form of this session; `headers` replace the browser's, an empty one removes it. */
  post(
    path: string,
    fields?: Readonly<Record<string, string>>,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Response>;
}

/** Headers of a form that a page of the same origin sends. */
export const FORM_HEADERS: Readonly<Record<string, string>> = {
  "content-type": "application/x-www-form-urlencoded",
  "sec-fetch-site": "same-origin",
};

/** Sends the sign-in form of an area. */
export function signIn(
  url: string,
  kind: CredentialKind,
  credential: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const area = kind === "operator" ? "/console/operator" : "/console";
  return fetch(`${url}${area}/sign-in`, {
    method: "POST",
    redirect: "manual",
    headers: { ...FORM_HEADERS, ...headers },
    body: new URLSearchParams({ credential }),
  });
}

/** Signs in with a credential. */
export async function visit(
  url: string,
  kind: CredentialKind,
  credential: string,
): Promise<Visitor> {
  const reply = await signIn(url, kind, credential);
  await reply.body?.cancel();
  assert.equal(reply.status, 303);
  const setCookie = reply.headers.get("set-cookie") ?? "";
  const cookie = setCookie.split(";")[0] ?? "";
  const secret = cookie.split("=")[1] ?? "";
  assert.notEqual(secret, "");
  const get = (path: string): Promise<Response> =>
    fetch(`${url}${path}`, { redirect: "manual", headers: { cookie } });
  return {
    cookie,
    setCookie,
    get,
    async read(path) {
      const page = await get(path);
      const text = await page.text();
      assert.equal(page.status, 200, `${path}: ${text.slice(0, 500)}`);
      return text.replaceAll("&#39;", "'").replaceAll("&amp;", "&");
    },
    post: (path, fields = {}, headers = {}) =>
      fetch(`${url}${path}`, {
        method: "POST",
        redirect: "manual",
        headers: Object.entries({ ...FORM_HEADERS, cookie, ...headers })
          .filter(([, value]) => value !== ""),
        body: new URLSearchParams({
          form_token: formTokenOf(secret),
          ...fields,
        }),
      }),
  };
}

/** Signs in with a new credential. */
export async function visitAs(
  gateway: Pick<TestGateway, "accounts" | "url">,
  kind: CredentialKind,
  accountId?: string,
): Promise<Visitor> {
  const { text } = await credentialOf(gateway, kind, accountId);
  return await visit(gateway.url, kind, text);
}
