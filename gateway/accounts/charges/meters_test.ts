import assert from "node:assert/strict";
import { CALL_METER, METERS, meterWords, UNIT_METERS } from "./meters.ts";

Deno.test("the documentation has a row for each meter, in their order", async () => {
  const page = await Deno.readTextFile(
    new URL("../../../docs/billing.md", import.meta.url),
  );
  const table = page.slice(page.indexOf("| meter "));
  const rows = table.slice(0, table.indexOf("\n\n")).matchAll(
    /^\| `([\w.]+)`/gm,
  );
  assert.deepEqual(
    [...rows].map(([, name]) => name),
    [...Object.keys(METERS), ...UNIT_METERS, "uses.NAME", CALL_METER],
  );
});

Deno.test("meterWords() names every meter", () => {
  for (
    const [meter, words] of [
      ["cache_write_1h", "Cache write, 1 hour"],
      ["uses.web_search", "Uses of web search"],
      ["second", "Seconds"],
      ["call", "Calls"],
      ["unknown_input", "unknown_input"],
    ] as const
  ) assert.equal(meterWords(meter), words);
});
