import assert from "node:assert/strict";
import { frameJson } from "./frame_json.ts";

Deno.test("frameJson() parses a frame once and keeps exact numbers", () => {
  const frame = { data: ' {"id":12345678901234567890} ' };
  const value = frameJson(frame);
  assert.equal(JSON.stringify(value), '{"id":12345678901234567890}');
  assert.equal(frameJson(frame), value);
});

Deno.test("frameJson() returns undefined for data that is not JSON", () => {
  assert.equal(frameJson({ data: "[DONE]" }), undefined);
});
