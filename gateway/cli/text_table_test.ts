import assert from "node:assert/strict";
import { textTable } from "./text_table.ts";

Deno.test("textTable() shows a character that a terminal would follow as its code", () => {
  const user = "\u001b[2J\u009b1mé 👩‍💻\r\nid\u202e";
  const shown = "\\u{1b}[2J\\u{9b}1mé 👩‍💻\\u{d}\\u{a}id\\u{202e}";
  assert.equal(textTable({ data: [{ user }] }), `user\n${shown}`);
  assert.equal(textTable({ user: [{ user }] }), `user  user ${shown}`);
});
