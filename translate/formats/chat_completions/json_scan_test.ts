import assert from "node:assert/strict";
import { jsonScan } from "./json_scan.ts";

Deno.test("jsonScan() is complete at the last bracket and not earlier, wherever the text is split", async (t) => {
  const texts = [
    "{}",
    "[]",
    ' {"a": [1, {"b": "}"}]}',
    '{"a":"\\"}"}',
    '{"a":"\\\\"}',
    '{"\\\\\\"{":"]"}',
    '{"a":"\\u007d[{"}',
  ];
  for (const text of texts) {
    await t.step(text, () => {
      JSON.parse(text);
      const whole = jsonScan();
      whole.feed(text);
      assert.equal(whole.complete(), true);
      const cut = jsonScan();
      for (const [at, char] of [...text].entries()) {
        assert.equal(cut.complete(), false, `complete before ${at}`);
        cut.feed(char);
      }
      assert.equal(cut.complete(), true);
    });
  }
});

Deno.test("jsonScan() never reports plain text or an empty text as complete", () => {
  for (const text of ["", "  ", "null", '"{}"']) {
    const scan = jsonScan();
    scan.feed(text);
    assert.equal(scan.complete(), false);
  }
});
