/** Uncaught exceptions: they are logged, and the gateway stops in order without cutting streams. */
import assert from "node:assert/strict";
import { startProgram } from "../support/programs/program.ts";
import { withTimeout } from "../support/with_timeout.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";

const KEY = "sk-0123456789abcdefghij";

interface Case {
  readonly name: string;
  readonly signal: Deno.Signal;
  readonly source: string;
  readonly error: RegExp;
}

const CASES: readonly Case[] = [
  {
    name:
      "an uncaught exception is logged without a secret, streams finish, and the process exits with 1",
    signal: "SIGUSR1",
    source: "exception",
    error:
      /^TypeError: could not write with \[removed\] \| at \S*breakInTimer .*faulty_program\.ts/,
  },
  {
    name:
      "an unhandled rejection is logged, streams finish, and the process exits with 1",
    signal: "SIGUSR2",
    source: "rejection",
    error: /^RangeError: out of range \| at .*faulty_program\.ts/,
  },
];

for (const { name, signal, source, error } of CASES) {
  Deno.test(name, async () => {
    await using folder = await temporaryFolder();
    await using program = await startProgram({
      command: ["tests/support/programs/faulty_program.ts"],
      folder: folder.path,
      env: {
        GATEWAY_KEY: KEY,
        GATEWAY_UPSTREAM: "replay",
        DATABASE_URL: "sqlite::memory:",
      },
    });
    const stream = await program.call(KEY, {
      model: "vendorb-5",
      stream: true,
      text: "[[fx:slow?ms=40]]",
    });
    assert.equal(stream.status, 200);
    program.signal(signal);
    await withTimeout(
      program.printed(/"type":"fault".*\n/),
      "the log line of the fault",
    );
    assert.match(await stream.text(), /event: message_stop/);
    assert.equal(
      await withTimeout(program.ended, "the end of the process"),
      1,
      program.output(),
    );
    const lines = program.output().split("\n").filter((line) =>
      line.includes('"type":"fault"')
    );
    assert.equal(lines.length, 1);
    const line = JSON.parse(lines[0] ?? "");
    assert.equal(line.source, source);
    assert.match(line.error, error);
    assert.ok(!program.output().includes(KEY), "the key was printed");
  });
}
