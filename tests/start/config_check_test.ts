/** `config check`: what a start with other settings would refuse, and what it would change. */
import assert from "node:assert/strict";
import { checkConfig, checkText } from "../../gateway/cli/config_check.ts";
import { ADMIN_TOKEN } from "../support/console/visitor.ts";
import {
  AUTHORITY_FILE,
  certificate,
} from "../support/upstreams/fault_upstream.ts";
import { startHostUpstream } from "../support/upstreams/host_upstream.ts";
import { startLoopbackProxy } from "../support/upstreams/loopback_proxy.ts";
import { startProgram } from "../support/programs/program.ts";
import { startTestGateway, TEST_KEY } from "../support/test_gateway.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";

const PRICE = { input: 1, output: 2, cache_read: 0, cache_write: 0 };

function fileOf(input: number, more: Record<string, unknown> = {}): string {
  return JSON.stringify({
    vendors: {
      house: {
        kind: "openai_compatible",
        base_url: "http://127.0.0.1:9/v1",
        auth: "none",
        headers: { "x-proxy": `canary-${input}` },
      },
      ...more,
    },
    models: {
      "house-model": {
        price: { ...PRICE, input },
        candidates: [{ vendor: "house", upstream_model: "m" }],
      },
    },
  });
}

const ENV = {
  GATEWAY_CONFIG: "gateway.json",
  GATEWAY_KEY: TEST_KEY,
  GATEWAY_ADMIN_TOKEN: ADMIN_TOKEN,
  DATABASE_URL: "sqlite::memory:",
};

Deno.test("a check names what a valid configuration would change in the running gateway", async () => {
  await using gateway = await startTestGateway({
    env: ENV,
    configFile: fileOf(1),
  });
  const check = (env: Record<string, string>, file: string) =>
    checkConfig(
      { env: { ...ENV, ...env }, readFile: () => file },
      undefined,
      gateway.url,
    );
  const same = await check({}, fileOf(1));
  assert.match(
    checkText(same),
    /^The settings are valid\.\n1 models of house \(http:\/\/127\.0\.0\.1:9\/v1\)\n[^]*has the same settings; secrets are not compared\.$/,
  );
  const other = await check(
    { GATEWAY_PING_SECONDS: "7", VENDORA_API_KEY: "canary-key" },
    fileOf(3, {
      local: { kind: "openai_compatible", preset: "ollama", auth: "none" },
    }),
  );
  assert.deepEqual(other.running, {
    url: gateway.url,
    differences: [
      {
        at: "VENDORA_API_KEY",
        before: "not set",
        after: "set",
        takesEffect: "start",
      },
      {
        at: "GATEWAY_PING_SECONDS",
        before: "10",
        after: "7",
        takesEffect: "start",
      },
      {
        at: "vendors.local",
        before: "not set",
        after: '{"kind":"openai_compatible","preset":"ollama","auth":"none"}',
        takesEffect: "now",
      },
      {
        at: "models.house-model.price.input",
        before: "1",
        after: "3",
        takesEffect: "now",
      },
    ],
  });
  assert.match(
    checkText(other),
    /^ {2}GATEWAY_PING_SECONDS: 10 → 7 \(at the next start\)\n {2}vendors\.local: /m,
  );
  assert.doesNotMatch(JSON.stringify(other), /canary/);
  // Another token than the running gateway's.
  const strange = await check(
    { GATEWAY_ADMIN_TOKEN: "another-token-0123456789" },
    fileOf(1),
  );
  assert.deepEqual(strange.running, {
    url: gateway.url,
    unknown: "it has another admin token",
  });
});

Deno.test("the admin token is sent to this machine, or encrypted, only", () =>
  assert.rejects(
    checkConfig(
      { env: ENV, readFile: () => fileOf(1) },
      undefined,
      "http://gateway.example.com",
    ),
    /^Error: --url: must be https/,
  ));

Deno.test("the command reports every mistake at once, starts nothing, and ends with 1", async () => {
  await using folder = await temporaryFolder();
  await Deno.writeTextFile(`${folder.path}/other.json`, '{"vendrs": {}}');
  const run = async (
    env: Record<string, string>,
    ...words: string[]
  ): Promise<{ readonly code: number; readonly output: string }> => {
    await using program = await startProgram({
      folder: folder.path,
      command: ["gateway/cli/cli.ts", "config", "check", ...words],
      env,
      until: /\n/,
    });
    return { code: await program.ended, output: program.output() };
  };
  const wrong = await run({
    PORT: "http",
    HOST: "0.0.0.0",
    DATABASE_URL: "postgres://me:canary%zz@db.example.com/gateway",
    GATEWAY_ADMIN_TOKEN: "short",
  }, "other.json");
  assert.equal(
    wrong.output,
    "GATEWAY_CONFIG: other.json: top level: there is no field vendrs; did you mean vendors?\n" +
      "PORT: must be a whole number\n" +
      "GATEWAY_ADMIN_TOKEN: must have 16 or more characters and no blanks\n",
  );
  assert.equal(wrong.code, 1);
  const address = await run({
    DATABASE_URL: "postgres://me:canary%zz@db.example.com/gateway",
  });
  assert.equal(
    address.output,
    "DATABASE_URL: the password in the address is not percent-encoded\n",
  );
  const valid = await run({ PORT: "0" }, "--json");
  assert.equal(valid.code, 0, valid.output);
  assert.equal(JSON.parse(valid.output).valid, true);
  assert.deepEqual(
    [...Deno.readDirSync(folder.path)].map(({ name }) => name),
    ["other.json"],
  );
});

Deno.test("a check with --reach connects to every vendor without a call, and names what failed where", async () => {
  await using right = startHostUpstream(certificate("right"));
  await using expired = startHostUpstream(certificate("expired"));
  const { port } = new URL(right.url);
  await using proxy = startLoopbackProxy({
    leadsTo: { [`upstream.test:${port}`]: Number(port) },
  });
  const vendor = (base_url: string, row: object = {}) => ({
    kind: "openai_compatible",
    auth: "none",
    base_url,
    ...row,
  });
  const through = { proxy: `http://${proxy.address}` };
  const file = JSON.stringify({
    vendors: {
      direct: vendor(`${right.url}/v1`),
      tunnel: vendor(`https://upstream.test:${port}`, through),
      expired: vendor(expired.url),
      nameless: vendor("https://no-such-host.invalid"),
      refused: vendor("https://elsewhere.test", through),
    },
  });
  const checked = await checkConfig(
    {
      env: { ...ENV, SSL_CERT_FILE: AUTHORITY_FILE },
      readFile: (path) =>
        path === ENV.GATEWAY_CONFIG ? file : Deno.readTextFileSync(path),
    },
    undefined,
    undefined,
    true,
  );
  const lines = checkText(checked).split("\n").filter((line) =>
    /^(Not r|R)eached: /.test(line)
  );
  const by = `through the proxy ${proxy.address}`;
  assert.deepEqual(lines.slice(0, 3), [
    `Reached: direct at localhost:${port}, directly.`,
    `Reached: tunnel at upstream.test:${port}, ${by}.`,
    `Not reached: expired at localhost:${
      new URL(expired.url).port
    }, directly: the upstream's certificate has expired.`,
  ]);
  assert.match(
    lines[3] ?? "",
    /^Not reached: nameless at no-such-host\.invalid:443, directly: .*name/,
  );
  assert.equal(
    lines[4],
    `Not reached: refused at elsewhere.test:443, ${by}: the proxy ${proxy.address} refused the connection (status 403).`,
  );
  assert.equal(right.requests.length, 0);
});
