/**
 * The command line of operators: `deno task gateway NOUN VERB`, the same operations as the admin API's, on the store that the
 * settings name. It may run beside gateways that serve.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { ApiError } from "../translate/error.ts";
import { type Admin, openAdmin } from "./accounts/admin.ts";
import { openStore } from "./accounts/open_store.ts";
import type { Store } from "./accounts/store.ts";
import { exportLedger } from "./admin/ledger.ts";
import { ADMIN_OPERATIONS } from "./admin/mod.ts";
import { type Command, COMMANDS, fieldsOf, FlagError } from "./cli_commands.ts";
import { forPeople } from "./cli_table.ts";
import { ConfigError, readConfig } from "./config.ts";

/** What a command works with. */
export interface CliSurroundings {
  /** Opens the registers; called once the command is understood. */
  readonly admin: () => Promise<Admin>;
  /** Unix time in milliseconds, for flags that say how long. */
  readonly now: () => number;
  /** Writes an answer: whole lines. */
  readonly print: (text: string) => void;
  /** Writes what went wrong. */
  readonly complain: (text: string) => void;
}

/** Runs a command. Gives the exit code: 0 done, 1 refused, 2 not understood. */
export async function runCli(
  words: readonly string[],
  surroundings: CliSurroundings,
): Promise<number> {
  const { print, complain } = surroundings;
  try {
    const { positionals, flags, isJson } = understood(words);
    const [noun = "", verb = "", ...ids] = positionals;
    if (noun === "" || noun === "help" || flags["help"] !== undefined) {
      print(help(noun === "help" ? verb : noun));
      return 0;
    }
    const command = COMMANDS.find((one) =>
      one.noun === noun && one.verb === verb
    );
    if (command === undefined) {
      complain(`There is no command ${[noun, verb].join(" ").trim()}.\n`);
      complain(help(noun));
      return 2;
    }
    if (ids.length !== (command.id === undefined ? 0 : 1)) {
      complain(`Expected: ${usageOf(command)}`);
      return 2;
    }
    const fields = fieldsOf(command, flags, surroundings.now());
    return await carryOut(command, ids[0], fields, isJson, surroundings);
  } catch (error) {
    if (error instanceof FlagError || isArgsError(error)) {
      complain(error.message);
      return 2;
    }
    if (error instanceof ApiError) {
      complain(error.message);
      return 1;
    }
    throw error;
  }
}

async function carryOut(
  command: Command,
  id: string | undefined,
  fields: Readonly<Record<string, unknown>>,
  isJson: boolean,
  { admin: open, print, complain }: CliSurroundings,
): Promise<number> {
  const admin = await open();
  if (command.operation === "audit") {
    const findings = await admin.audit();
    if (isJson) print(JSON.stringify({ findings }));
    else if (findings.length === 0) print("The books balance.");
    else for (const finding of findings) complain(finding);
    return findings.length === 0 ? 0 : 1;
  }
  if (command.operation === "exportLedger") {
    for await (const text of exportLedger(admin, fields).text) {
      print(text.replace(/\r?\n$/, ""));
    }
    return 0;
  }
  const operation = ADMIN_OPERATIONS.find((one) =>
    one.operation === command.operation
  );
  if (operation === undefined) {
    throw new Error(`there is no operation ${command.operation}`);
  }
  const answer = await operation.run(admin, {
    ...(id === undefined ? {} : { id }),
    ...(operation.method === "GET" ? { query: fields } : { body: fields }),
  });
  print(isJson ? JSON.stringify(answer) : forPeople(answer));
  return 0;
}

interface Understood {
  readonly positionals: readonly string[];
  readonly flags: Readonly<Record<string, string>>;
  readonly isJson: boolean;
}

function understood(words: readonly string[]): Understood {
  const names = new Set(COMMANDS.flatMap(({ flags }) => Object.keys(flags)));
  const { values, positionals } = parseArgs({
    args: [...words],
    allowPositionals: true,
    options: {
      json: { type: "boolean" },
      help: { type: "boolean", short: "h" },
      ...Object.fromEntries(
        [...names].map((name) => [name, { type: "string" as const }]),
      ),
    },
  });
  const flags: Record<string, string> = {};
  for (const [name, value] of Object.entries(values)) {
    if (typeof value === "string") flags[name] = value;
    else if (name === "help") flags[name] = "";
  }
  return { positionals, flags, isJson: values["json"] === true };
}

function isArgsError(error: unknown): error is Error {
  return error instanceof Error && "code" in error &&
    typeof error.code === "string" && error.code.startsWith("ERR_PARSE_ARGS");
}

function help(noun: string): string {
  const chosen = COMMANDS.filter((command) => command.noun === noun);
  const commands = chosen.length === 0 ? COMMANDS : chosen;
  const lines = commands.flatMap((command) => [
    usageOf(command),
    ...(chosen.length === 0 ? [] : Object.entries(command.flags).map((
      [name, flag],
    ) => `    --${name.padEnd(12)} ${flag.help}`)),
  ]);
  return [
    "deno task gateway NOUN VERB [--json]",
    "",
    ...lines,
    ...(chosen.length === 0 ? ["", "Flags: deno task gateway help NOUN"] : []),
  ].join("\n");
}

function usageOf({ noun, verb, id }: Command): string {
  return [noun, verb, ...(id === undefined ? [] : [id.toUpperCase()])].join(
    " ",
  );
}

async function main(): Promise<number> {
  const complain = (text: string): void => {
    // deno-lint-ignore no-console
    console.error(text);
  };
  let close = (): Promise<void> => Promise.resolve();
  try {
    // Where the gateway listens is not this program's business, nor whether it has vendors.
    const config = readConfig({
      env: { ...Deno.env.toObject(), HOST: "127.0.0.1" },
      readFile: (path) => readFileSync(path, "utf8"),
    });
    const ids = new Set(config.catalogue.models.map(({ id }) => id));
    return await runCli(Deno.args, {
      now: Date.now,
      complain,
      // deno-lint-ignore no-console
      print: (text) => console.log(text),
      async admin() {
        const store = await opened(config.databaseUrl);
        close = () => store.close();
        return await openAdmin(store, (model) => ids.has(model));
      },
    });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    complain(error.message);
    return 2;
  } finally {
    await close();
  }
}

async function opened(databaseUrl: string): Promise<Store> {
  try {
    return await openStore(databaseUrl);
  } catch (error) {
    const reason = error instanceof Error ? error.message : "unknown reason";
    throw new ConfigError([
      `DATABASE_URL: could not open the store: ${reason}`,
    ]);
  }
}

if (import.meta.main) Deno.exitCode = await main();
