/**
 * Forms: a refused one shows its error at the field and keeps the input; some ask before acting.
 */
import assert from "node:assert/strict";
import {
  credentialOf,
  startConsole,
  visitAs,
  type Visitor,
} from "../support/console/visitor.ts";
import type { TestGateway } from "../support/test_gateway.ts";

interface Refused {
  readonly path: string;
  readonly form: Readonly<Record<string, string>>;
  readonly field: string;
  readonly says: RegExp;
  /** Fields that keep what was entered; absent: all. */
  readonly keeps?: readonly string[];
}

const OPERATOR = "/console/operator";
const LONG = "x".repeat(201);

/** Forms of operators; `KEY` is replaced by the id of a key. */
const OF_OPERATORS: readonly Refused[] = [
  {
    path: "/accounts/new",
    form: { id: "bad id!", name: "Search team", plan: "team" },
    field: "id",
    says: /must be 1 to 64 letters, digits/,
  },
  {
    path: "/accounts/new",
    form: { id: "search", name: "Search team", plan: "" },
    field: "plan",
    says: /choose one/,
  },
  {
    path: "/accounts/new",
    form: { id: "default", name: "again", plan: "team" },
    field: "id",
    says: /exists already/,
  },
  {
    path: "/accounts/new",
    form: { id: "search", name: LONG, plan: "team" },
    field: "name",
    says: /at most 200 characters/,
  },
  {
    path: "/accounts/new",
    form: {
      id: "search",
      name: "n",
      plan: "team",
      warn_below_micro_usd: "$99999999999999",
    },
    field: "warn_below_micro_usd",
    says: /less than a billion dollars/,
  },
  {
    path: "/accounts/change/default",
    form: { name: "renamed", plan: "gone" },
    field: "plan",
    says: /there is no plan gone/,
    keeps: ["name"],
  },
  {
    path: "/accounts/top-up/default",
    form: { usd: "12.1234567", note: "a note" },
    field: "usd",
    says: /six digits after the point/,
  },
  {
    path: "/accounts/top-up/default",
    form: { usd: "99999999", note: "a note" },
    field: "usd",
    says: /at most \$10,000,000\.00/,
  },
  {
    path: "/accounts/link/default",
    form: { name: LONG, scope: "manage" },
    field: "name",
    says: /at most 200 characters/,
    keeps: ["name"],
  },
  {
    path: "/accounts/token/default",
    form: { name: "", scope: "manage" },
    field: "name",
    says: /must not be empty/,
    keeps: [],
  },
  {
    path: "/accounts/key/default",
    form: { name: "crawler", requests_per_minute: "many" },
    field: "requests_per_minute",
    says: /must be a whole number/,
  },
  {
    path: "/plans/new",
    form: { id: "free", all_models: "yes" },
    field: "no_limit",
    says: /enter a limit, or tick/,
  },
  {
    path: "/plans/new",
    form: { id: "free", requests_per_minute: "5" },
    field: "models",
    says: /choose some of them, or all/,
  },
  {
    path: "/plans/team",
    form: { requests_per_minute: "0" },
    field: "requests_per_minute",
    says: /must be at least 1/,
  },
  {
    path: "/keys/limits/KEY",
    form: { name: "renamed", spend_per_day_micro_usd: "100" },
    field: "spend_per_day_micro_usd",
    says: /at most the plan(?:&#39;|')s limit of \$20/,
  },
  {
    path: "/keys/revoke/KEY",
    form: { last_four: "no" },
    field: "last_four",
    says: /last four characters/,
  },
].map((one) => ({ ...one, path: `${OPERATOR}${one.path}` }));

const OF_ACCOUNTS: readonly Refused[] = [
  {
    path: "/console/keys/new",
    form: { name: "crawler", requests_per_minute: "-5" },
    field: "requests_per_minute",
    says: /must be a whole number/,
  },
  {
    path: "/console/keys/limits/KEY",
    form: { name: LONG },
    field: "name",
    says: /at most 200 characters/,
  },
  {
    path: "/console/keys/revoke/KEY",
    form: { last_four: "no" },
    field: "last_four",
    says: /last four characters/,
  },
  {
    path: "/console/access/tokens",
    form: { name: LONG },
    field: "name",
    says: /at most 200 characters/,
  },
];

/** Gives the account the plan `team`; returns the id of a key of it. */
async function addTeamPlan(gateway: TestGateway): Promise<string> {
  const { admin } = gateway.accounts;
  await admin.plans.create({
    id: "team",
    requestsPerMinute: 60,
    spendPerDayMicroUsd: 20_000_000,
  });
  await admin.accounts.update("default", { planId: "team" });
  return (await credentialOf(gateway, "key")).id;
}

function inputOf(html: string, name: string): string {
  return new RegExp(`<(?:input|select|textarea)[^>]*name="${name}"[^>]*>`)
    .exec(html)?.[0] ?? "";
}

/** The field, or the group of its boxes, is described by the problem. */
function checkProblem(
  html: string,
  field: string,
  says: RegExp,
  at: string,
): void {
  const id = `problem-${field}`;
  const [, problem = ""] =
    new RegExp(`<strong id="${id}" class="problem">([^<]*)`).exec(html) ?? [];
  assert.match(problem, says, `${at}: ${field}`);
  const described = `aria-describedby="${id}"`;
  const input = inputOf(html, field);
  const [holder = ""] = input.includes(described)
    ? [input]
    : new RegExp(`<fieldset[^>]*${described}[^]*?</fieldset>`).exec(html) ?? [];
  assert.ok(input !== "" && holder.includes(input), `${at}: ${input}`);
}

async function checkRefused(
  visitor: Visitor,
  { path, form, field, says, keeps = Object.keys(form) }: Refused,
): Promise<void> {
  const reply = await visitor.post(path, {
    ...form,
    idempotency_key: crypto.randomUUID(),
  });
  const whole = await reply.text();
  // The search has fields, too.
  const html = whole.slice(whole.indexOf('class="head"'));
  assert.ok([400, 404, 409].includes(reply.status), `${path} ${reply.status}`);
  assert.match(whole, /<nav aria-label="Pages">/);
  checkProblem(html, field, says, path);
  assert.match(html, /role="alert">[^<]*Nothing was changed/);
  const input = inputOf(html, field);
  if (!input.includes("checkbox")) {
    assert.match(input, /aria-invalid="true"/, `${path}: ${input}`);
  }
  assert.match(input, /autofocus/, `${path}: ${input}`);
  for (const name of keeps) {
    const value = form[name] ?? "";
    const kept = inputOf(html, name);
    if (kept.includes("checkbox")) assert.match(kept, /checked/, name);
    else if (kept.startsWith("<select")) {
      if (value === "") continue;
      assert.match(
        html,
        new RegExp(`<option value="${value}"[^>]*selected`),
        name,
      );
    } else assert.ok(kept.includes(`value="${value}"`), `${path}: ${kept}`);
  }
}

Deno.test("a refused form is shown again, with its problem at the field and what was entered", async (t) => {
  await using gateway = await startConsole();
  const keyId = await addTeamPlan(gateway);
  const operator = await visitAs(gateway, "operator");
  const owner = await visitAs(gateway, "manage");
  const changes = async (): Promise<number> =>
    (await gateway.accounts.admin.changes.list({ limit: 1000 })).data.length;
  const before = await changes();
  for (
    const [visitor, forms] of [
      [operator, OF_OPERATORS],
      [owner, OF_ACCOUNTS],
    ] as const
  ) {
    for (const one of forms) {
      await t.step(`${one.path}: ${one.field}`, () =>
        checkRefused(visitor, {
          ...one,
          path: one.path.replace("KEY", keyId),
        }));
    }
  }
  assert.equal(await changes(), before);
});

/** Forms with several wrong fields, in the order of the form, and the text at each. */
const SEVERAL: readonly (readonly [
  path: string,
  form: Readonly<Record<string, string>>,
  says: Readonly<Record<string, RegExp>>,
])[] = [
  [`${OPERATOR}/accounts/new`, {
    id: "bad id!",
    name: LONG,
    plan: "",
    warn_below_micro_usd: "much",
  }, {
    id: /must be 1 to 64 letters/,
    name: /at most 200 characters/,
    plan: /choose one/,
    warn_below_micro_usd: /must be dollars such as 12\.50/,
  }],
  [`${OPERATOR}/plans/new`, {
    id: "bad id!",
    requests_per_minute: "0",
    spend_per_day_micro_usd: "-1",
  }, {
    id: /must be 1 to 64 letters/,
    requests_per_minute: /must be at least 1/,
    spend_per_day_micro_usd: /must be/,
    models: /choose some of them, or all/,
  }],
  [`${OPERATOR}/plans/team`, {
    requests_per_minute: "many",
    tokens_per_minute: "0",
  }, {
    requests_per_minute: /must be a whole number/,
    tokens_per_minute: /must be at least/,
  }],
  [`${OPERATOR}/accounts/key/default`, {
    name: LONG,
    days: "soon",
    requests_per_minute: "many",
  }, {
    name: /at most 200 characters/,
    days: /must be a number/,
    requests_per_minute: /must be a whole number/,
  }],
  [`${OPERATOR}/accounts/top-up/default`, { usd: "much", note: LONG }, {
    usd: /must be dollars such as 12\.50/,
    note: /at most 200 characters/,
  }],
  [`${OPERATOR}/accounts/link/default`, { name: LONG, scope: "all" }, {
    name: /at most 200 characters/,
    scope: /must be one of read, manage/,
  }],
  [
    `${OPERATOR}/accounts/token/default`,
    { name: "", scope: "all", days: "soon" },
    {
      name: /must not be empty/,
      scope: /must be one of read, manage/,
      days: /choose one/,
    },
  ],
];

Deno.test("every wrong field of a form says what is wrong with it, and the first one has the focus", async () => {
  await using gateway = await startConsole();
  await addTeamPlan(gateway);
  const operator = await visitAs(gateway, "operator");
  for (const [path, form, says] of SEVERAL) {
    const reply = await operator.post(path, {
      ...form,
      idempotency_key: crypto.randomUUID(),
    });
    const whole = await reply.text();
    const html = whole.slice(whole.indexOf('class="head"'));
    assert.equal(reply.status, 400, path);
    for (const [field, text] of Object.entries(says)) {
      checkProblem(html, field, text, path);
    }
    assert.equal(
      html.match(/class="problem"/g)?.length,
      Object.keys(says).length,
      path,
    );
    for (const [name, value] of Object.entries(form)) {
      const input = inputOf(html, name);
      // A value that a list does not have is not kept.
      if (value !== "" && input.startsWith("<input")) {
        assert.ok(input.includes(`value="${value}"`), name);
      }
    }
    assert.equal(html.match(/ autofocus/g)?.length, 1, path);
    const [first = ""] = Object.keys(says);
    assert.match(inputOf(html, first), /autofocus/, path);
    assert.match(html, /role="alert">[^<]*Nothing was changed/);
  }
});

Deno.test("a top-up shows what it changes before it does", async () => {
  await using gateway = await startConsole();
  const operator = await visitAs(gateway, "operator");
  const path = `${OPERATOR}/accounts/top-up/default`;
  const ask = async (usd: string): Promise<Response> =>
    await operator.post(path, {
      ask: "yes",
      usd,
      note: "a note",
      idempotency_key: "once",
    });
  const refused = await ask("much");
  const form = await refused.text();
  assert.equal(refused.status, 400);
  assert.match(form, /Amount: must be dollars such as 12\.50/);
  assert.match(inputOf(form, "usd"), /value="much"/);
  assert.match(inputOf(form, "note"), /value="a note"/);
  const asked = await ask("12.5");
  const html = await asked.text();
  assert.equal(asked.status, 200);
  assert.match(html, /Balance then[^]*\$12\.500000[^]*a note[^]*Confirm/);
  const fields = Object.fromEntries(
    ["usd", "note", "idempotency_key"].map((name) => [
      name,
      /value="([^"]*)"/.exec(inputOf(html, name))?.[1] ?? "",
    ]),
  );
  const { admin } = gateway.accounts;
  assert.equal((await admin.accounts.get("default")).balanceMicroUsd, 0);
  const done = await operator.post(path, fields);
  await done.body?.cancel();
  assert.equal(
    (await admin.accounts.get("default")).balanceMicroUsd,
    12_500_000,
  );
});

