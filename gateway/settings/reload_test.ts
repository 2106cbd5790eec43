import assert from "node:assert/strict";
import { type Config, readConfig } from "./config.ts";
import { type ConfigurationEvent, loadedEvent, reload } from "./reload.ts";

const PRICE = { input: 1, output: 1, cache_read: 1, cache_write: 1 };

function read(file: unknown, env: Record<string, string> = {}): Config {
  return readConfig({
    env: { GATEWAY_CONFIG: "gateway.json", VENDORA_API_KEY: "k", ...env },
    readFile: () => typeof file === "string" ? file : JSON.stringify(file),
  });
}

const FIRST = { models: { m: { vendor: "vendora", price: PRICE } } };

function reloaded(
  readNext: () => Config,
  configure: (next: Config) => void = () => {},
): {
  readonly event: ConfigurationEvent | undefined;
  readonly current: Config;
} {
  let current = read(FIRST);
  let event: ConfigurationEvent | undefined;
  reload({
    read: readNext,
    current: () => current,
    configure(next) {
      configure(next);
      current = next;
    },
    onEvent: (one) => event = one,
  });
  return { event, current };
}

Deno.test("reload() makes a valid file take effect and reports its hash", () => {
  const next = read({ models: { n: { vendor: "vendora", price: PRICE } } });
  const { event, current } = reloaded(() => next);
  assert.equal(current, next);
  assert.equal(event?.type, "configuration_loaded");
  assert.equal(event.hash, next.configHash);
  assert.match(event.hash ?? "", /^[0-9a-f]{12}$/);
  const offered = next.catalogue.models.filter(({ candidates }) =>
    candidates.some(({ vendor }) => vendor === "vendora")
  );
  assert.ok(offered.length < next.catalogue.models.length);
  assert.equal(event.models, offered.length);
});

Deno.test("reload() refuses a file with any problem as a whole, with every reason", () => {
  const { event, current } = reloaded(() =>
    read({
      models: { n: { vendor: "vendora", price: PRICE }, o: { vendor: "x" } },
      vendors: { y: { kind: "vendorz", api_key_env: "K" } },
    })
  );
  assert.deepEqual(Object.keys(event ?? {}), ["type", "reason", "hash"]);
  assert.equal(event?.type, "configuration_refused");
  assert.equal(
    event.reason,
    "GATEWAY_CONFIG: gateway.json: vendors.y.kind: there is no kind vendorz; did you mean vendora?\n" +
      "GATEWAY_CONFIG: gateway.json: models.o.vendor: there is no vendor x; did you mean y?",
  );
  assert.equal(event.hash, current.configHash);
  assert.ok(current.catalogue.models.some(({ id }) => id === "m"));
});

Deno.test("reload() keeps the configuration in force if another one cannot be applied", () => {
  const { event, current } = reloaded(
    () => read({ models: {} }),
    () => {
      throw new Error("a text that may contain anything");
    },
  );
  assert.ok(current.catalogue.models.some(({ id }) => id === "m"));
  assert.equal(event?.type, "configuration_refused");
  assert.equal(event.reason, "the configuration could not be applied");
});

Deno.test("reload() refuses the change between replay and vendors", () => {
  const next = () => read({ models: {} }, { VENDORA_API_KEY: "" });
  const { event } = reloaded(next);
  assert.equal(event?.type, "configuration_refused");
  assert.match(event.reason, /at the next start only/);
});

Deno.test("reload() of the same file changes nothing", () => {
  const { event } = reloaded(() => read(FIRST));
  assert.equal(event?.type, "configuration_unchanged");
});

Deno.test("loadedEvent() names models without a price, which cannot be called", () => {
  const event = loadedEvent(read({
    vendors: {
      local: { kind: "openai_compatible", preset: "ollama", auth: "none" },
    },
    models: {
      unpriced: { vendor: "vendora" },
      marked: { vendor: "vendora", price: "free" },
      spoken: { vendor: "vendora", free: true },
      local: { vendor: "local", upstream_model: "llama3" },
    },
  }));
  assert.equal(event.type, "configuration_loaded");
  assert.deepEqual(event.unpriced, ["unpriced", "local"]);
});
