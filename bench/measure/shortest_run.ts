/**
 * The least time that a run takes: the sum of the lengths that it is set to. What starts, stops and
 * checks take comes on top.
 */
import { SETTLE_MS } from "./measure.ts";
import { leastMemoryMs } from "./memory.ts";
import type { PipelineOptions } from "../options.ts";
import { pacedMs } from "./scenarios.ts";
import { WARM_UP_MS as STEADY_WARM_UP_MS } from "./steady.ts";
import { PORTKEY, portkeySupports } from "../targets/portkey.ts";
import { type Direction, isPassThrough } from "../targets/target.ts";

/** The least time of a run, in milliseconds, if all of its peers are installed. */
export function shortestRunMs(options: PipelineOptions): number {
  const { memory, laterSeconds, steady, peers } = options;
  // The direct connection, the raw pipe, each gateway and each peer take turns.
  const targets = 2 + gatewaysIn(options) + peers.length;
  return exchangesMs(options) +
    (memory ? leastMemoryMs(laterSeconds) : 0) +
    (steady === undefined ? 0 : targets *
      (Math.min(STEADY_WARM_UP_MS, steady.ms) + SETTLE_MS +
        steady.rounds * (steady.ms + SETTLE_MS)));
}

function gatewaysIn(
  { gatewayFolders, denoVersions, gatewaySettings, others }: PipelineOptions,
): number {
  return gatewayFolders.length *
      (denoVersions.length || 1 + gatewaySettings.length) +
    others.length;
}

function peersIn(
  { peers }: PipelineOptions,
  direction: Direction,
): number {
  return peers.filter((name) =>
    name === PORTKEY ? portkeySupports(direction) : isPassThrough(direction)
  ).length;
}

function exchangesMs(options: PipelineOptions): number {
  const gateways = gatewaysIn(options);
  const bases = new Set<string>();
  let sum = 0;
  for (const { kind, direction, tls } of options.scenarios) {
    const lengthMs = pacedMs(kind);
    const isPaced = lengthMs > 0;
    const rounds = isPaced ? options.pacedRounds : options.rounds;
    const oneMs = isPaced ? lengthMs : options.ms;
    const leastMs = isPaced ? lengthMs : Math.max(options.warmUpMs, options.ms);
    const warmUpMs = options.warmUpMs < lengthMs ? 0 : leastMs + SETTLE_MS;
    const memberMs = warmUpMs + rounds * (oneMs + SETTLE_MS);
    sum += (gateways + peersIn(options, direction)) * memberMs;
    const base = `${kind.name} ${direction.caller} ${tls}`;
    if (bases.has(base)) continue;
    bases.add(base);
    // Paced streams and upstreams over TLS are compared with one base, everything else also with
    // the other.
    sum += (isPaced && kind.measures === "cpu" || tls ? 1 : 2) * memberMs;
  }
  return sum;
}
