/**
 * Reports a settled call: its line of the log, its record, its span and its metrics.
 */
import type { ReplyProgress } from "../../translate/model/reply_progress.ts";
import type { Gateway } from "../gateway.ts";
import type { CallFacts } from "../observability/call_facts.ts";
import type { CallSpan } from "../observability/call_span.ts";
import { callLogEntry, type SettledCall } from "../observability/log_entry.ts";
import { vendorWords } from "../upstream/vendor_words.ts";

interface ReportedCall extends SettledCall {
  /** Its name in metrics, by OpenTelemetry's conventions. */
  readonly name: string;
  readonly call: SettledCall["call"] & { readonly facts: CallFacts };
  /** Undefined if spans are not collected. */
  readonly span: CallSpan | undefined;
  /** Undefined where no reply began. */
  readonly progress: ReplyProgress | undefined;
}

export function reportCall(
  gateway: Pick<Gateway, "log" | "otlpMetrics" | "config">,
  settled: ReportedCall,
): void {
  const { call: { facts }, failover, charge, progress, error, nowMs } = settled;
  const { calls, candidate } = failover;
  facts.charge = charge;
  // An upstream that broke off its reply has no failed attempt.
  const broke = settled.outcome.ended === "failed" && !settled.causedByGateway
    ? progress?.error
    : undefined;
  facts.words = calls.map((one, at) =>
    vendorWords(one.error ?? (at === calls.length - 1 ? broke : undefined))
  );
  facts.isLogged = error instanceof Error;
  const entry = callLogEntry(settled);
  gateway.log(entry, facts);
  settled.span?.end({
    entry,
    candidate,
    calls,
    ...(progress === undefined ? {} : { progress }),
    nowMs,
  });
  gateway.otlpMetrics?.record({
    name: settled.name,
    entry,
    candidate,
    began: settled.began,
    vendors: gateway.config.catalogue.vendors,
  });
}
