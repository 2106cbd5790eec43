/**
 * What is printed at start: the address, a key where one was made just now, and commands to paste.
 *
 * @module
 */
import type { Config } from "./config.ts";

/** What the text needs to know. */
export interface BannerFacts {
  /** Says who answers (the replay or which vendors) and whether `GATEWAY_KEY` is set. */
  readonly config: Config;
  /** Address to call, without a slash at the end. */
  readonly baseUrl: string;
  /** A key made at this start; it cannot be shown again. */
  readonly freshKey?: string;
  /** True where usage and balances are kept in memory only. */
  readonly forgetful: boolean;
  /** Ids on offer: the first and the last stand in the commands, a placeholder where there is none. */
  readonly models: readonly string[];
}

/** The text. */
export function banner(
  { config, baseUrl, freshKey, forgetful, models }: BannerFacts,
): string {
  const key = freshKey ?? "$GATEWAY_KEY";
  const model = models[0] ?? "MODEL";
  const other = models.at(-1) ?? model;
  const lines = [
    `Model gateway at ${baseUrl}`,
    config.replay
      ? "Upstream: the embedded replay (set VENDORA_API_KEY, VENDORB_API_KEY, VENDORC_API_KEY or VENDORD_API_KEY for real models)"
      : `Upstream: ${Object.keys(config.vendors).join(", ")}`,
    ...(config.replay || config.withoutKey.length === 0 ? [] : [
      `Without a key, not called: ${
        config.withoutKey.map(({ name, keySetting }) =>
          `${name} (set ${keySetting})`
        ).join(", ")
      }`,
    ]),
    `Models: ${models.join(", ")}`,
    "",
  ];
  if (forgetful) {
    lines.push(
      "Store: none can be written here; usage and balances last until the stop",
      "",
    );
  }
  if (freshKey !== undefined) {
    lines.push(`Key, shown this once: ${freshKey}`, "");
  } else if (config.gatewayKey === undefined) {
    lines.push(
      "Key: the one shown at the first start. To begin anew, delete the store (DATABASE_URL) or set GATEWAY_KEY.",
      "",
    );
  }
  lines.push(
    "Try it:",
    "",
    `curl ${baseUrl}/v1/messages -H 'x-api-key: ${key}' -H 'content-type: application/json' \\`,
    `  -d '{"model": "${model}", "max_tokens": 100, "messages": [{"role": "user", "content": "Hello"}]}'`,
    "",
    `curl ${baseUrl}/v1/chat/completions -H 'authorization: Bearer ${key}' -H 'content-type: application/json' \\`,
    `  -d '{"model": "${other}", "messages": [{"role": "user", "content": "Hello"}]}'`,
    "",
    `curl -N ${baseUrl}/v1/messages -H 'x-api-key: ${key}' -H 'content-type: application/json' \\`,
    `  -d '{"model": "${other}", "max_tokens": 100, "stream": true, "messages": [{"role": "user", "content": "Hello"}]}'`,
    "",
  );
  // Inside single quotes the shell would not put the variable's value.
  return freshKey === undefined
    ? lines.join("\n").replaceAll(/'([^'\n]*\$GATEWAY_KEY)'/g, '"$1"')
    : lines.join("\n");
}
