import assert from "node:assert/strict";
import { passwordsIn, watchFaults } from "./faults.ts";

function startWatcher(secrets: readonly string[] = []) {
  const lines: Record<string, unknown>[] = [];
  const watcher = { target: new EventTarget(), lines, counted: 0, stops: 0 };
  watchFaults({
    target: watcher.target,
    print: (line) => lines.push(JSON.parse(line)),
    count: () => watcher.counted++,
    stop: () => watcher.stops++,
    secrets: () => secrets,
    now: () => 0,
  });
  return watcher;
}

function thrown(error: unknown): Event {
  return Object.assign(new Event("error", { cancelable: true }), { error });
}

Deno.test("watchFaults() logs an exception with its stack, counts it and stops the process", () => {
  const watcher = startWatcher();
  const event = thrown(new TypeError("no socket"));
  watcher.target.dispatchEvent(event);
  assert.equal(event.defaultPrevented, true);
  const { ts, type, source, error } = watcher.lines[0] ?? {};
  assert.equal(ts, "1970-01-01T00:00:00.000Z");
  assert.deepEqual([type, source], ["fault", "exception"]);
  assert.match(
    String(error),
    /^TypeError: no socket \| at .*faults_test\.ts/,
  );
  assert.deepEqual([watcher.counted, watcher.stops], [1, 1]);
});

Deno.test("watchFaults() logs an unhandled rejection with its causes", () => {
  const watcher = startWatcher();
  const reason = new Error("outer", { cause: new RangeError("inner") });
  const event = new Event("unhandledrejection", { cancelable: true });
  watcher.target.dispatchEvent(Object.assign(event, { reason }));
  const [line] = watcher.lines;
  assert.equal(line?.["source"], "rejection");
  assert.match(
    String(line?.["error"]),
    /^Error: outer \| at .* \| caused by RangeError: inner \| at /,
  );
  assert.deepEqual([watcher.counted, watcher.stops], [1, 1]);
});

Deno.test("watchFaults() leaves out what a message quotes", () => {
  const watcher = startWatcher();
  for (const text of ["a secret prompt", '{"a": "secret"', '"secret" prompt']) {
    try {
      JSON.parse(text);
    } catch (error) {
      watcher.target.dispatchEvent(thrown(error));
    }
    try {
      new URL(`secret ${text}`);
    } catch (error) {
      watcher.target.dispatchEvent(thrown(error));
    }
    watcher.target.dispatchEvent(
      thrown(new TypeError(`cannot read 'secret' of ${text}`.slice(0, 20))),
    );
  }
  assert.equal(watcher.lines.length, 9);
  for (const line of watcher.lines) {
    assert.doesNotMatch(String(line["error"]), /secret|prompt/);
    assert.match(String(line["error"]), /^\w+Error\b.* \| at /);
  }
});

Deno.test("watchFaults() removes secrets and truncates the message", () => {
  const watcher = startWatcher(["sk-0123456789", ""]);
  watcher.target.dispatchEvent(
    thrown(new Error(`sk-0123456789 was refused: ${"x".repeat(10_000)}`)),
  );
  const text = String(watcher.lines[0]?.["error"]);
  assert.match(text, /^Error: \[removed\] was refused: x+ \| at /);
  assert.ok(text.length < 5000, `${text.length} characters`);
});

Deno.test("watchFaults() reports a thrown value that is not an Error", () => {
  const watcher = startWatcher();
  watcher.target.dispatchEvent(thrown("a prompt"));
  const [line] = watcher.lines;
  assert.equal(line?.["error"], "a value of type string was thrown");
});

Deno.test("passwordsIn() returns the password of an address, as written and decoded", () => {
  const found = passwordsIn("postgres://u:p%40ss@host/db");
  assert.deepEqual(found, ["p%40ss", "p@ss"]);
  assert.deepEqual(passwordsIn("sqlite:./data/x"), ["", ""]);
});
