/**
 * The operators' command line: `deno task admin NOUN VERB`. Runs the operations of the
 * admin API on the store that the settings name, also beside running gateways.
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { closestMatch } from "leven";
import { compact } from "../../translate/bytes/compact.ts";
import { ApiError } from "../../translate/model/error.ts";
import { type Admin, openAdmin } from "../accounts/repositories/admin.ts";
import { openStore } from "../accounts/store/open_store.ts";
import type { Store } from "../accounts/store/store.ts";
import { exportLedger } from "../admin/ledger.ts";
import { ADMIN_OPERATIONS } from "../admin/mod.ts";
import {
  checkConfig,
  checkJson,
  checkText,
  type ConfigCheck,
} from "./config_check.ts";
import { backUpStore } from "./back_up_store.ts";
import { importFile, importText } from "./import_file.ts";
import { discover, type Discovered, withRows } from "./discover.ts";
import { type Command, COMMANDS } from "./commands.ts";
import { fieldsOf, FlagError } from "./flag_values.ts";
import {
  checkedPrices,
  hasDifferences,
  importPrices,
  outcomeJson,
  outcomeText,
  type PriceFiles,
} from "./prices.ts";
import {
  type InvoiceFiles,
  isReconciled,
  reconcileFile,
  reconciliationText,
} from "./reconcile_file.ts";
import { replaceFile } from "./replace_file.ts";
import { textTable } from "./text_table.ts";
import { type Config, ConfigError, readConfig } from "../settings/config.ts";
import { storeOptions } from "../settings/store_options.ts";

interface CliContext {
  /** Opens the administration; called once the command is parsed. */
  readonly admin: () => Promise<Admin>;
  /** Checks the settings with a configuration file, for `config check`. */
  readonly check?: (
    file: string | undefined,
    url: string | undefined,
    reach: boolean,
  ) => Promise<ConfigCheck>;
  /** Copies the store into a file, for `store backup`; returns what it did. */
  readonly backUp?: (file: string) => Promise<string>;
  /** The models of a vendor, for `models discover`, and the files that it changes. */
  readonly models?: {
    readonly discover: (
      vendor: string,
    ) => Promise<Discovered>;
    readonly readFile: (path: string) => Promise<string>;
    readonly writeFile: (path: string, text: string) => Promise<void>;
  };
  /** The models of the configuration, and the files, for `ledger reconcile`. */
  readonly invoices?: InvoiceFiles;
  /** The cards of the configuration, and the files, for `prices`. */
  readonly prices?: PriceFiles;
  /** Current Unix time in milliseconds, for flags with a duration. */
  readonly now: () => number;
  /** The gateway's address as people reach it, without a slash at the end. */
  readonly baseUrl: string;
  /** Writes output: whole lines. */
  readonly print: (text: string) => void;
  /** Writes an error message. */
  readonly printError: (text: string) => void;
}

/** Runs a command. Returns the exit code: 0 success, 1 refused, 2 wrong usage. */
export async function runCli(
  words: readonly string[],
  context: CliContext,
): Promise<number> {
  const { print, printError } = context;
  let command: Command | undefined;
  try {
    const { positionals, flags, isJson } = parseCommandLine(words);
    const [noun = "", verb = "", ...ids] = positionals;
    if (noun === "" || noun === "help" || flags["help"] !== undefined) {
      print(help(noun === "help" ? verb : noun));
      return 0;
    }
    command = COMMANDS.find((one) => one.noun === noun && one.verb === verb);
    if (command === undefined) {
      const text = `${noun} ${verb}`.trim();
      const isNoun = COMMANDS.some((one) => one.noun === text);
      printError(
        isNoun
          ? `${text}: a verb is missing.\n`
          : `unknown command ${text}${
            suggestion(text, COMMANDS.map((one) => `${one.noun} ${one.verb}`))
          }.\n`,
      );
      printError(help(noun));
      return 2;
    }
    if (ids.length < command.leastIds || ids.length > command.mostIds) {
      printError(`expected: ${command.usage}`);
      return 2;
    }
    const fields = fieldsOf(command, flags, context.now());
    return command.noun === "prices"
      ? await priceCommand(command, ids[0], fields, isJson, context)
      : await execute(command, ids[0], fields, isJson, context);
  } catch (error) {
    if (error instanceof FlagError || isArgsError(error)) {
      printError(error.message);
      return 2;
    }
    if (error instanceof ApiError) {
      printError(namingFlag(command, error.message));
      return 1;
    }
    throw error;
  }
}

