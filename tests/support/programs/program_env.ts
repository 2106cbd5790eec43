import { AUTHORITY_FILE } from "../upstreams/fault_upstream.ts";

/** The whole environment of a process that only loads the tree's code. */
export const PROGRAM_ENV: Readonly<Record<string, string>> = {
  PATH: "/usr/bin:/bin",
  HOME: Deno.env.get("HOME") ?? "/",
  NO_COLOR: "1",
};

/** The same, with the tests' certificate authority. */
export const TRUSTING_ENV: Readonly<Record<string, string>> = {
  ...PROGRAM_ENV,
  DENO_CERT: AUTHORITY_FILE,
};
