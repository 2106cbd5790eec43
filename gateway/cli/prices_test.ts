import assert from "node:assert/strict";
import {
  isObject,
  type JsonObject,
  objectOr,
} from "../../translate/bytes/json.ts";
import { openAdmin } from "../accounts/repositories/admin.ts";
import { openStore } from "../accounts/store/open_store.ts";
import { readConfig } from "../settings/config.ts";
import { runCli } from "./cli.ts";
import { FlagError } from "./flag_values.ts";
import { compact } from "../../translate/bytes/compact.ts";

const NOW = Date.UTC(2026, 10, 23, 9);

const CONFIG = `{
    "vendors": { "proxy": { "kind": "openai_compatible", "base_url": "https://models.example.com/v1", "api_key_env": "PROXY" } },
    "models": {
        "large": {
            "vendor": "vendora",
            "upstream_model": "house-large-1",
            "created": 1700000000,
            "price": { "input": 4000000, "output": 25000000, "cache_read": 500000, "cache_write": 6250000, "uses": { "code_execution": 50000 } }
        },
        "unpriced": { "vendor": "vendorb", "upstream_model": "house-chat-2", "price": null },
        "elsewhere": { "vendor": "proxy", "upstream_model": "house-chat-2", "price": { "input": 1, "output": 2, "cache_read": 3, "cache_write": 4 } },
        "own": { "vendor": "proxy", "upstream_model": "own", "free": true },
        "short": { "alias": "large" },
        ${
  "opus-4-8,fable-5,sonnet-4-6,haiku-4-5,sonnet-4-6 (context-1m beta)"
    .split(",").map((name) => `"vendora-${name}": null`).join(", ")
},
        "vendorb-5.5": null, "vendorb-5": null, "vendorc-3-pro": null, "vendorc-3-flash": null, "vendord-m3": null
    }
}
`;

const TABLE = `{
  "house-large-1": {
    "cache_creation_input_token_cost": 6.25e-06,
    "cache_creation_input_token_cost_above_1hr": 1e-05,
    "cache_read_input_token_cost": 5e-07,
    "input_cost_per_token": 5e-06,
    "litellm_provider": "anthropic",
    "mode": "chat",
    "output_cost_per_token": 2.5e-05,
    "provider_specific_entry": { "us": 1.1 },
    "search_context_cost_per_query": { "search_context_size_high": 0.01 }
  },
  "house-chat-2": {
    "input_cost_per_token": 1e-06,
    "input_cost_per_token_priority": 2e-06,
    "litellm_provider": "openai",
    "mode": "chat",
    "output_cost_per_token": 8e-06,
    "output_cost_per_token_priority": 1.6e-05
  }
}`;

interface Bench {
  /** Files by path; changed by the command. */
  readonly files: Map<string, string>;
  run(command: string): Promise<{ code: number; out: string; err: string }>;
  /** The changes that were recorded, newest first. */
  changes(): Promise<readonly JsonObject[]>;
}

function test(
  name: string,
  body: (bench: Bench) => Promise<void>,
  configFile: string | null = "gateway.json",
): void {
  Deno.test(name, async () => {
    await using store = await openStore("sqlite::memory:");
    const files = new Map([["gateway.json", CONFIG], ["table.json", TABLE]]);
    const admin = async () =>
      (await openAdmin(store, () => true, () => NOW)).as({
        kind: "command_line",
        via: "command_line",
        name: "operator",
      });
    const run: Bench["run"] = async (command) => {
      const out: string[] = [];
      const err: string[] = [];
      const configured = readConfig({
        env: configFile === null ? {} : { GATEWAY_CONFIG: configFile },
        readFile: (path) => files.get(path) ?? "",
      });
      const code = await runCli(["prices", ...command.split(" ")], {
        admin,
        prices: {
          configured,
          ...compact({ configFile: configFile ?? undefined }),
          read(path) {
            const text = files.get(path);
            if (text === undefined) {
              throw new FlagError(`could not read ${path}`);
            }
            return Promise.resolve({ text, day: "2026-11-20" });
          },
          replace(path, text) {
            files.set(path, text);
            return Promise.resolve();
          },
        },
        now: () => NOW,
        baseUrl: "http://127.0.0.1:8787",
        print: (text) => out.push(text),
        printError: (text) => err.push(text),
      });
      return { code, out: out.join("\n"), err: err.join("\n") };
    };
    await body({
      files,
      run,
      async changes() {
        const { data } = await (await admin()).changes.list();
        return data.filter(({ action }) => action === "prices.import").map((
          { target, actorKind, before, after },
        ) => ({ target, actorKind, before, after }));
      },
    });
  });
}

