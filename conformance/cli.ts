/**
 * `deno task conformance`: judges a gateway from outside, by the specification. The run is in
 * `run/run.ts`, the checks are in `areas/`.
 */
import { env } from "node:process";
import { Unreachable } from "./run/discover.ts";
import { EXIT, run } from "./run/run.ts";
import { standardScreen } from "./reports/screen.ts";
import { readSettings, UsageError } from "./run/settings.ts";

/** Runs with these arguments and returns the exit code. */
export async function main(
  args: readonly string[],
  environmentKey: string | undefined,
  environmentOtherKey?: string,
): Promise<number> {
  const screen = standardScreen();
  try {
    return await run(
      readSettings(args, environmentKey, environmentOtherKey),
      screen,
    );
  } catch (error) {
    if (error instanceof UsageError) {
      screen.line(`Cannot run: ${error.message}`);
      return EXIT.usage;
    }
    if (error instanceof Unreachable) {
      screen.line(`Cannot judge: ${error.message}`);
      return EXIT.unreachable;
    }
    const text = error instanceof Error ? error.stack ?? error.message : error;
    screen.line(`The suite failed: ${text}`);
    return EXIT.suiteFault;
  }
}

if (import.meta.main) {
  Deno.exit(
    await main(
      Deno.args,
      env["CONFORMANCE_API_KEY"],
      env["CONFORMANCE_OTHER_KEY"],
    ),
  );
}
