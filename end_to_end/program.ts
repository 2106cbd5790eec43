/**
 * The gateway as a program of its own, for tests of what it prints, keeps and does at a signal.
 *
 * @module
 */
const ROOT = new URL("../", import.meta.url).pathname;

/** A running program. Disposing of it kills it. */
export interface Program extends AsyncDisposable {
  /** What it listens on; empty where it ended before. */
  readonly url: string;
  /** Everything that it has printed so far, on both outputs. */
  output(): string;
  /** Settles once the output has it. */
  printed(wanted: RegExp): Promise<void>;
  /** Sends a signal. */
  signal(signal: Deno.Signal): void;
  /** Its exit code, once it has ended and its output has been read. */
  readonly ended: Promise<number>;
}

/** How to start one. */
export interface ProgramOptions {
  /** Beside those that every program needs; the port is a free one. */
  readonly env: Readonly<Record<string, string>>;
  /** Where it runs; its store is in `data/` there. */
  readonly folder: string;
  /** The file and its arguments; absent: the gateway itself. */
  readonly command?: readonly string[];
  /** What it may do; absent: network, environment, and the whole disk. */
  readonly permissions?: readonly string[];
}

const PERMISSIONS: readonly string[] = [
  "--allow-net",
  "--allow-env",
  "--allow-read",
  "--allow-write",
];

/** Starts one, and waits until it listens or has ended. */
export async function startProgram(
  { env, folder, command = ["main.ts"], permissions = PERMISSIONS }:
    ProgramOptions,
): Promise<Program> {
  const [file = "", ...args] = command;
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-prompt",
      "--no-check",
      ...permissions,
      "--config",
      `${ROOT}deno.json`,
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
          reject(new Error(`it ended without ${wanted}:\n${text}`));
        }
      };
      looks.add(look);
      ended.then(look);
      look();
    });
  await Promise.race([
    printed(/^Model gateway at .*\n/m).catch(() => {}),
    ended,
  ]);
  return {
    url: /^Model gateway at (http\S+)\n/m.exec(text)?.[1] ?? "",
    output: () => text,
    printed,
    signal: (signal) => child.kill(signal),
    ended,
    async [Symbol.asyncDispose]() {
      if (!over) {
        try {
          child.kill("SIGKILL");
        } catch {
          // It has just ended.
        }
      }
      await ended;
    },
  };
}
