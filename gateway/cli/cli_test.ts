import assert from "node:assert/strict";
import { isObject, type JsonObject } from "../../translate/bytes/json.ts";
import { openAdmin } from "../accounts/repositories/admin.ts";
import { openStore } from "../accounts/store/open_store.ts";
import { ADMIN_OPERATIONS } from "../admin/mod.ts";
import { runCli } from "./cli.ts";
import { COMMANDS } from "./commands.ts";

/** Texts of files by name. */
const FILES: Readonly<Record<string, string>> = {
  "accounts.csv":
    "account;plan;top_up_usd;key\nsearch;starter;20;ci\npay;starter;;",
  "wrong.csv": "account,plan\nsearch,none",
};

interface Bench {
  /** Runs a command. Returns its exit code and output. */
  run(command: string): Promise<{ code: number; out: string; err: string }>;
  json(command: string): Promise<JsonObject>;
}

function test(name: string, body: (bench: Bench) => Promise<void>): void {
  Deno.test(name, async () => {
    await using store = await openStore("sqlite::memory:");
    const now = (): number => Date.UTC(2026, 10, 21);
    const run: Bench["run"] = async (command) => {
      const out: string[] = [];
      const err: string[] = [];
      const words = command.split(" ").filter((word) => word !== "");
      const code = await runCli(words, {
        admin: () => openAdmin(store, (model) => model === "small", now),
        now,
        baseUrl: "http://127.0.0.1:8787",
        invoices: {
          models: [],
          read: (path) => ReadableStream.from([FILES[path] ?? ""]),
        },
        print: (text) => out.push(text),
        printError: (text) => err.push(text),
      });
      return { code, out: out.join("\n"), err: err.join("\n") };
    };
    await body({
      run,
      async json(command) {
        const { code, out, err } = await run(`${command} --json`);
        assert.equal(code, 0, err);
        const answer: unknown = JSON.parse(out);
        assert.ok(isObject(answer));
        return answer;
      },
    });
  });
}

test("commands create an account, top it up and issue a key", async ({ run, json }) => {
  await json(
    "plans create --id starter --models small --rpm 60 --usd-per-day 2.50",
  );
  await json("accounts create --id acme --plan starter");
  const entry = await json("accounts top-up acme --usd 12.5");
  assert.equal(entry["micro_usd"], 12_500_000);
  const key = await json("keys issue --account acme --expires 30d");
  assert.match(String(key["key"]), /^sk-/);
  assert.equal(key["expires_at"], "2026-12-21T00:00:00.000Z");
  await json(`keys rotate ${key["id"]} --overlap 24h`);
  await json(`keys revoke ${key["id"]}`);
  const { out } = await run("accounts list");
  assert.match(out, /^id +name +status +plan +billing +balance/);
  assert.match(out, /^acme +acme +active +starter +prepaid +\$12\.50/m);
  const { out: shown } = await run("accounts show acme");
  assert.match(shown, /^balance +\$12\.50$/m);
  assert.equal((await run("ledger audit")).out, "The books balance.");
  const { out: csv } = await run("ledger export --format csv");
  assert.match(csv, /^seq,.*\r\n1,.*\r$/);
  assert.equal((await run("usage report")).out, "Nothing found.");
});

test("the value none removes a limit", async ({ json }) => {
  await json("plans create --id p --rpm 5");
  const plan = await json("plans update p --rpm none");
  assert.equal(plan["requests_per_minute"], null);
});

for (
  const [words, expected] of [
    ["accounts dance", /unknown command accounts dance/],
    ["ledger", /^ledger: a verb is missing\.$/m],
    ["accounts show", /expected: accounts show ACCOUNT/],
    ["accounts list --rpm 5", /--rpm: not a flag of accounts list/],
    ["accounts list --nonsense", /^--nonsense: unknown flag$/],
    ["keys isue", /^unknown command keys isue \(did you mean keys issue\?\)/],
    [
      "keys issue --acount a",
      /^--acount: unknown flag \(did you mean --account\?\)$/,
    ],
    ["accounts top-up default --usd 1.2345678", /--usd: expected dollars/],
    ["keys rotate k --overlap soon", /--overlap: expected a duration/],
    ["plans create --rpm many", /--rpm: expected a whole number or none/],
  ] as const
) {
  test(`"${words}" exits with 2 and an explanation`, async ({ run }) => {
    const { code, err } = await run(words);
    assert.equal(code, 2);
    assert.match(err, expected);
  });
}

test("an operation's error is printed, with exit code 1", async ({ run }) => {
  const { code, err } = await run("accounts show missing");
  assert.equal(code, 1);
  assert.equal(err, "there is no account missing");
});

test("an operation's error on a field names its flag", async ({ run }) => {
  const rows: readonly (readonly [string, string])[] = [
    ["accounts top-up default", "--usd: required field is missing"],
    ["keys issue", "--account: required field is missing"],
    ["plans create --models huge", "--models[0]: there is no model huge"],
    [
      "accounts create --id default",
      "--id: the account default exists already",
    ],
    [
      "keys issue --account default --expires 2020-01-01",
      "--expires: must be in the future",
    ],
    [
      "ledger list --from yesterday",
      "--from: expected a time such as 2026-12-31T23:59:59Z or a day such as 2026-12-31",
    ],
  ];
  for (const [words, expected] of rows) {
    const { code, err } = await run(words);
    assert.equal(err, expected);
    assert.equal(code, 1);
  }
});

test("help lists the commands, and a noun's flags", async ({ run }) => {
  const { code, out } = await run("");
  assert.equal(code, 0);
  for (const { noun, verb } of COMMANDS) {
    assert.ok(out.includes(`${noun} ${verb}`));
  }
  assert.match((await run("help keys")).out, /--overlap/);
});

Deno.test("every operation has a command", () => {
  const commands = new Set(COMMANDS.map((one) => one.operationId));
  for (const { operationId } of ADMIN_OPERATIONS) {
    assert.ok(commands.has(operationId), operationId);
  }
});

test("accounts import shows a file, applies it once a day, and names wrong lines", async ({ run, json }) => {
  await json("plans create --id starter");
  const shown = await run("accounts import accounts.csv");
  assert.equal(shown.code, 0, shown.err);
  assert.match(shown.out, /create it on the plan starter; top up \$20\.00/);
  assert.match(shown.out, /4 changes would be made: --apply makes them/);
  assert.equal((await run("accounts show search")).code, 1);
  const apply = "accounts import accounts.csv --apply";
  const done = await run(apply);
  assert.equal(done.code, 0, done.err);
  assert.match(done.out, /sk-\w+/);
  const again = await run(apply);
  assert.equal(again.code, 0, again.err);
  assert.doesNotMatch(again.out, /sk-\w+/);
  const balance = async (): Promise<unknown> =>
    (await json("accounts show search"))["balance_micro_usd"];
  assert.equal(await balance(), 20_000_000);
  await run(`${apply} --idempotency-key=second`);
  assert.equal(await balance(), 40_000_000);
  const wrong = await run("accounts import wrong.csv");
  assert.equal(wrong.code, 1);
  assert.match(wrong.out, /plan: there is no plan none/);
  const refused = await run("accounts import wrong.csv --apply");
  assert.equal(refused.code, 1);
  assert.match(refused.err, /line 2: plan: there is no plan none/);
});
