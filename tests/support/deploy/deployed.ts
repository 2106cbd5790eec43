/**
 * Rules for whatever starts the gateway: its settings, and the time that its end takes.
 */
import assert from "node:assert/strict";
import { SETTING_NAMES } from "../../../gateway/settings/setting_forms.ts";
import { ENVIRONMENT } from "../../../deploy/image/places.ts";

/** After the drain limit: the error of aborted calls, the last ledger writes and log lines. */
const LAST_SECONDS = 5;

/** Secrets must be files: an environment shows up in whatever lists processes and containers. */
const SECRET = /TOKEN|KEY|PASSWORD|DATABASE_URL/;

/**
 * Asserts that every variable is a setting, that no secret is a value, that `readable` contains
 * each secret's file, and that `graceSeconds` is enough for the end of the process.
 */
export function assertSettings(
  env: Readonly<Record<string, string>>,
  { readable, graceSeconds }: {
    readonly readable: readonly string[];
    readonly graceSeconds: number;
  },
): void {
  for (const [name, value] of Object.entries(env)) {
    const setting = name.replace(/_FILE$/, "");
    if (setting === name) {
      assert.ok(SETTING_NAMES.includes(name) || name in ENVIRONMENT, name);
      assert.doesNotMatch(name, SECRET);
    } else {
      assert.ok(SETTING_NAMES.includes(setting), name);
      assert.match(setting, SECRET);
      assert.ok(readable.includes(value), `${value} is not mounted`);
    }
  }
  const seconds = (name: string): number => {
    const value = Number(env[name]);
    assert.ok(value > 0, `${name} is ${env[name]}`);
    return value;
  };
  const delay = seconds("GATEWAY_SHUTDOWN_DELAY_SECONDS");
  const drain = seconds("GATEWAY_DRAIN_SECONDS");
  assert.ok(
    graceSeconds >= delay + drain + LAST_SECONDS,
    `the process is killed after ${graceSeconds} s`,
  );
}
