/**
 * The text printed at start: address, upstream and example commands. A first key was printed
 * before.
 */
import { generates, type ModelRow } from "./upstream/catalogue/models.ts";
import { ANY_KEY_SETTING } from "./upstream/catalogue/vendors.ts";
import type { Config } from "./settings/config.ts";
import { missingNotes, vendorNotes } from "./settings/configuration_notes.ts";
import { VERSION } from "./version.ts";

/** What is known at the start. */
export interface Start {
  /** Its vendors or the replay are shown, and whether `GATEWAY_KEY` is set. */
  readonly config: Config;
  /** The gateway's address, without a slash at the end. */
  readonly baseUrl: string;
  /** A key created at this start, for the commands; already shown. */
  readonly firstKey?: string;
  /** Code of a sign-in link for the default account, made at this start. */
  readonly signInCode?: string;
  /** False if there is no console. */
  readonly hasConsole: boolean;
  /** True if usage and balances are kept in memory only. */
  readonly isInMemory: boolean;
  /**
   * The offered models: the first and the last that generate appear in the commands, or a
   * placeholder if there is none.
   */
  readonly models: readonly (Pick<ModelRow, "operations"> & {
    readonly id: string;
  })[];
}

/** Address of the console, without a slash at the end. */
export function consoleAddress({ config, baseUrl }: Start): string {
  return `${config.publicUrl ?? baseUrl}/console`;
}

export function banner(
  options: Start,
): string {
  const { config, baseUrl, firstKey, isInMemory, models, signInCode } = options;
  const key = firstKey ?? "$GATEWAY_KEY";
  const ids = models.map(({ id }) => id);
  const generating = models.filter(generates);
  const model = generating[0]?.id ?? "MODEL";
  const other = generating.at(-1)?.id ?? model;
  const lines = [
    `Model gateway at ${baseUrl}`,
    `Version: ${VERSION}`,
    config.replay
      ? `Upstream: the embedded replay (set ${ANY_KEY_SETTING} for real models)`
      : `Upstream: ${Object.keys(config.vendors).join(", ")}`,
    ...vendorNotes(config),
    `Models: ${ids.join(", ")}`,
    ...missingNotes(config),
    "",
  ];
  if (isInMemory) {
    lines.push(
      "Store: no file can be written here; usage and balances are kept in memory until the gateway stops",
      "",
    );
  }
  const consoleUrl = consoleAddress(options);
  lines.push(
    signInCode !== undefined
      ? `Console, signed in with this link (it works once, for 15 minutes): ${consoleUrl}/sign-in#${signInCode}`
      : options.hasConsole
      ? `Console: ${consoleUrl}/ (sign in with a key, or with a link: deno task admin console link --account default)`
      : config.console === "off"
      ? "Console: off (GATEWAY_CONSOLE, or a platform without DATABASE_URL)"
      : "Console: off, because no store is kept",
    "",
  );
  if (options.hasConsole && config.adminToken !== undefined) {
    lines.push(`Operators: ${consoleUrl}/operator/`, "");
  }
  if (firstKey === undefined && config.gatewayKey === undefined) {
    lines.push(
      "Key: shown at the first start. If it is lost, `deno task admin keys issue --account default` creates another.",
      "",
    );
  }
  lines.push(
    firstKey === undefined
      ? "Try it, with GATEWAY_KEY set to your key:"
      : "Try it:",
    "",
    `curl ${baseUrl}/v1/messages -H 'x-api-key: ${key}' -H 'content-type: application/json' \\`,
    `  -d '{"model": "${model}", "max_tokens": 100, "messages": [{"role": "user", "content": "Hello"}]}'`,
    "",
    `curl ${baseUrl}/v1/chat/completions -H 'authorization: Bearer ${key}' -H 'content-type: application/json' \\`,
    `  -d '{"model": "${other}", "messages": [{"role": "user", "content": "Hello"}]}'`,
    "",
    `curl ${baseUrl}/v1/responses -H 'authorization: Bearer ${key}' -H 'content-type: application/json' \\`,
    `  -d '{"model": "${other}", "input": "Hello"}'`,
    "",
    `curl -N ${baseUrl}/v1/messages -H 'x-api-key: ${key}' -H 'content-type: application/json' \\`,
    `  -d '{"model": "${other}", "max_tokens": 100, "stream": true, "messages": [{"role": "user", "content": "Hello"}]}'`,
    "",
  );
  // Inside single quotes the shell would not expand the variable.
  return firstKey === undefined
    ? lines.join("\n").replaceAll(/'([^'\n]*\$GATEWAY_KEY)'/g, '"$1"')
    : lines.join("\n");
}