async function execute(
  command: Command,
  id: string | undefined,
  fields: Readonly<Record<string, unknown>>,
  isJson: boolean,
  context: CliContext,
): Promise<number> {
  const { admin: open, check, models, print, printError } = context;
  if (command.operationId === "discoverModels") {
    if (models === undefined) throw new FlagError("--vendor: no configuration");
    return await discoverModels(fields, models, print, printError);
  }
  if (command.operationId === "checkConfig") {
    if (check === undefined) throw new FlagError("no configuration");
    const { url, reach } = fields;
    const result = await check(
      id,
      typeof url === "string" ? url : undefined,
      reach === true,
    );
    const isValid = result.problems.length === 0;
    if (isJson) print(JSON.stringify(checkJson(result)));
    else (isValid ? print : printError)(checkText(result));
    const reachesAll = result.reached?.every(({ failure }) => !failure);
    return isValid && reachesAll !== false ? 0 : 1;
  }
  if (command.operationId === "backUpStore") {
    if (context.backUp === undefined) throw new FlagError("no configuration");
    print(await context.backUp(id ?? ""));
    return 0;
  }
  if (command.operationId === "reconcile") {
    const { invoices } = context;
    if (invoices === undefined) throw new FlagError("no configuration");
    const result = await reconcileFile(
      id ?? "",
      fields,
      await open(),
      invoices,
    );
    print(isJson ? JSON.stringify(result) : reconciliationText(result));
    return isReconciled(result) ? 0 : 1;
  }
  const admin = await open();
  if (command.operationId === "audit") {
    const findings = await admin.audit();
    if (isJson) print(JSON.stringify({ findings }));
    else if (findings.length === 0) print("The books balance.");
    else for (const finding of findings) printError(finding);
    return findings.length === 0 ? 0 : 1;
  }
  if (command.operationId === "exportLedger") {
    for await (const text of exportLedger(admin, fields).text) {
      // Printing ends the line: lines of CSV keep their carriage return.
      if (text !== "") print(text.replace(/\n$/, ""));
    }
    return 0;
  }
  if (command.operationId === "importAccounts") {
    if (context.invoices === undefined) throw new FlagError("no configuration");
    const result = await importFile(
      id ?? "",
      fields,
      admin,
      context.invoices.read,
    );
    print(isJson ? JSON.stringify(result) : importText(result));
    return result.failed === 0 ? 0 : 1;
  }
  const operation = ADMIN_OPERATIONS.find((one) =>
    one.operationId === command.operationId
  );
  if (operation === undefined) {
    throw new Error(`there is no operation ${command.operationId}`);
  }
  const answer = await operation.run(admin, {
    ...compact({ id }),
    ...(operation.method === "GET" ? { query: fields } : { body: fields }),
  });
  const shown = operation.operationId === "createSignInLink"
    ? { ...answer, link: `${context.baseUrl}${answer["path"]}` }
    : answer;
  print(isJson ? JSON.stringify(shown) : textTable(shown));
  return 0;
}

async function priceCommand(
  { operationId }: Command,
  file: string | undefined,
  fields: Readonly<Record<string, unknown>>,
  isJson: boolean,
  { prices, now, admin, print }: CliContext,
): Promise<number> {
  if (prices === undefined) throw new FlagError("no configuration");
  if (operationId === "checkPrices") {
    const findings = checkedPrices(fields, prices.configured, now());
    print(
      isJson
        ? JSON.stringify({ object: "list", data: findings })
        : findings.length === 0
        ? "Every model has a card with the rates that its vendors bill by."
        : textTable({ data: findings }),
    );
    return findings.length === 0 ? 0 : 1;
  }
  const outcome = await importPrices(file ?? "", fields, prices, now(), admin);
  print(isJson ? JSON.stringify(outcomeJson(outcome)) : outcomeText(outcome));
  return operationId === "diffPrices" && hasDifferences(outcome) ? 1 : 0;
}

