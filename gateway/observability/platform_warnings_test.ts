import assert from "node:assert/strict";
import process from "node:process";
import { watchWarnings } from "./platform_warnings.ts";

Deno.test("watchWarnings() writes what the console gets as lines, without quotes and secrets", () => {
  const before = process.listeners("warning");
  const lines: string[] = [];
  const nothing = (..._: readonly unknown[]): void => {};
  const console = {
    debug: nothing,
    info: nothing,
    log: nothing,
    warn: nothing,
    error: nothing,
    trace: nothing,
  };
  try {
    watchWarnings({
      print: (line) => lines.push(line),
      secrets: () => ["sk-0123"],
      console,
    });
    console.log("deprecated", new Error("since 2"));
    console.warn(`key sk-0123 of "a prompt"`);
    console.error("x".repeat(10_000));
    const parsed = lines.map((line) => JSON.parse(line));
    assert.deepEqual(
      parsed.map(({ type, level }) => `${level} ${type}`),
      Array.from({ length: 3 }, () => "warn platform_warning"),
    );
    assert.equal(parsed[0].text, "deprecated Error: since 2");
    assert.match(parsed[1].text, /^key \[removed\] of\s+…/);
    assert.equal(parsed[2].text.length, 300);
    assert.equal(process.listenerCount("warning"), 1);
  } finally {
    process.removeAllListeners("warning");
    for (const listener of before) process.on("warning", listener);
  }
});
