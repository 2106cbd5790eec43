import assert from "node:assert/strict";
import { type LineWriter, lineWriter } from "./line_writer.ts";

const gap = (dropped: number): string => `(${dropped} dropped)`;

/** A writer whose writes end when the test ends them. */
function heldWriter(): {
  lines: LineWriter;
  written: string[];
  next(): Promise<void>;
  end(error?: Error): void;
} {
  const written: string[] = [];
  let begun = Promise.withResolvers<void>();
  let held = Promise.withResolvers<void>();
  return {
    lines: lineWriter({
      gap,
      write(text) {
        written.push(text);
        held = Promise.withResolvers();
        begun.resolve();
        begun = Promise.withResolvers();
        return held.promise;
      },
    }),
    written,
    next: () => begun.promise,
    end: (error) => error === undefined ? held.resolve() : held.reject(error),
  };
}

Deno.test("lines added together are written together, in order", async () => {
  const written = Promise.withResolvers<string>();
  const lines = lineWriter({
    gap,
    write: (text) => Promise.resolve(written.resolve(text)),
  });
  lines.line("a");
  lines.line("b");
  assert.equal(await written.promise, "a\nb\n");
});

Deno.test("many lines are written at once, and the next ones after that write", async () => {
  const { lines, written, next, end } = heldWriter();
  for (let n = 0; n < 70; n++) lines.line("x".repeat(1000));
  assert.deepEqual(written.map((text) => text.length), [66 * 1001]);
  const again = next();
  end();
  await again;
  assert.deepEqual(written.map((text) => text.length), [66 * 1001, 4 * 1001]);
  end();
  await lines.close(1000);
});

Deno.test("while a write does not end, lines beyond the buffer are dropped and counted, and one line says so", async () => {
  const { lines, written, next, end } = heldWriter();
  for (let n = 0; n < 3000; n++) lines.line("x".repeat(999));
  const room = Math.floor(1024 * 1024 / 1000);
  const dropped = 3000 - 66 - room;
  assert.equal(lines.dropped(), dropped);
  // Short enough for the buffer, but it would stand before the line that names the gap.
  lines.line("y");
  assert.equal(lines.dropped(), dropped + 1);
  const second = next();
  end();
  await second;
  assert.equal(written[1]?.split("\n").length, room + 2);
  assert.ok(written[1]?.endsWith(`x\n(${dropped + 1} dropped)\n`));
  lines.line("z");
  const third = next();
  end();
  await third;
  assert.equal(written[2], "z\n");
  end();
  await lines.close(1000);
  assert.equal(lines.dropped(), dropped + 1);
});

Deno.test("the lines of a write that fails are dropped, and named by the next write", async () => {
  const { lines, written, next, end } = heldWriter();
  const first = next();
  lines.line("a");
  lines.line("b");
  await first;
  const second = next();
  end(new Error("closed"));
  lines.line("c");
  await second;
  assert.equal(lines.dropped(), 2);
  assert.equal(written[1], "c\n(2 dropped)\n");
  end();
  await lines.close(1000);
});

Deno.test("close() writes what is buffered, and does not wait longer than it may", async () => {
  const { lines, written, end } = heldWriter();
  lines.line("a");
  await lines.close(0);
  assert.deepEqual(written, ["a\n"]);
  end();
  await lines.close(1000);
});
