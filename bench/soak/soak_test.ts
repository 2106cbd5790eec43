import assert from "node:assert/strict";
import { runBench } from "../mod.ts";

async function soaked(
  ...flags: string[]
): Promise<{ readonly code: number; readonly text: string }> {
  const lines: string[] = [];
  const code = await runBench(["soak", ...flags], {
    print: (line) => lines.push(line),
    measureMs: 20,
  });
  return { code, text: lines.join("\n") };
}

Deno.test("soak refuses unknown flags and invalid sizes", async () => {
  for (
    const flag of [
      "--nonsense",
      "--seconds=4",
      "--seconds=x",
      "--streams=5001",
      "--kinds=nonsense",
      "--minutes=0",
      "--minutes=601",
    ]
  ) {
    const { code, text } = await soaked(flag);
    assert.equal(code, 2, flag);
    assert.match(text, /--seconds=/);
  }
});

Deno.test("a short soak leaks nothing", async () => {
  const { code, text } = await soaked(
    "--seconds=5",
    "--streams=50",
    "--kinds=good,leaves-inside",
  );
  assert.equal(code, 0, text);
  assert.match(text, /^good 200 +\d+$/m);
  assert.match(text, /^leaves-inside left +\d+$/m);
  assert.match(text, /^leaves-inside +\d+ +-?\d+ +-?\d+$/m);
  assert.match(text, /^ledger audit: The books balance\.$/m);
  assert.match(text, /^no leaks$/m);
});
