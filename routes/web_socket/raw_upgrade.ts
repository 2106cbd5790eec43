/**
 * The connection below a request of `Deno.serve`. Nothing public gives it: it is what Deno's own
 * `node:http` took for its `upgrade` event, and versions without it open no web sockets.
 */

/** What of a connection is used. */
export type RawConnection = Pick<Deno.Conn, "read" | "write" | "close">;

/** A request that is answered by hand, through its connection. */
interface RawUpgrade {
  readonly conn: RawConnection;
  /** Returned to `Deno.serve` in place of a response. */
  readonly response: Response;
}

type Take = (request: Request) => RawUpgrade;

const take: Take | undefined = takeOf(Deno);

function takeOf(deno: {
  readonly internal?: unknown;
  readonly [internal: symbol]: unknown;
}): Take | undefined {
  if (typeof deno.internal !== "symbol") return undefined;
  const internals = deno[deno.internal];
  if (typeof internals !== "object" || internals === null) return undefined;
  // That of Deno 2.5, with two parameters, does not report a client that leaves: its reply would go
  // on and be charged.
  return "upgradeHttpRaw" in internals &&
      typeof internals.upgradeHttpRaw === "function" &&
      internals.upgradeHttpRaw.length === 1
    ? internals.upgradeHttpRaw as Take
    : undefined;
}

/** Whether connections of requests can be taken over. */
export const CAN_UPGRADE: boolean = take !== undefined;

/**
 * Takes the connection of a request over; undefined if it cannot be taken. What is written first is
 * the head of the answer, alone: bytes after it in the same write are lost.
 */
export function rawUpgrade(request: Request): RawUpgrade | undefined {
  try {
    return take?.(request);
  } catch {
    // A request of HTTP/2.
    return undefined;
  }
}
