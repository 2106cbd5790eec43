/**
 * The level of each line of the log.
 */
import type { AccountsEvent } from "../accounts/mod.ts";
import type { ConfigurationEvent } from "../settings/reload.ts";
import type { HostListEvent } from "../upstream/catalogue/host_lists.ts";
import type { CredentialEvent } from "../upstream/credential_set.ts";
import type { OtlpEvent } from "./otlp_settings.ts";
import type { ProcessEvent } from "./process_event.ts";

/** `warn`: an operator should look at it; `error`: calls or the books suffer until one does. */
export type Level = "info" | "warn" | "error";

/** What the log has beside calls and refusals. */
export type LoggedEvent =
  | AccountsEvent
  | CredentialEvent
  | HostListEvent
  | ConfigurationEvent
  | OtlpEvent
  | ProcessEvent;

export const EVENT_LEVELS: Readonly<Record<LoggedEvent["type"], Level>> = {
  store_down: "error",
  store_lacks_log: "error",
  recovery_failed: "error",
  audit_failed: "error",
  audit_differences: "error",
  credential_fails: "error",
  configuration_refused: "error",
  connections_exhausted: "error",
  fault: "error",
  start_refused: "error",
  read_replica_down: "warn",
  store_readable_by_others: "warn",
  webhooks_need_setting: "warn",
  webhook_given_up: "warn",
  models_not_listed: "warn",
  configuration_not_recorded: "warn",
  metrics_export_fails: "warn",
  log_lines_dropped: "warn",
  clock_differs: "warn",
  store_newer: "warn",
  start_note: "warn",
  platform_warning: "warn",
  store_up: "info",
  read_replica_up: "info",
  recovered: "info",
  corrected: "info",
  credential_works: "info",
  models_listed: "info",
  configuration_loaded: "info",
  configuration_unchanged: "info",
  metrics_export_works: "info",
  connections_accepted: "info",
  clock_agrees: "info",
  listening: "info",
  first_key: "info",
};

/** The level of a request; one that fails through no fault of its client is at least a warning. */
export function levelOf(
  { status, ended, error_of: side, code, note }: {
    readonly status: number;
    readonly ended: string;
    readonly error_of?: string;
    readonly code?: string;
    readonly note?: string;
  },
): Level {
  if (side === "gateway" || code === "internal") return "error";
  return ended === "failed" || status >= 500 || note !== undefined
    ? "warn"
    : "info";
}
