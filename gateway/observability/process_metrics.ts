/**
 * Metrics of the process, under the names that Prometheus' client libraries use.
 */
import process from "node:process";
import { VERSION } from "../version.ts";
import { gauge, type Metric, readCounter } from "./exposition.ts";

/** @param startedAtMs Unix time in milliseconds */
export function processMetrics(startedAtMs: number): readonly Metric[] {
  return [
    gauge(
      "gateway_build_info",
      "1, with the versions of the gateway and of Deno",
      () => [[{ version: VERSION, deno: Deno.version.deno }, 1]],
    ),
    gauge(
      "process_start_time_seconds",
      "Start of the process, in Unix seconds",
      () => startedAtMs / 1000,
    ),
    readCounter(
      "process_cpu_seconds_total",
      "Processor time of all threads",
      () => {
        const { user, system } = process.cpuUsage();
        return (user + system) / 1_000_000;
      },
    ),
    gauge(
      "process_resident_memory_bytes",
      "Memory in use",
      () => Deno.memoryUsage().rss,
    ),
  ];
}
