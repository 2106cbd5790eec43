import assert from "node:assert/strict";
import { OptionsError, parseOptions } from "./options.ts";

Deno.test("without flags everything is measured, and the run is complete", () => {
  const options = parseOptions([]);
  assert.equal(options.complete, true);
  assert.deepEqual([options.memory, options.starts > 0], [true, true]);
  assert.deepEqual(options.peers, ["nginx", "portkey"]);
  assert.equal(options.gatewayFolders.length, 1);
});

Deno.test("--scenario chooses sections as well as exchanges", () => {
  const memory = parseOptions(["--scenario=memory"]);
  assert.deepEqual(memory.scenarios, []);
  assert.deepEqual([memory.memory, memory.starts], [true, 0]);
  const small = parseOptions(["--scenario=chat/whole-small,start"]);
  assert.equal(small.scenarios.length, 1);
  assert.deepEqual([small.memory, small.starts > 0], [false, true]);
  assert.equal(small.complete, false);
});

Deno.test("--quick shortens a run, and --scenario can leave the steady rate out", () => {
  const full = parseOptions([]).steady;
  const quick = parseOptions(["--quick"]).steady;
  assert.ok(full !== undefined && quick !== undefined);
  assert.ok(quick.rounds * quick.ms < full.rounds * full.ms);
  const paced = ({ scenarios }: { scenarios: readonly { name: string }[] }) =>
    scenarios.filter(({ name }) => name.endsWith("/stream-paced")).length;
  assert.ok(paced(parseOptions(["--quick"])) < paced(parseOptions([])));
  assert.equal(parseOptions(["--scenario=memory"]).steady, undefined);
  assert.deepEqual(
    parseOptions(["--scenario=steady", "--rounds=2", "--seconds=0.5"]).steady,
    { rounds: 2, ms: 500 },
  );
});

Deno.test("--deno names versions of Deno", () => {
  const { denoVersions, complete } = parseOptions(["--deno=2.5.0,2.8.2"]);
  assert.deepEqual(denoVersions, ["2.5.0", "2.8.2"]);
  assert.equal(complete, false);
  assert.throws(() => parseOptions(["--deno=latest"]), OptionsError);
});

Deno.test("a run has both kinds of upstream, and with --tls processor time over TLS only", () => {
  const both = parseOptions([]);
  assert.equal(both.tls, false);
  assert.deepEqual(
    new Set(both.scenarios.map((one) => one.tls)),
    new Set([true, false]),
  );
  const { tls, peers, scenarios, steady, complete } = parseOptions(["--tls"]);
  assert.deepEqual([tls, steady, complete], [true, undefined, false]);
  assert.deepEqual(peers, both.peers);
  assert.ok(scenarios.length > 0);
  assert.ok(scenarios.every((one) => one.tls && one.kind.measures === "cpu"));
});

Deno.test("--tls selects over TLS what --scenario names", () => {
  for (const name of ["messages/whole-small", "tls/messages/whole-small"]) {
    const { scenarios } = parseOptions(["--tls", `--scenario=${name}`]);
    assert.deepEqual(scenarios.map((one) => one.name), [
      "tls/messages/whole-small",
    ]);
  }
  const { scenarios, memory } = parseOptions(["--tls", "--scenario=memory"]);
  assert.deepEqual([scenarios, memory], [[], true]);
});

Deno.test("--target describes a gateway with its key, headers, models and process", () => {
  const { others } = parseOptions([
    "--target=acme=http://127.0.0.1:4000/api",
    "--key=sk-1",
    "--header=x-team: blue",
    "--model-chat=gpt",
    "--pid=12",
  ]);
  assert.deepEqual(others, [{
    name: "acme",
    url: new URL("http://127.0.0.1:4000/api"),
    headers: {
      authorization: "Bearer sk-1",
      "x-api-key": "sk-1",
      "x-team": "blue",
    },
    models: { chat_completions: "gpt" },
    pid: 12,
  }]);
});

Deno.test("invalid values of flags are refused", () => {
  for (
    const flag of [
      "--nonsense",
      "--rounds=many",
      "--scenario=nonsense",
      "--scenario=tls/latency",
      "--target=http://127.0.0.1:1",
      "--target=a=https://example.com",
      "--header=nothing",
      "--peers=unknown",
      "stray",
    ]
  ) assert.throws(() => parseOptions([flag]), OptionsError, flag);
});