/** The price of a model in the configuration file. */
function priceIn(text: string | undefined, id: string): unknown {
  const file: unknown = JSON.parse(text ?? "");
  assert.ok(isObject(file));
  return objectOr(objectOr(file["models"])[id])["price"];
}

const ORIGIN = {
  from: "2026-11-23",
  source: "litellm table, of 2026-11-20, sha256 ",
};

const LARGE = {
  input: 5_000_000,
  output: 25_000_000,
  cache_read: 500_000,
  cache_write: 6_250_000,
  cache_write_1h: 10_000_000,
  uses: { code_execution: 50_000, web_search: 10_000 },
  when: [{ region: "us", factor: 1.1 }],
};

test("prices diff shows what differs, says it by its status, and changes nothing", async ({ run, files, changes }) => {
  const { code, out, err } = await run("diff table.json");
  assert.equal(err, "");
  assert.equal(code, 1);
  assert.match(
    out,
    /^large +input +\$4\.00 \/ M tokens +\$5\.00 \/ M tokens +\+25 %$/m,
  );
  assert.match(out, /^large +uses\.web_search +\$0\.01 each +new$/m);
  assert.match(out, /^large +factor \(region us\) +× 1\.1 +new$/m);
  assert.match(out, /^unpriced +house-chat-2 +cache_read: absent; as input$/m);
  assert.match(
    out,
    /kept, because the table does not have it: uses\.code_execution/,
  );
  assert.match(out, /^elsewhere +the table has no such model/m);
  assert.doesNotMatch(out, /^(own|short) /m);
  assert.match(
    out,
    /Nothing was written\. .* these 2 cards, from 2026-11-23 on/,
  );
  assert.equal(files.get("gateway.json"), CONFIG);
  assert.deepEqual(await changes(), []);
});

test("prices import writes nothing without --apply", async ({ run, files }) => {
  const { code, out } = await run("import table.json --json");
  assert.equal(code, 0);
  const report: unknown = JSON.parse(out);
  assert.ok(isObject(report) && Array.isArray(report["data"]));
  assert.deepEqual(report["data"][0], {
    model: "large",
    meter: "input",
    unit: "per_million_tokens",
    now: 4_000_000,
    then: 5_000_000,
    change_percent: 25,
  });
  assert.equal(report["written"], null);
  assert.equal(files.get("gateway.json"), CONFIG);
});

