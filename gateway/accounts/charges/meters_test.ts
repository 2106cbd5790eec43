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
  assert.deepEqual(
    ["cache_write_1h", "uses.web_search", "second", "call", "unknown_input"]
      .map(meterWords),
    [
      "Cache write, 1 hour",
      "Uses of web search",
      "Seconds",
      "Calls",
      "unknown_input",
    ],
  );
});
