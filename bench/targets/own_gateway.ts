/**
 * This project's gateway in a typical installation: `main.ts` with the permissions of `deno task
 * start`, SQLite in a file, a prepaid account with a plan and limits, a key issued on the command
 * line, a log line for every call.
 */
import { newKey } from "../../gateway/accounts/key.ts";
import { probeFlag } from "../measure/loop_probe.ts";
import type { UpstreamDialect } from "../mock/mock_bodies.ts";
import { denoProgram } from "./deno_program.ts";
import { freePort, startServer } from "./programs.ts";
import {
  CALLER_PATHS,
  type Site,
  type StartOptions,
  type Target,
  type TargetKind,
  trusting,
  type Upstream,
  upstreamUrl,
} from "./target.ts";

/** The checkout to run, and its flags and settings. */
export interface OwnGatewayOptions {
  /** Folder of the checkout, with a trailing slash. */
  readonly folder: string;
  /** Additional flags for `deno run`. */
  readonly denoFlags?: readonly string[];
  /** Additional settings. */
  readonly env?: Readonly<Record<string, string>>;
  /** Additional settings of the processes, not of the command line that prepares the store. */
  readonly processEnv?: Readonly<Record<string, string>>;
  /** True: one key without a plan, and a store in memory, instead of the typical installation. */
  readonly isBare?: boolean;
  /** Version of Deno to run it with; absent: this program's. */
  readonly denoVersion?: string;
}

const MODELS: Readonly<Record<UpstreamDialect, string>> = {
  messages: "vendora-haiku-4-5",
  chat_completions: "vendorb-5",
  generate_content: "vendorc-3-flash",
  // Clients of this format reach this vendor's models in it.
  responses: "vendorb-5",
};

/** This project's gateway as a target. */
export function ownGateway(options: OwnGatewayOptions): TargetKind {
  return {
    name: "gateway",
    about: "this project's gateway: keys, limits, ledger and log on",
    prepare: (upstream) => prepare(upstream, options),
  };
}

/**
 * A store with an account and a key, on which gateway processes can be started. Disposing of it
 * deletes the store.
 */
interface GatewaySite extends Site {
  /** Starts a process on a free port. */
  start(options?: StartOptions): Promise<Target>;
}

