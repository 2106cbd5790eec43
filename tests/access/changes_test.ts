/** Every route and every command that changes something leaves a record of it, without a secret. */
import assert from "node:assert/strict";
import type {
  Action,
  ChangeRecord,
} from "../../gateway/accounts/changes/change.ts";
import type { CredentialKind } from "../../gateway/accounts/credential_kind.ts";
import { openAdmin } from "../../gateway/accounts/repositories/admin.ts";
import { openStore } from "../../gateway/accounts/store/open_store.ts";
import { ADMIN_OPERATIONS } from "../../gateway/admin/mod.ts";
import { runCli } from "../../gateway/cli/cli.ts";
import { COMMANDS } from "../../gateway/cli/commands.ts";
import { compact } from "../../translate/bytes/compact.ts";
import { ALL_ROUTES } from "../support/all_routes.ts";
import { isObject } from "../../translate/bytes/json.ts";
import {
  ADMIN_TOKEN,
  credentialOf,
  signIn,
  startConsole,
  visit,
  visitAs,
} from "../support/console/visitor.ts";
import {
  BOTH,
  newest,
  STEPS,
  WEBHOOK,
  type World,
} from "../support/console/changing_routes.ts";
import { bearer } from "../support/clients/bearer.ts";
import { statusOf } from "../support/status_of.ts";

/** Texts that look like a credential or the path of a webhook. */
const SECRET =
  /(?:sk|at|op|code)-[0-9A-Za-z]{20}|whsec_[\w+/=]{8}|secret-path|console=/;

Deno.test("every route that changes something is recorded with who, when, before and after", async (t) => {
  await using gateway = await startConsole();
  const { admin } = gateway.accounts;
  const routes = ALL_ROUTES.filter(({ method }) => method !== "GET");
  for (const [at, { method, path, access }] of routes.entries()) {
    const name = `${method} ${path}`;
    const step = STEPS[name];
    assert.ok(step !== undefined, `${name} is not in the table`);
    if (typeof step === "string") continue;
    await t.step(name, async () => {
      const account = `account-${at}`;
      const plan = `plan-${at}`;
      await admin.plans.create({ id: plan });
      await admin.accounts.create({ id: account });
      const world: World = {
        gateway,
        account,
        plan,
        key: await credentialOf(gateway, "key", account),
        token: await credentialOf(gateway, "read", account),
      };
      const { by = "operator", has, actions } = step;
      const credential = by === "key"
        ? world.key
        : await credentialOf(gateway, by, account);
      const isSignIn = path.endsWith("/sign-in");
      const visitor = access === "page" && !isSignIn
        ? await visit(gateway.url, by, credential.text)
        : undefined;
      const id = await (step.id ?? (() => account))(world);
      const body = await (step.body ?? (() => ({})))(world);
      const address = path.replace(":id", id);
      const [last] = await newest(gateway);
      const fields = Object.fromEntries(
        Object.entries(body).map(([field, value]) => [field, String(value)]),
      );
      const reply = isSignIn
        ? await signIn(gateway.url, by, fields["credential"] ?? "")
        : visitor !== undefined
        ? await visitor.post(address, fields)
        : await fetch(`${gateway.url}${address}`, {
          method,
          headers: {
            authorization: `Bearer ${credential.text}`,
            "content-type": "application/json",
            // Some changes need one.
            "idempotency-key": crypto.randomUUID(),
          },
          body: JSON.stringify(body),
        });
      const text = await reply.text();
      assert.ok(reply.status < 400, `${reply.status}: ${text}`);
      const made = (await newest(gateway))
        .filter((change) => change.id > (last?.id ?? "")).toReversed();
      assert.deepEqual(made.map(({ action }) => action), actions);
      for (const change of made) {
        assert.equal(change.actorKind, by);
        assert.equal(
          change.actorId,
          by === "operator" ? undefined : credential.id,
        );
        assert.equal(change.via, access === "page" ? "page" : "api");
        assert.equal(change.requestId, reply.headers.get("request-id"));
        assert.equal(
          change.session !== undefined,
          access === "page",
          "session",
        );
        assert.ok(Math.abs(change.atMs - Date.now()) < 60_000);
        assert.notEqual(change.target, "");
        if (by !== "operator") assert.equal(change.accountId, account);
        assert.doesNotMatch(JSON.stringify(change), SECRET);
      }
      const [first] = made;
      assert.deepEqual(
        BOTH.filter((side) => Object.keys(first?.[side] ?? {}).length > 0),
        has,
      );
    });
  }
  for (const name of Object.keys(STEPS)) {
    assert.ok(
      routes.some(({ method, path }) => `${method} ${path}` === name),
      `there is no route ${name}`,
    );
  }
});

