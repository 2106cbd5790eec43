/** The text of an export: when its pieces come, and what runs between them. */
import assert from "node:assert/strict";
import { exportText } from "./export_text.ts";

Deno.test("the header comes with the first slice, and alone if there is none", async () => {
  const lineOf = (item: number): string => `${item}\n`;
  const piecesOf = (slices: number[][]): Promise<string[]> =>
    Array.fromAsync(exportText("head\n", slices, lineOf));
  assert.deepEqual(await piecesOf([]), ["head\n"]);
  assert.deepEqual(
    await piecesOf([[1, 2], [], [3]]),
    ["head\n1\n2\n", "", "3\n"],
  );
  const failing = async function* (): AsyncGenerator<number[]> {
    await Promise.resolve();
    yield await Promise.reject(new Error("no store"));
  };
  await assert.rejects(
    exportText("head\n", failing(), lineOf).next(),
    /no store/,
  );
});

Deno.test("long lines are built in several turns of the event loop", async () => {
  const turns: number[] = [];
  let turn = 0;
  const counter = setInterval(() => void turn++, 0);
  const text = exportText("", [[1, 2, 3]], (item) => {
    turns.push(turn);
    const endMs = performance.now() + 20;
    while (performance.now() < endMs);
    return `${item}\n`;
  });
  const pieces = await Array.fromAsync(text);
  clearInterval(counter);
  assert.equal(pieces.join(""), "1\n2\n3\n");
  const [first = 0, second = 0, third = 0] = turns;
  assert.ok(first < second && second < third, turns.join(" "));
});