/** Creates a store with an account and a key, in a temporary folder. */
export async function prepare(
  upstream: Upstream,
  options: OwnGatewayOptions,
): Promise<GatewaySite> {
  const folder = await Deno.makeTempDir({ prefix: "bench-gateway-" });
  const program = options.denoVersion === undefined
    ? Deno.execPath()
    : await denoProgram(options.denoVersion);
  const bareKey = options.isBare === true ? newKey() : undefined;
  const run = {
    ...options,
    program,
    cwd: folder,
    env: {
      ...settings(upstream),
      ...(bareKey === undefined
        ? {}
        : { DATABASE_URL: "sqlite::memory:", GATEWAY_KEY: bareKey }),
      ...options.env,
    },
  };
  try {
    await Deno.mkdir(`${folder}/data`);
    const key = bareKey ?? await makeKey(run);
    return {
      start: ({ probed = false } = {}) =>
        startProcess(run, key, freePort(), probed),
      [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
    };
  } catch (error) {
    await Deno.remove(folder, { recursive: true });
    throw error;
  }
}

interface Run extends OwnGatewayOptions {
  readonly program: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** All vendors at the mock upstream; settings that this process may have inherited are cleared. */
function settings(upstream: Upstream): Readonly<Record<string, string>> {
  const url = upstreamUrl(upstream);
  return {
    ...trusting(upstream),
    HOST: "127.0.0.1",
    DATABASE_URL: "",
    GATEWAY_KEY: "",
    GATEWAY_CONFIG: "",
    GATEWAY_UPSTREAM: "",
    VENDORA_API_KEY: "up-bench",
    VENDORA_BASE_URL: url,
    VENDORB_API_KEY: "up-bench",
    VENDORB_BASE_URL: `${url}/v1`,
    VENDORC_API_KEY: "up-bench",
    VENDORC_BASE_URL: url,
    VENDORD_API_KEY: "up-bench",
    VENDORD_BASE_URL: url,
    NO_COLOR: "1",
  };
}

async function startProcess(
  run: Run,
  key: string,
  port: number,
  probed: boolean | "cpu",
): Promise<Target> {
  const probePort = freePort();
  const server = await startServer(run.program, {
    args: await denoArgs(run, [["start", "main.ts"]], [
      ...run.denoFlags ?? [],
      ...probed ? [probeFlag(probePort, probed === "cpu")] : [],
    ]),
    cwd: run.cwd,
    env: { ...run.env, ...run.processEnv, PORT: String(port) },
  }, `http://127.0.0.1:${port}/readyz`);
  return {
    ...server,
    ...probed ? { probeUrl: `http://127.0.0.1:${probePort}/` } : {},
    address: ({ caller, upstream }) => ({
      host: "127.0.0.1",
      port,
      path: CALLER_PATHS[caller],
      headers: { "x-api-key": key },
      model: MODELS[upstream],
    }),
  };
}

/** Replaces the permissions of a task: Deno refuses both together. */
const ALLOW_ALL = "--allow-all";

/**
 * The flags of a task in deno.json, with the program's full path because the working directory is
 * another folder. Uses the first of `names` that the checkout
 * has.
 */
async function denoArgs(
  run: Run,
  names: readonly (readonly [task: string, program: string])[],
  flags: readonly string[],
): Promise<string[]> {
  const file = `${run.folder}deno.json`;
  // The tasks in deno.json are strings; anything else fails below.
  const { tasks } = JSON.parse(await Deno.readTextFile(file)) as {
    readonly tasks: Readonly<Record<string, string>>;
  };
  for (const [task, program] of names) {
    const [deno, command, ...rest] = (tasks[task] ?? "").split(" ");
    if (deno !== "deno" || command !== "run" || rest.at(-1) !== program) {
      continue;
    }
    return [
      "run",
      `--config=${file}`,
      "--no-check",
      ...rest.slice(0, -1).filter((flag) =>
        !(flags.includes(ALLOW_ALL) && flag.startsWith("--allow-"))
      ).map((flag) => flag.replace("--lock=", `--lock=${run.folder}`)),
      ...flags,
      run.folder + program,
    ];
  }
  const [task, program] = names[0] ?? [];
  throw new Error(`task ${task} is not \`deno run … ${program}\``);
}

/** The second is the one of older checkouts. */
const ADMIN_TASKS = [
  ["admin", "gateway/cli/cli.ts"],
  ["gateway", "gateway/cli.ts"],
] as const;

async function makeKey(run: Run): Promise<string> {
  const command = async (...words: string[]): Promise<unknown> => {
    const { success, stdout, stderr } = await new Deno.Command(
      Deno.execPath(),
      {
        args: [
          ...await denoArgs(
            run,
            ADMIN_TASKS,
            (run.denoFlags ?? []).filter((flag) => flag === ALLOW_ALL),
          ),
          ...words,
          "--json",
        ],
        cwd: run.cwd,
        env: { ...run.env },
      },
    ).output();
    const decoder = new TextDecoder();
    if (!success) {
      throw new Error(
        `could not do ${words.join(" ")}:\n${decoder.decode(stderr)}`,
      );
    }
    return JSON.parse(decoder.decode(stdout));
  };
  await command(
    ...["plans", "create", "--id", "bench"],
    ...["--rpm", "1000000000", "--tpm", "1000000000", "--concurrent", "100000"],
    ...["--usd-per-day", "1000000"],
  );
  await command(
    ...["accounts", "create", "--id", "bench"],
    ...["--plan", "bench", "--billing", "prepaid"],
  );
  await command("accounts", "top-up", "bench", "--usd", "1000000");
  const issued = await command("keys", "issue", "--account", "bench");
  if (
    typeof issued === "object" && issued !== null && "key" in issued &&
    typeof issued.key === "string"
  ) return issued.key;
  throw new Error(
    `no key was issued: ${JSON.stringify(Object.keys(issued ?? {}))}`,
  );
}
