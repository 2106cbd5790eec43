/**
 * The gateway with deliberate faults: SIGUSR1 throws an exception in a timer, SIGUSR2 leaves a
 * rejected promise unhandled, SIGWINCH has a library and the platform write a warning.
 */
import process from "node:process";
import "../../../main.ts";

function breakInTimer(): never {
  throw new TypeError(`could not write with ${Deno.env.get("GATEWAY_KEY")}`);
}

Deno.addSignalListener("SIGUSR1", () => setTimeout(breakInTimer, 0));
Deno.addSignalListener("SIGUSR2", () => {
  void Promise.reject(new RangeError("out of range"));
});
Deno.addSignalListener("SIGWINCH", () => {
  // deno-lint-ignore no-console
  console.log("a text of a library");
  process.emitWarning("this is old", "DeprecationWarning");
});