Deno.test("plans and models are chosen, and an error without a form stays in the frame of the pages", async () => {
  await using gateway = await startConsole();
  await addTeamPlan(gateway);
  const operator = await visitAs(gateway, "operator");
  const read = async (path: string): Promise<string> =>
    await operator.read(`${OPERATOR}${path}`);
  const account = await read("/accounts/new");
  assert.match(account, /<select name="plan" required[^>]*>/);
  assert.match(
    account,
    /<option value="team"[^>]*>team: requests per minute 60, spend per day \$20\.00/,
  );
  assert.doesNotMatch(account, /<option value="unlimited"[^>]*selected/);
  const plan = await read("/plans/new");
  assert.match(plan, /type="checkbox" name="models" value="vendorb-5\.5"/);
  const made = await operator.post(`${OPERATOR}/plans/new`, {
    id: "two",
    requests_per_minute: "5",
    models: "vendorb-5.5",
    idempotency_key: crypto.randomUUID(),
  });
  await made.body?.cancel();
  assert.equal(made.status, 303);
  const changed = await read("/plans/two");
  assert.match(changed, /value="vendorb-5\.5" checked/);
  const missing = await operator.get(`${OPERATOR}/plans/none`);
  assert.equal(missing.status, 404);
  assert.match(
    await missing.text(),
    /<nav aria-label="Pages">[^]*no plan none/,
  );
});

