/** A port that was free a moment ago: a restarted process listens where a proxy expects it. */
export function freePort(): string {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return String(listener.addr.port);
}
