/**
 * Containers by Debian's crun, an OCI runtime: the program runs in the root file system that umoci
 * unpacked, with the settings of the image, read-only and without capabilities.
 */
import { join } from "node:path";
import { run } from "../../../deploy/image/run.ts";
import {
  collected,
  type CollectedProgram,
} from "../programs/collected_program.ts";

/**
 * crun refuses a machine that has control groups of both versions, as nested machines do. It runs
 * in a mount namespace of its own with one version, and creates no group.
 */
const IN_OWN_MOUNTS = [
  "--mount",
  "--propagation=private",
  "sh",
  "-c",
  'umount -R /sys/fs/cgroup; mount -t cgroup2 cgroup2 /sys/fs/cgroup && exec "$@"',
  "sh",
];

interface Mount {
  readonly destination: string;
  readonly type: string;
  readonly source: string;
  readonly options?: readonly string[];
}

/** Settings of a process and its mounts, as the runtime takes them. */
interface RuntimeConfig {
  process: {
    terminal: boolean;
    args: string[];
    env: string[];
    user: { uid: number; gid: number };
    capabilities: Record<string, string[]>;
    noNewPrivileges: boolean;
    rlimits?: unknown;
  };
  root: { path: string; readonly: boolean };
  mounts: Mount[];
  linux: { namespaces: { type: string }[] };
}

/** Why no container can run here; undefined if one can. */
export async function whyNoContainer(): Promise<string | undefined> {
  if (Deno.build.os !== "linux") return "no Linux";
  const folder = await Deno.makeTempDir();
  try {
    for (const program of ["apt-get", "dpkg-deb", "npm"]) {
      await run(program, ["--version"]);
    }
    await run("umoci", ["--version"]);
    await run("crun", ["spec"], { cwd: folder });
    const config: RuntimeConfig = JSON.parse(
      await Deno.readTextFile(join(folder, "config.json")),
    );
    config.process.args = ["/usr/bin/true"];
    const root = join(folder, "root");
    await Deno.mkdir(root);
    const hardened = harden(config, root);
    for (const path of ["/usr", "/lib", "/lib64"]) {
      hardened.mounts.push(bind(path, path, "ro"));
    }
    await run("unshare", crun(folder, hardened));
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : "unknown";
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function bind(source: string, destination: string, access: "ro" | "rw"): Mount {
  return {
    source,
    destination,
    type: "bind",
    options: ["bind", access, "nosuid", "nodev"],
  };
}

/** Writes the settings and gives the command line after `unshare`. */
function crun(bundle: string, config: RuntimeConfig): string[] {
  Deno.writeTextFileSync(join(bundle, "config.json"), JSON.stringify(config));
  return [
    ...IN_OWN_MOUNTS,
    "crun",
    "--cgroup-manager=disabled",
    "run",
    "--bundle",
    bundle,
    "--pid-file",
    join(bundle, "pid"),
    `test-${crypto.randomUUID()}`,
  ];
}

/** What `--read-only --user 65532 --cap-drop=all` of podman do, on the machine's network. */
function harden(
  config: RuntimeConfig,
  root: string,
  user = 0,
): RuntimeConfig {
  const { process, mounts, linux } = config;
  const { rlimits: _, ...rest } = process;
  return {
    ...config,
    process: {
      ...rest,
      terminal: false,
      user: { uid: user, gid: user },
      capabilities: {},
      noNewPrivileges: true,
    },
    root: { path: root, readonly: true },
    mounts: mounts.filter(({ type }) => !/^(cgroup|sysfs|mqueue)$/.test(type)),
    linux: {
      ...linux,
      namespaces: linux.namespaces.filter(({ type }) =>
        !/^(network|cgroup|user)$/.test(type)
      ),
    },
  };
}

/** An image as umoci has unpacked it, with a volume. */
export class UnpackedImage {
  readonly #bundle: string;
  readonly #settings: RuntimeConfig;
  /** The folder of the volume `/data` on the machine. */
  readonly volume: string;

  private constructor(bundle: string, volume: string, config: RuntimeConfig) {
    this.#bundle = bundle;
    this.volume = volume;
    this.#settings = config;
  }

  /** Unpacks an OCI archive into an empty folder. */
  static async unpack(archive: string, folder: string): Promise<UnpackedImage> {
    const [layout, bundle, volume] = ["layout", "bundle", "volume"].map(
      (name) => join(folder, name),
    ) as [string, string, string];
    await Deno.mkdir(layout);
    await Deno.mkdir(volume);
    await run("tar", ["-xf", archive, "-C", layout]);
    const tag = (await run("umoci", ["ls", "--layout", layout])).trim();
    await run("umoci", ["unpack", "--image", `${layout}:${tag}`, bundle]);
    const config: RuntimeConfig = JSON.parse(
      await Deno.readTextFile(join(bundle, "config.json")),
    );
    const { uid, gid } = config.process.user;
    await Deno.chown(volume, uid, gid);
    return new UnpackedImage(bundle, volume, config);
  }

  /** The root file system on the machine. */
  get root(): string {
    return join(this.#bundle, "rootfs");
  }

  get user(): number {
    return this.#settings.process.user.uid;
  }

  /** Starts a container; `args` replace the image's command. */
  start(
    env: Readonly<Record<string, string>>,
    args: readonly string[] = this.#settings.process.args,
  ): Container {
    const id = crypto.randomUUID();
    const bundle = join(this.#bundle, id);
    Deno.mkdirSync(bundle);
    const hardened = harden(this.#settings, this.root, this.user);
    const config: RuntimeConfig = {
      ...hardened,
      process: {
        ...hardened.process,
        args: [...args],
        env: [
          ...hardened.process.env,
          ...Object.entries(env).map((pair) => pair.join("=")),
        ],
      },
      mounts: [
        ...hardened.mounts.filter(({ destination }) => destination !== "/data"),
        bind(this.volume, "/data", "rw"),
      ],
    };
    const child = new Deno.Command("unshare", {
      args: crun(bundle, config),
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    return new Container(child, join(bundle, "pid"));
  }
}

/** A started container; disposing of it kills its process. */
class Container implements AsyncDisposable {
  readonly #pidFile: string;
  readonly #program: CollectedProgram;

  constructor(child: Deno.ChildProcess, pidFile: string) {
    this.#program = collected(child);
    this.#pidFile = pidFile;
  }

  get output(): string {
    return this.#program.output();
  }

  /** Exit code; resolves once the container has ended and its output has been read. */
  get ended(): Promise<number> {
    return this.#program.ended;
  }

  /** Its process, as the machine sees it. */
  get pid(): number {
    return Number(Deno.readTextFileSync(this.#pidFile));
  }

  /** Resolves with the match once the output has one; rejects if the container ends before. */
  printed(wanted: RegExp): Promise<RegExpExecArray> {
    return this.#program.printed(wanted);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#program.isOver()) {
      try {
        // The runtime's own end would leave the process.
        Deno.kill(this.pid, "SIGKILL");
      } catch {
        // It ended by itself.
      }
    }
    await this.ended;
  }
}