Deno.test("what stops calls or cannot be taken back is asked again before it happens", async () => {
  await using gateway = await startConsole();
  const { admin } = gateway.accounts;
  await admin.webhooks.set("default", "https://hooks.example.com/");
  const token = await credentialOf(gateway, "read");
  const operator = await visitAs(gateway, "operator");
  const owner = await visitAs(gateway, "manage");
  const states = async (): Promise<readonly unknown[]> => [
    (await admin.accounts.get("default")).status,
    (await admin.webhooks.get("default")).url,
    (await admin.tokens.list({ accountId: "default" })).data
      .find(({ id }) => id === token.id)?.revokedAtMs,
  ];
  const before = await states();
  // Who sends a form, from which page, to which address, and its fields.
  const asked: [Visitor, string, string, Record<string, string>][] = [
    [
      operator,
      `${OPERATOR}/accounts/default`,
      `${OPERATOR}/accounts/status/default`,
      { status: "disabled" },
    ],
    [
      operator,
      `${OPERATOR}/webhooks/default`,
      `${OPERATOR}/webhooks/remove/default`,
      {},
    ],
    [
      operator,
      `${OPERATOR}/accounts/default`,
      `${OPERATOR}/accounts/revoke-token/default`,
      { token: token.id },
    ],
    [owner, "/console/access", "/console/access/tokens/revoke", {
      id: token.id,
    }],
  ];
  for (const [visitor, page, path] of asked) {
    const html = await (await visitor.get(page)).text();
    const [, form = ""] = html.split(`action="${path}"`);
    assert.match(form.split("</form>")[0] ?? "", /name="ask"/, path);
  }
  const questions = await Promise.all(
    asked.map(async ([visitor, , path, form]) => {
      const reply = await visitor.post(path, { ...form, ask: "yes" });
      return await reply.text();
    }),
  );
  assert.deepEqual(await states(), before);
  for (const [at, html] of questions.entries()) {
    const [visitor, , path, form] = asked[at] ?? assert.fail();
    assert.match(html, /<h1>[^<]+\?<\/h1>/);
    assert.doesNotMatch(html, /name="ask"/);
    for (const [name, value] of Object.entries(form)) {
      assert.ok(html.includes(`name="${name}" value="${value}"`), path);
    }
    const reply = await visitor.post(path, form);
    await reply.body?.cancel();
    assert.equal(reply.status, 303, path);
  }
  const after = await states();
  assert.deepEqual(after.slice(0, 2), ["disabled", undefined]);
  assert.notEqual(after[2], undefined);
});