/** A command line of every command that changes something, on the ids of earlier ones. */
const LINES: Readonly<Record<string, readonly [line: string, Action]>> = {
  "plans create": ["--id p", "plan.create"],
  "plans update": ["p --rpm 5", "plan.update"],
  "accounts create": ["--id a --plan p", "account.create"],
  "accounts update": ["a --name b", "account.update"],
  "accounts import": ["accounts.csv --apply", "account.update"],
  "accounts top-up": ["a --usd 1.50", "account.top_up"],
  "webhooks set": [`a --url ${WEBHOOK.url}`, "webhook.set"],
  "webhooks test": ["a", "webhook.test"],
  "webhooks remove": ["a", "webhook.remove"],
  "keys issue": ["--account a", "key.issue"],
  "keys update": ["KEY --name b", "key.update"],
  "keys rotate": ["KEY --overlap 1h", "key.issue"],
  "keys revoke": ["KEY", "key.revoke"],
  // The one that replaced the key above.
  "keys revoke-all": ["a", "key.revoke"],
  "tokens issue": ["--account a", "token.issue"],
  "tokens revoke": ["TOKEN", "token.revoke"],
  "operators issue": ["--name robot --scope keys", "operator_token.issue"],
  "operators revoke": ["TOKEN", "operator_token.revoke"],
  "console link": ["--account a", "sign_in_link.create"],
};

Deno.test("every command that changes something is recorded with its user", async () => {
  await using store = await openStore("sqlite::memory:");
  const admin = (await openAdmin(store, () => true)).as({
    kind: "command_line",
    via: "command_line",
    name: "operator-1",
  });
  const changing = COMMANDS.filter(({ operationId }) =>
    ADMIN_OPERATIONS.find((one) => one.operationId === operationId)
      ?.method === "POST"
  ).map(({ noun, verb }) => `${noun} ${verb}`);
  assert.deepEqual(changing.toSorted(), Object.keys(LINES).toSorted());
  const ids: Record<string, string> = {};
  for (const [command, [line, action]] of Object.entries(LINES)) {
    const words = `${command} ${line}`.replace(
      /KEY|TOKEN/,
      (name) => ids[name] ?? "",
    ).split(" ");
    let out = "";
    let problem = "";
    const code = await runCli([...words, "--json"], {
      admin: () => Promise.resolve(admin),
      now: Date.now,
      baseUrl: "http://127.0.0.1:8787",
      invoices: {
        models: [],
        read: () => ReadableStream.from(["account,name\na,imported"]),
      },
      print: (text) => out = text,
      printError: (text) => problem = text,
    });
    assert.equal(code, 0, `${command}: ${problem}`);
    const answer: unknown = JSON.parse(out);
    assert.ok(isObject(answer));
    if (command === "keys issue") ids["KEY"] = String(answer["id"]);
    if (/^(?:tokens|operators) issue$/.test(command)) {
      ids["TOKEN"] = String(answer["id"]);
    }
    const { data: [change] } = await admin.changes.list({ limit: 1 });
    assert.equal(change?.action, action, command);
    assert.equal(change.actorKind, "command_line");
    assert.equal(change.actorName, "operator-1");
    assert.equal(change.via, "command_line");
    assert.ok(change.before !== undefined || change.after !== undefined);
    assert.doesNotMatch(JSON.stringify(change), SECRET, command);
  }
});

