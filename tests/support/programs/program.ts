/**
 * The gateway as a separate process, for tests of its output, its files and its reaction to
 * signals.
 */
import { smallBody } from "../small_body.ts";
import { collected, type CollectedProgram } from "./collected_program.ts";
import { taskFlags } from "./task_flags.ts";

const ROOT = new URL("../../../", import.meta.url).pathname;

/** A process with a gateway. */
export interface Program extends CollectedProgram {
  /** The gateway's address; empty if the process ended without printing one. */
  readonly url: string;
  readonly pid: number;
  /** Sends a {@linkcode smallBody} to `/v1/messages`. */
  call(
    key: string,
    fields?: Parameters<typeof smallBody>[0],
  ): Promise<Response>;
}

interface ProgramOptions {
  /** Environment variables, in addition to `PATH`, `HOME` and a `PORT` of 0. */
  readonly env: Readonly<Record<string, string>>;
  /** Working directory; the gateway's store is in `data/` below it. */
  readonly folder: string;
  /** Script and its arguments; absent: the gateway (`main.ts`). */
  readonly command?: readonly string[];
  /** Permission flags; absent: network, environment, and all files. */
  readonly permissions?: readonly string[];
  /**
   * A wrapper command, such as `faketime`, that runs the command after its own arguments; absent:
   * none.
   */
  readonly starter?: readonly string[];
  /** Deno's executable; absent: that of this process. */
  readonly deno?: string;
  /** Output to wait for after the start; absent: the line with the gateway's address. */
  readonly until?: RegExp;
}

const PERMISSIONS: readonly string[] = [
  "--allow-net",
  "--allow-env",
  "--allow-read",
  "--allow-write",
];

const UNSTABLE = (await taskFlags("start")).filter((flag) =>
  flag.startsWith("--unstable-")
);

/** Starts the process and waits until it prints `until` or ends. */
export async function startProgram(
  {
    env,
    folder,
    command = ["main.ts"],
    permissions = PERMISSIONS,
    starter = [],
    deno = Deno.execPath(),
    until = /^Model gateway at .*\n/m,
  }: ProgramOptions,
): Promise<Program> {
  const [file = "", ...args] = command;
  const [first = "", ...rest] = [...starter, deno];
  const child = new Deno.Command(first, {
    args: [
      ...rest,
      "run",
      "--no-prompt",
      "--no-check",
      ...UNSTABLE,
      ...permissions,
      "--config",
      `${ROOT}deno.json`,
      `--lock=${ROOT}deno.lock`,
      ROOT + file,
      ...args,
    ],
    cwd: folder,
    env: {
      PATH: "/usr/bin:/bin",
      HOME: Deno.env.get("HOME") ?? "/",
      PORT: "0",
      ...env,
    },
    clearEnv: true,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const program = collected(child);
  await program.printed(until).catch(() => {});
  const url = /^Model gateway at (http\S+)\n/m.exec(program.output())?.[1] ??
    "";
  return {
    ...program,
    url,
    pid: child.pid,
    call: (key, fields) =>
      fetch(`${url}/v1/messages`, {
        method: "POST",
        headers: { "x-api-key": key, "content-type": "application/json" },
        body: JSON.stringify(smallBody(fields)),
      }),
  };
}
