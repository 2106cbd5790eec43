/**
 * Fuzzing of the console's forms with a valid session and form token, for tests: whatever a form
 * contains, the reply is a page without a fault and without the form's markup.
 */
import assert from "node:assert/strict";
import { PAGE_ROUTES } from "../../../routes/console/mod.ts";
import {
  credentialOf,
  startConsole,
  visit,
  type Visitor,
} from "../console/visitor.ts";
import { diceOf, pick } from "./spoil.ts";
import type { Defect } from "./spoiled_requests.ts";
import { endReply } from "../end_reply.ts";

const MARKUP = "<script>zz</script>";
/** Values of all kinds of fields, right and wrong. */
const VALUES: readonly string[] = [
  "",
  " ",
  "0",
  "1",
  "-1",
  "1.5",
  "1e308",
  "9007199254740993",
  "99999999999999999999",
  "0.0000001",
  "NaN",
  "on",
  "true",
  "default",
  "unlimited",
  "acme",
  "*",
  "vendora-opus-4-8",
  "vendora-*, , vendorb-5",
  "2026-11-23",
  "2026-02-30",
  "2999-01-01T00:00",
  "__proto__",
  "constructor",
  "../..",
  "\0",
  "\r\nset-cookie: a=b",
  "\ud800",
  "ünïcödé \u202e",
  "=1+1",
  "' OR 1=1 --",
  "%00%0d%0a",
  "https://127.0.0.1/",
  "manage",
  "read",
  "prepaid",
  "postpaid",
  MARKUP,
  `"${MARKUP}`,
  `'"><img src=x onerror=zz>`,
  "x".repeat(20_000),
];
/** Forms that end the visitor's own session. */
const ENDING = /sign-out|sign-in|sessions\/end|\/console\/key\/revoke/;
/** Tries with one session. */
const TRIES = 200;

interface Form {
  readonly path: string;
  /** The value of each field on the page, by its name. */
  readonly fields: ReadonlyMap<string, string>;
}

function formsIn(html: string): readonly Form[] {
  const found: Form[] = [];
  for (const [text] of html.matchAll(/<form[^>]*>[\s\S]*?<\/form>/g)) {
    const path = /action="([^"]*)"/.exec(text)?.[1];
    if (path === undefined || !/method="post"/i.test(text)) continue;
    const fields = new Map<string, string>();
    for (
      const [tag, name = ""] of text.matchAll(/<[^>]*\sname="([^"]*)"[^>]*>/g)
    ) {
      if (name === "form_token") continue;
      fields.set(name, /\svalue="([^"]*)"/.exec(tag)?.[1] ?? "");
    }
    found.push({ path, fields });
  }
  return found;
}

/** Sends `count` forms, and calls `found` for every defect. Returns how many were carried out. */
export async function trySpoiledForms(
  count: number,
  seed: number,
  found: (defect: Defect) => void,
): Promise<number> {
  const dice = diceOf(seed);
  await using gateway = await startConsole();
  const { admin } = gateway.accounts;
  let done = 0;
  await admin.plans.create({ id: "starter" });
  await admin.accounts.create({ id: "acme", planId: "starter" });
  for (let n = 0; n < count;) {
    const areas = await Promise.all(
      (["manage", "operator"] as const).map(async (kind) => {
        const { text } = await credentialOf(gateway, kind);
        const visitor = await visit(gateway.url, kind, text);
        const { id } = await credentialOf(gateway, "key");
        return { visitor, forms: await formsOf(visitor, kind, id) };
      }),
    );
    for (let tries = 0; tries < TRIES && n < count; tries++, n++) {
      const { visitor, forms } = pick(dice, areas);
      const { path, fields } = pick(dice, forms);
      const sent: Record<string, string> = {};
      for (const [name, value] of fields) {
        const kind = dice(6);
        if (kind === 0) continue;
        sent[name] = kind < 4 ? value : pick(dice, VALUES).toWellFormed();
      }
      if (dice(10) === 0) sent[pick(dice, VALUES).toWellFormed()] = "x";
      const body = JSON.stringify(sent);
      try {
        const reply = await visitor.post(path, sent);
        const text = await reply.text();
        assert.ok(reply.status < 500, text.slice(0, 500));
        assert.ok(!text.includes(MARKUP), "its markup is in the page");
        if (reply.status < 400) done++;
        // The visitor has revoked its own credential.
        if (reply.status === 401) tries = TRIES;
      } catch (error) {
        found({ body, where: path, error });
      }
    }
  }
  assert.deepEqual(await admin.audit(), []);
  return done;
}

async function formsOf(
  visitor: Visitor,
  kind: "manage" | "operator",
  keyId: string,
): Promise<readonly Form[]> {
  const area = kind === "operator" ? "operator" : "account";
  const forms: Form[] = [];
  for (const route of PAGE_ROUTES) {
    if (route.access !== "page" || route.area !== area) continue;
    if (route.method !== "GET") continue;
    const id = route.path.includes("keys")
      ? keyId
      : route.path.includes("plans")
      ? "starter"
      : "acme";
    const reply = await visitor.get(route.path.replace(/:\w+/, id));
    const type = reply.headers.get("content-type") ?? "";
    if (reply.status !== 200 || !type.startsWith("text/html")) {
      await endReply(reply);
    } else forms.push(...formsIn(await reply.text()));
  }
  const others = forms.filter(({ path }) => !ENDING.test(path));
  // Some forms are on every page.
  return [...new Map(others.map((form) => [form.path, form])).values()];
}
