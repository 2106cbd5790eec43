import assert from "node:assert/strict";
import { parseCatalogueFile } from "./catalogue_file.ts";

Deno.test("parseCatalogueFile() refuses a row or field that occurs twice", () => {
  const row = '{"vendor":"vendora","upstream_model":"m","price":"free"}';
  assert.deepEqual(
    parseCatalogueFile(`{"models":{"g":${row},"h":${row},"g":${row}}}`),
    { ok: false, problems: ["models.g: appears more than once"] },
  );
});
