/**
 * Explains in one sentence why the gateway cannot listen, naming the setting at fault.
 */
import { ConfigError, type ListenAddress } from "./settings/config.ts";

/** The first port that does not require privileges. */
const FIRST_UNPRIVILEGED_PORT = 1024;

/**
 * Converts an error of {@linkcode Deno.serve} to a {@linkcode ConfigError}; returns an error that
 * no setting causes unchanged.
 */
export function listenError(error: unknown, address?: ListenAddress): unknown {
  const problem = address === undefined || !(error instanceof Error)
    ? undefined
    : describeProblem(error, address);
  return problem === undefined ? error : new ConfigError([problem]);
}

function describeProblem(
  error: Error,
  { hostname, port }: ListenAddress,
): string | undefined {
  switch (error.name) {
    case "AddrInUse":
      return `PORT: ${port} on ${hostname} is in use by another program: stop that program, or set PORT to a free port (0 takes any)`;
    case "AddrNotAvailable":
      return `HOST: ${hostname} is not an address of this machine: set HOST to one that is, or to 0.0.0.0 for all of them`;
    case "PermissionDenied":
      return port > 0 && port < FIRST_UNPRIVILEGED_PORT
        ? `PORT: only a privileged user may listen on ${port}: set PORT to ${FIRST_UNPRIVILEGED_PORT} or more`
        : `PORT: the system does not allow listening on port ${port} of ${hostname}`;
    case "NotCapable":
      return `PORT: Deno is not permitted to listen on port ${port} of ${hostname}: start it with --allow-net, as deno task start does`;
  }
  return error.name === "URIError" || /lookup address/.test(error.message)
    ? `HOST: could not resolve ${hostname}: set HOST to an address of this machine or to a name that resolves to one`
    : undefined;
}
