/**
 * The start as events of the log, where no page for people is shown.
 */
import { consoleAddress, type Start } from "./banner.ts";
import type { ProcessEvent } from "./observability/process_event.ts";
import { missingNotes, vendorNotes } from "./settings/configuration_notes.ts";
import { VERSION } from "./version.ts";

/** The address and what belongs to it, then a note each that an operator should know. */
export function startEvents(
  start: Start,
  notes: readonly string[],
): readonly ProcessEvent[] {
  const { config, baseUrl, signInCode } = start;
  return [
    {
      type: "listening",
      address: baseUrl,
      version: VERSION,
      upstreams: config.replay ? ["replay"] : Object.keys(config.vendors),
      models: start.models.length,
      console: start.hasConsole ? `${consoleAddress(start)}/` : null,
      ...(signInCode === undefined
        ? {}
        : { sign_in: `${consoleAddress(start)}/sign-in#${signInCode}` }),
    },
    ...[
      ...vendorNotes(config),
      ...missingNotes(config),
      ...(start.isInMemory
        ? ["usage and balances are kept in memory until the gateway stops"]
        : []),
      ...notes,
    ].map((text) => ({ type: "start_note" as const, text })),
  ];
}
