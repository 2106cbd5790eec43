import assert from "node:assert/strict";
import { compact } from "../../translate/bytes/compact.ts";
import { readConfig } from "./config.ts";
import type { SettingInForce } from "./settings_in_force.ts";

function settings(
  env: Readonly<Record<string, string>>,
  file = "{}",
): ReadonlyMap<string, SettingInForce> {
  const config = readConfig({ env, readFile: () => file });
  return new Map(config.settings.map((one) => [one.name, one]));
}

Deno.test("a setting has its value in force and where it is from", () => {
  const found = settings({
    PORT: "9000",
    VENDORB_API_KEY: "canary-key",
    VENDORA_BASE_URL: "http://u:canary-password@proxy.example.com:81/a",
    VENDORA_API_KEY: "canary-key",
    DATABASE_URL:
      "postgres://me:canary-password@db.example.com/gateway?sslpassword=canary",
    GATEWAY_ADMIN_TOKEN: "canary-admin-token-0123",
    GATEWAY_CONFIG: "gateway.json",
    GATEWAY_CORS_ORIGINS: "",
  }, '{"vendors":{"vendorb":{"base_url":"https://b.example.com/v1"}}}');
  for (
    const [name, value, source] of [
      ["HOST", "127.0.0.1", "default"],
      ["PORT", "9000", "environment"],
      ["VENDORA_BASE_URL", "http://proxy.example.com:81/a", "environment"],
      ["VENDORB_BASE_URL", "https://b.example.com/v1", "file"],
      ["DATABASE_URL", "postgres://db.example.com/gateway", "environment"],
      ["GATEWAY_CONFIG", "gateway.json", "environment"],
      ["GATEWAY_UPSTREAM", undefined, "default"],
      ["GATEWAY_CORS_ORIGINS", undefined, "default"],
      ["GATEWAY_MAX_CONCURRENT_PER_KEY", "2000", "default"],
      ["GATEWAY_PING_SECONDS", "10", "default"],
      ["GATEWAY_PUBLIC_URL", undefined, "default"],
    ] as const
  ) {
    assert.deepEqual(found.get(name), {
      name,
      isSecret: false,
      isSet: value !== undefined,
      ...compact({ value }),
      source,
    });
  }
  assert.doesNotMatch(JSON.stringify([...found]), /canary/);
});

Deno.test("a secret is reported as set or not", () => {
  const found = settings({ GATEWAY_KEY: "sk-canary-0123456789abcdef" });
  assert.deepEqual(found.get("GATEWAY_KEY"), {
    name: "GATEWAY_KEY",
    isSecret: true,
    isSet: true,
    source: "environment",
  });
  assert.equal(found.get("GATEWAY_ADMIN_TOKEN")?.isSet, false);
  for (const { isSecret, value } of found.values()) {
    if (isSecret) assert.equal(value, undefined);
  }
});

Deno.test("what a deployment changes by itself is reported", () => {
  assert.equal(settings({}).get("GATEWAY_UPSTREAM")?.value, "replay");
  const platform = settings({ DENO_DEPLOY: "1", VENDORA_API_KEY: "k" });
  assert.equal(platform.get("GATEWAY_CONSOLE")?.value, "off");
  assert.equal(platform.get("GATEWAY_STORE_RESPONSES")?.value, "off");
  assert.equal(platform.get("DATABASE_URL")?.value, "sqlite::memory:");
});