test("prices import --apply writes the cards, keeps the rest, and records the change", async ({ run, files, changes }) => {
  const { code, err } = await run("import table.json --apply");
  assert.equal(err, "");
  assert.equal(code, 0);
  const text = files.get("gateway.json") ?? "";
  const large = objectOr(priceIn(text, "large"));
  const { version, source, from, ...card } = large;
  assert.deepEqual(card, LARGE);
  assert.equal(from, ORIGIN.from);
  assert.match(String(version), /^2026-11-23-[0-9a-f]{8}$/);
  assert.match(String(source), new RegExp(`^${ORIGIN.source}[0-9a-f]{12}$`));
  assert.deepEqual(objectOr(priceIn(text, "unpriced"))["when"], [
    { tier: "priority", factor: 2 },
  ]);
  // Every other line is as it was.
  const untouched = CONFIG.split("\n").filter((line) =>
    !/"price": [{n]/.test(line)
  );
  for (const line of untouched) assert.ok(text.includes(line), line);
  const [change, ...others] = await changes();
  assert.deepEqual(others, []);
  assert.equal(change?.["actorKind"], "command_line");
  assert.deepEqual(
    objectOr(change?.["before"])["model large"],
    "input 4000000, cache_write_1h none, uses.web_search none, factor (region us) none",
  );
  const after = objectOr(change?.["after"]);
  assert.equal(after["from"], ORIGIN.from);
  assert.equal(after["source"], source);
  assert.equal(
    after["model large"],
    "input 5000000, cache_write_1h 10000000, uses.web_search 10000, factor (region us) 1.1",
  );
  const again = await run("diff table.json");
  assert.equal(again.code, 0);
  assert.match(again.out, /are those of the configuration/);
});

test("prices import keeps the present card until a later one begins", async ({ run, files }) => {
  const { code, err } = await run(
    "import table.json --from=2027-01-01 --models=large --apply",
  );
  assert.equal(code, 0, err);
  const inputs = (): unknown => {
    const cards = priceIn(files.get("gateway.json"), "large");
    assert.ok(Array.isArray(cards));
    return cards.map(({ from, input }: JsonObject) => [from, input]);
  };
  assert.deepEqual(
    inputs(),
    [[undefined, 4_000_000], ["2027-01-01", 5_000_000]],
  );
  // From today on the earlier ones are not needed, and the later one stays.
  await run("import table.json --models=large --apply");
  assert.deepEqual(
    inputs(),
    [["2026-11-23", 5_000_000], ["2027-01-01", 5_000_000]],
  );
});

test("prices import takes the row that --models names", async ({ run, files }) => {
  const { code, err } = await run(
    "import table.json --models=elsewhere=house-chat-2 --apply --output=data/new.json",
  );
  assert.equal(code, 0, err);
  assert.equal(files.get("gateway.json"), CONFIG);
  const price = objectOr(priceIn(files.get("data/new.json"), "elsewhere"));
  assert.equal(price["input"], 1_000_000);
});

test("prices import needs a file to write to", async ({ run, files }) => {
  const command = "import table.json --apply";
  const { code, err } = await run(command);
  assert.equal(code, 1);
  assert.equal(err, "--output: is required without a file in GATEWAY_CONFIG");
  assert.equal((await run(`${command} --output=data/new.json`)).code, 0);
  assert.equal(files.get("data/new.json"), "{}\n");
}, null);

test("prices names the flag or the file that is wrong", async ({ run, files }) => {
  const rows: readonly (readonly [string, number, RegExp])[] = [
    ["diff absent.json", 2, /could not read absent\.json/],
    ["diff gateway.json", 1, /file: does not have the shape of a known/],
    ["diff table.json --table=models.dev", 1, /shape of models\.dev/],
    ["diff table.json --table=other", 1, /^--table: /],
    ["diff table.json --from=tomorrow", 1, /^--from: must be a day/],
    ["diff table.json --models=none-such", 1, /^--models: there is no/],
    ["diff table.json --models=short", 1, /^--models: there is no/],
    ["diff table.json --apply", 2, /--apply: not a flag of prices diff/],
    ["diff", 2, /expected: prices diff FILE/],
    ["check --older-than=month", 2, /--older-than: expected a duration/],
  ];
  for (const [command, code, message] of rows) {
    const result = await run(command);
    assert.match(result.err, message);
    assert.equal(result.code, code, command);
  }
  assert.equal(files.get("gateway.json"), CONFIG);
});

test("prices check names models without a card, old cards, and rates that are lacking", async ({ run }) => {
  const { code, out } = await run("check");
  assert.equal(code, 1);
  assert.match(out, /^unpriced +no card +calls are refused$/m);
  assert.match(
    out,
    /^large +no rate +cache_write_1h, uses\.web_search, region us$/m,
  );
  assert.doesNotMatch(out, /^(own|short|elsewhere) /m);
  assert.match(
    (await run("check --older-than=30d")).out,
    /^elsewhere +old card +it has no date$/m,
  );
  await run("import table.json --apply");
  const later = await run("check --json");
  assert.deepEqual(JSON.parse(later.out).data, [
    { model: "unpriced", finding: "no rate", detail: "uses.web_search" },
  ]);
});