async function discoverModels(
  fields: Readonly<Record<string, unknown>>,
  models: NonNullable<CliContext["models"]>,
  print: CliContext["print"],
  printError: CliContext["printError"],
): Promise<number> {
  const { vendor, write } = fields;
  if (typeof vendor !== "string" || vendor === "") {
    throw new FlagError("--vendor: is required");
  }
  const { rows, leftOut } = await models.discover(vendor);
  if (leftOut > 0) {
    printError(
      `${leftOut} entries of ${vendor} are left out: their ids are absent or no plain names (a path, for example). Start the server with a plain name, or write the rows by hand`,
    );
  }
  if (typeof write !== "string") {
    print(JSON.stringify({ models: rows }, null, 2));
    return 0;
  }
  try {
    const text = withRows(await models.readFile(write), rows);
    await models.writeFile(write, text);
  } catch (error) {
    const name = error instanceof Error ? error.name : "unknown failure";
    throw new FlagError(
      `--write: could not change ${write} (${name}); this command may write below ./data only. Without --write the rows are printed`,
    );
  }
  print(
    `${
      Object.keys(rows).length
    } models of ${vendor} are in ${write}; rows that it had are unchanged.`,
  );
  return 0;
}

interface ParsedCommandLine {
  readonly positionals: readonly string[];
  readonly flags: Readonly<Record<string, string>>;
  readonly isJson: boolean;
}

function parseCommandLine(words: readonly string[]): ParsedCommandLine {
  const flagKinds = new Map(
    COMMANDS.flatMap((one) => Object.entries(one.flags)).map((
      [name, { kind }],
    ) => [name, kind]),
  );
  const names = new Set(flagKinds.keys());
  for (const word of words) {
    if (word === "--") break;
    const name = /^--([^=]+)/.exec(word)?.[1];
    if (
      name !== undefined && name !== "json" && name !== "help" &&
      !names.has(name)
    ) {
      throw new FlagError(
        `--${name}: unknown flag${
          suggestion(`--${name}`, [...names].map((one) => `--${one}`))
        }`,
      );
    }
  }
  const { values, positionals } = parseArgs({
    args: [...words],
    allowPositionals: true,
    options: {
      json: { type: "boolean" },
      help: { type: "boolean", short: "h" },
      ...Object.fromEntries(
        [...flagKinds].map((
          [name, kind],
        ) => [
          name,
          { type: kind === "switch" ? "boolean" : "string" } as const,
        ]),
      ),
    },
  });
  const flags: Record<string, string> = {};
  for (const [name, value] of Object.entries(values)) {
    if (typeof value === "string") flags[name] = value;
    else if (value === true && name !== "json") flags[name] = "";
  }
  return { positionals, flags, isJson: values["json"] === true };
}

/** A suggestion for a mistyped name, if a similar one exists. */
function suggestion(text: string, names: readonly string[]): string {
  const near = closestMatch(text, [...names], {
    maxDistance: Math.ceil(text.length / 4),
  });
  return near === undefined ? "" : ` (did you mean ${near}?)`;
}

/** Replaces the field that an operation's error names with the flag that fills it. */
function namingFlag(command: Command | undefined, message: string): string {
  const field = /^(\w+)(?:\[\d+\])?: /.exec(message)?.[1];
  const [name] =
    Object.entries(command?.flags ?? {}).find(([, flag]) =>
      flag.field === field
    ) ?? [];
  return name === undefined || field === undefined
    ? message
    : `--${name}${message.slice(field.length)}`;
}

function isArgsError(error: unknown): error is Error {
  return error instanceof Error && "code" in error &&
    typeof error.code === "string" && error.code.startsWith("ERR_PARSE_ARGS");
}