Deno.test("a refused sign-in is recorded without the credential, and a known key by its id", async () => {
  await using gateway = await startConsole();
  const { admin } = gateway.accounts;
  const key = await credentialOf(gateway, "key");
  await admin.keys.revoke(key.id);
  const refused = async (
    kind: CredentialKind,
    credential: string,
  ): Promise<ChangeRecord | undefined> => {
    assert.equal(await statusOf(signIn(gateway.url, kind, credential)), 401);
    const [change] = await newest(gateway);
    assert.equal(change?.action, "session.refuse");
    assert.equal(change.actorKind, "unknown");
    assert.ok(!JSON.stringify(change).includes(credential));
    return change;
  };
  const known = await refused("key", key.text);
  assert.equal(known?.target, key.id);
  assert.equal(known.accountId, "default");
  assert.equal(
    known.after?.["hint"],
    `${key.text.slice(0, 7)}…${key.text.slice(-4)}`,
  );
  assert.deepEqual((await refused("key", "my mother's maiden name"))?.after, {
    door: "account",
    credential: "no credential of this gateway",
  });
  assert.deepEqual(
    (await refused("operator", "a wrong admin token"))?.after,
    {
      door: "operator",
      credential: "admin token",
    },
  );
});

Deno.test("the page, its file and the API list the same changes under the same filters", async () => {
  await using gateway = await startConsole();
  const { admin } = gateway.accounts;
  const operator = await visitAs(gateway, "operator");
  const empty = await operator.read("/console/operator/changes?account=acme");
  assert.match(empty, /No changes match these filters/);
  await admin.plans.create({ id: "team", spendPerDayMicroUsd: 2_500_000 });
  await admin.accounts.create({ id: "acme", planId: "team" });
  await admin.plans.update("team", { spendPerDayMicroUsd: 3_000_000 });
  const { record } = await admin.keys.issue({
    accountId: "acme",
    name: "<b>=1+1</b>",
  });
  await admin.keys.revoke(record.id);
  const day = new Date().toISOString().slice(0, 10);
  for (
    const [filter, expected] of [
      ["account=acme", ["key.revoke", "key.issue", "account.create"]],
      ["account=acme&action=key.issue", ["key.issue"]],
      [`target=${record.id}`, ["key.revoke", "key.issue"]],
      ["target=team", ["plan.update", "plan.create"]],
      ["actor=operator&action=session.start", ["session.start"]],
      ["actor=command_line", []],
      ["account=acme&to=2026-01-01", []],
      [`account=acme&action=key.revoke&from=2026-01-01`, ["key.revoke"]],
    ] as const
  ) {
    const json = await (await fetch(
      `${gateway.url}/admin/v1/changes?${filter}`,
      bearer(ADMIN_TOKEN),
    )).json();
    assert.deepEqual(
      json.data.map(({ action }: { action: string }) => action),
      expected,
      filter,
    );
    const file = await operator.read(`/console/operator/changes.csv?${filter}`);
    const lines = file.split("\r\n").slice(1, -1);
    assert.deepEqual(
      lines.map((line) => line.split(",")[2]),
      expected,
      filter,
    );
    const html = await operator.read(`/console/operator/changes?${filter}`);
    assert.equal(html.match(/<tr>/g)?.length ?? 1, expected.length + 1);
  }
  const html = await operator.read(
    `/console/operator/changes?target=team&from=${day}`,
  );
  assert.match(
    html,
    /<del><data value="2500000">\$2\.500000<\/data><\/del> → <data value="3000000">\$3\.000000/,
  );
  const { data, next } = await admin.changes.list({ limit: 2 });
  const rest = await admin.changes.list({
    ...compact({ after: next }),
  });
  assert.ok((data.at(-1)?.id ?? "") > (rest.data[0]?.id ?? ""));
  assert.equal(
    await statusOf(
      fetch(`${gateway.url}/admin/v1/changes?after=x`, bearer(ADMIN_TOKEN)),
    ),
    400,
  );
});
