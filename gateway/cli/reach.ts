/**
 * `config check --reach`: connects to every vendor's address by its way, with the handshake of TLS,
 * and makes no call.
 */
import type { Config } from "../settings/config.ts";
import { callError } from "../upstream/http/call_error.ts";
import { dialer } from "../upstream/http/dial.ts";
import { destinationOf } from "../upstream/http/way.ts";

/** Whether a vendor's address can be connected to. */
export interface Reached {
  readonly vendor: string;
  /** Host and port. */
  readonly address: string;
  /** Host and port of the proxy; absent: directly. */
  readonly proxy?: string;
  /** Why it cannot; absent: it can. */
  readonly failure?: string;
}

/** Tries all vendors at once. */
export function reachVendors(
  { vendors, way, connectTimeoutMs }: Pick<
    Config,
    "vendors" | "way" | "connectTimeoutMs"
  >,
): Promise<readonly Reached[]> {
  return Promise.all(
    Object.entries(vendors).map(async ([vendor, access]) => {
      const { way: own = way, baseUrl } = access;
      const { destination, isTls } = destinationOf(new URL(baseUrl));
      const { hostname, port } = destination;
      const proxy = own.proxyTo(destination, isTls)?.name;
      const signal = AbortSignal.timeout(connectTimeoutMs);
      const reached: Reached = {
        vendor,
        address: `${
          hostname.includes(":") ? `[${hostname}]` : hostname
        }:${port}`,
        ...(proxy === undefined ? {} : { proxy }),
      };
      try {
        const conn = await dialer({ way: own })({
          ...destination,
          isTls,
          signal,
        });
        conn.close();
        return reached;
      } catch (error) {
        const { message, details: { note } } = callError(error);
        return {
          ...reached,
          failure: signal.aborted
            ? `no connection within ${connectTimeoutMs / 1000} seconds`
            : note ?? message,
        };
      }
    }),
  );
}

/** A line for each vendor. */
export function reachLines(
  all: readonly Reached[],
): readonly string[] {
  return all.map(({ vendor, address, proxy, failure }) => {
    const by = proxy === undefined ? "directly" : `through the proxy ${proxy}`;
    return failure === undefined
      ? `Reached: ${vendor} at ${address}, ${by}.`
      : `Not reached: ${vendor} at ${address}, ${by}: ${failure}.`;
  });
}