function help(noun: string): string {
  const chosen = COMMANDS.filter((command) => command.noun === noun);
  const commands = chosen.length === 0
    ? [...Map.groupBy(COMMANDS, (one) => one.noun).values()].flat()
    : chosen;
  const lines = commands.flatMap((command) => [
    command.usage,
    ...(chosen.length === 0 ? [] : Object.entries(command.flags).map((
      [name, flag],
    ) => `    --${name.padEnd(12)} ${flag.help}`)),
  ]);
  return [
    "deno task admin NOUN VERB [--json]",
    "",
    ...lines,
    ...(chosen.length === 0 ? ["", "Flags: deno task admin help NOUN"] : []),
  ].join("\n");
}

async function main(): Promise<number> {
  const printError = (text: string): void => {
    // deno-lint-ignore no-console
    console.error(text);
  };
  let close = (): Promise<void> => Promise.resolve();
  try {
    const env = Deno.env.toObject();
    const readFile = (path: string): string => readFileSync(path, "utf8");
    let read: Config | undefined;
    // This program neither listens nor calls upstreams: a missing listen address or vendor
    // is no error.
    const config = (): Config =>
      read ??= readConfig({ env: { ...env, HOST: "127.0.0.1" }, readFile });
    return await runCli(Deno.args, {
      now: Date.now,
      check: (file, url, reach) =>
        checkConfig({ env, readFile }, file, url, reach),
      backUp: (file) => backUpStore(config().databaseUrl, file),
      models: {
        discover: (vendor) => discover(config(), vendor),
        readFile: Deno.readTextFile,
        writeFile: Deno.writeTextFile,
      },
      get invoices() {
        return { models: config().catalogue.models, read: textOfFile };
      },
      get prices() {
        const { configFile } = config();
        return {
          configured: config(),
          ...compact({ configFile }),
          read: wholeFile,
          replace: replacedFile,
        };
      },
      get baseUrl() {
        const { publicUrl, listen } = config();
        return publicUrl ?? `http://127.0.0.1:${listen?.port ?? 8787}`;
      },
      printError,
      // deno-lint-ignore no-console
      print: (text) => console.log(text),
      async admin() {
        const store = await openSettingsStore(config());
        close = () => store.close();
        const user = Deno.env.get("USER") ?? Deno.env.get("USERNAME");
        const ids = new Set(config().catalogue.models.map(({ id }) => id));
        const admin = await openAdmin(store, (model) => ids.has(model));
        return admin.as({
          kind: "command_line",
          via: "command_line",
          ...(user === undefined ? {} : { name: user.slice(0, 64) }),
        });
      },
    });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    printError(error.message);
    return 2;
  } finally {
    await close();
  }
}

async function* textOfFile(
  path: string,
): AsyncGenerator<string, void, void> {
  let file: Deno.FsFile;
  try {
    file = await Deno.open(path);
  } catch (error) {
    throw new FlagError(
      `could not read ${path} (${
        error instanceof Error ? error.name : "unknown failure"
      }); this command may read below the present folder only`,
    );
  }
  yield* file.readable.pipeThrough(new TextDecoderStream());
}

async function wholeFile(
  path: string,
): Promise<{ readonly text: string; readonly day?: string }> {
  const text = (await Array.fromAsync(textOfFile(path))).join("");
  const { mtime } = await Deno.stat(path);
  return {
    text,
    ...(mtime === null ? {} : { day: mtime.toISOString().slice(0, 10) }),
  };
}

async function replacedFile(path: string, text: string): Promise<void> {
  try {
    await replaceFile(path, text);
  } catch (error) {
    throw new FlagError(
      `could not change ${path} (${
        error instanceof Error ? error.name : "unknown failure"
      }); this command may write below ./data only: name a file there with --output`,
    );
  }
}

async function openSettingsStore(config: Config): Promise<Store> {
  try {
    return await openStore(config.databaseUrl, storeOptions(config));
  } catch (error) {
    const reason = error instanceof Error ? error.message : "unknown reason";
    throw new ConfigError([
      `DATABASE_URL: could not open the store: ${reason}`,
    ]);
  }
}

if (import.meta.main) Deno.exitCode = await main();
