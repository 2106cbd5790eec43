/**
 * Upstreams that send bytes which no request asked for. HTTP/1.1 does not name the request of a
 * reply, so such bytes may arrive just after the next request was sent and be taken for its reply.
 * After the first sight of them, connections to that upstream carry one call each for a while.
 */
import { monotonicMs } from "../../monotonic_ms.ts";

/** How long connections are not used again after stray bytes. */
const DISTRUST_MS = 10 * 60_000;

/** What is known of one upstream. */
export class StrayBytes {
  #untilMs = -Infinity;

  /** Stray bytes have arrived. */
  seen(): void {
    this.#untilMs = monotonicMs() + DISTRUST_MS;
  }

  /** Whether a connection may carry a second call. */
  get allowsReuse(): boolean {
    return monotonicMs() >= this.#untilMs;
  }
}
