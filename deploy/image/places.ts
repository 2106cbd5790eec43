/**
 * Where things are in the image.
 */

/** The user and the group that the gateway runs as. */
export const USER = 65532;

/** Paths in the image, without the slash at the beginning. */
export const PLACES = {
  deno: "usr/bin/deno",
  app: "app",
  /** The npm packages, in the form of `DENO_DIR`. */
  packages: "var/cache/deno",
  /** The only folder that is written. */
  data: "data",
  /** The bill of materials. */
  sbom: "usr/share/model-gateway/sbom.cdx.json",
  /** The licences of everything in the image. */
  licences: "usr/share/model-gateway/licences.txt",
} as const;

/**
 * Folders that may be read beside those of the image: mounted secrets, tokens of clouds, and the
 * configuration file.
 */
const READ_PATHS = [
  "/app",
  "/data",
  "/etc/model-gateway",
  "/run/secrets",
  "/var/run/secrets",
];

/** Flags of `deno run` in the image: nothing is downloaded, only `/data` is written. */
const FLAGS = [
  "--cached-only",
  "--no-prompt",
  `--config=/${PLACES.app}/deno.json`,
  `--lock=/${PLACES.app}/deno.lock`,
  "--frozen",
  "--unstable-no-legacy-abort",
  "--allow-net",
  "--allow-env",
  "--allow-sys=setPriority",
  `--allow-read=${READ_PATHS.join()}`,
  "--allow-write=/data",
];

/** What the container runs. */
export const ENTRYPOINT: readonly string[] = [
  `/${PLACES.deno}`,
  "run",
  ...FLAGS,
  `/${PLACES.app}/main.ts`,
];

/**
 * `deno.json` at the root, the working directory: `deno task admin` is the command line for
 * operators. It is no part of `/app/deno.json`, because `deno task` asks the registry about the
 * packages that stand beside a task.
 */
export const ROOT_CONFIG: string = JSON.stringify({
  tasks: {
    admin: `deno run ${FLAGS.join(" ")} /${PLACES.app}/gateway/cli/cli.ts`,
  },
});

/** Tests whether the gateway can serve. */
export const HEALTH_CHECK: readonly string[] = [
  `/${PLACES.deno}`,
  "run",
  "--cached-only",
  "--no-prompt",
  "--no-config",
  "--allow-net=127.0.0.1",
  "--allow-env=PORT",
  `/${PLACES.app}/deploy/image/health_check.ts`,
];

export const ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH: "/usr/bin",
  HOME: "/data",
  DENO_DIR: `/${PLACES.packages}`,
  DENO_NO_UPDATE_CHECK: "1",
  HOST: "0.0.0.0",
  PORT: "8787",
  // SQLite sorts large results in files; no other folder can be written.
  SQLITE_TMPDIR: "/data",
};
