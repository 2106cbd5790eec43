/**
 * The gateway as a separate process, for tests of its output, its files and its reaction to
 * signals.
 */
import { taskFlags } from "./task_flags.ts";

const ROOT = new URL("../../../", import.meta.url).pathname;

/** A running process; disposing of it kills it. */
export interface Program extends AsyncDisposable {
  /** The gateway's address; empty if the process ended without printing one. */
  readonly url: string;
  output(): string;
  /** Resolves once the output matches; rejects if the process ends before. */
  printed(wanted: RegExp): Promise<void>;
  readonly pid: number;
  signal(signal: Deno.Signal): void;
  /** Exit code; resolves once the process has ended and its output has been read. */
  readonly ended: Promise<number>;
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
  let text = "";
  const looks = new Set<() => void>();
  const read = async (stream: ReadableStream<Uint8Array>): Promise<void> => {
    for await (const piece of stream.pipeThrough(new TextDecoderStream())) {
      text += piece;
      for (const look of [...looks]) look();
    }
  };
  const reading = Promise.all([read(child.stdout), read(child.stderr)]);
  const ended = (async () => {
    const { code } = await child.status;
    await reading;
    for (const look of [...looks]) look();
    return code;
  })();
  let over = false;
  ended.then(() => over = true);
  const printed = (wanted: RegExp): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (wanted.test(text)) {
          looks.delete(look);
          resolve();
        } else if (over) {
          looks.delete(look);
          reject(
            new Error(`the program ended without printing ${wanted}:\n${text}`),
          );
        }
      };
      looks.add(look);
      ended.then(look);
      look();
    });
  await Promise.race([
    printed(until).catch(() => {}),
    ended,
  ]);
  return {
    url: /^Model gateway at (http\S+)\n/m.exec(text)?.[1] ?? "",
    output: () => text,
    printed,
    pid: child.pid,
    signal: (signal) => child.kill(signal),
    ended,
    async [Symbol.asyncDispose]() {
      if (!over) {
        try {
          child.kill("SIGKILL");
        } catch {
          // The process has just ended.
        }
      }
      await ended;
    },
  };
}
