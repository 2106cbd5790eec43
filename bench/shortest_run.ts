/**
 * The least time that a run takes: the sum of the lengths that it is set to. What starts, stops and
 * checks take comes on top.
 *
 * @module
 */
import { SETTLE_MS } from "./measure.ts";
import { leastMemoryMs } from "./memory.ts";
import type { PipelineOptions } from "./options.ts";
import { WARM_UP_MS as STEADY_WARM_UP_MS } from "./steady.ts";

/** The least time of a run without peers, in milliseconds. */
export function shortestRunMs(options: PipelineOptions): number {
  const { memory, laterSeconds, steady } = options;
  // The direct connection, the raw pipe and each gateway take turns.
  const targets = 2 + gatewaysIn(options);
  return exchangesMs(options) +
    (memory ? leastMemoryMs(laterSeconds) : 0) +
    (steady === undefined ? 0 : targets *
      (Math.min(STEADY_WARM_UP_MS, steady.ms) + SETTLE_MS +
        steady.rounds * (steady.ms + SETTLE_MS)));
}

function gatewaysIn(
  { gatewayFolders, denoVersions, others }: PipelineOptions,
): number {
  return gatewayFolders.length * Math.max(1, denoVersions.length) +
    others.length;
}

function exchangesMs(options: PipelineOptions): number {
  const gateways = gatewaysIn(options);
  const bases = new Set<string>();
  let sum = 0;
  for (const { kind, direction: { caller } } of options.scenarios) {
    const { events, perSecond } = kind.plan;
    const isPaced = perSecond > 0;
    const rounds = isPaced ? options.pacedRounds : options.rounds;
    const oneMs = isPaced ? events / perSecond * 1000 : options.ms;
    const warmUpMs = isPaced
      ? 0
      : Math.max(options.warmUpMs, options.ms) + SETTLE_MS;
    const memberMs = warmUpMs + rounds * (oneMs + SETTLE_MS);
    sum += gateways * memberMs;
    const base = `${kind.name} ${caller}`;
    if (bases.has(base)) continue;
    bases.add(base);
    // Paced streams are compared with one base, everything else also with the other.
    sum += (isPaced && kind.measures === "cpu" ? 1 : 2) * memberMs;
  }
  return sum;
}
