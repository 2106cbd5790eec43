import assert from "node:assert/strict";
import type { Exchange } from "../evidence/exchange.ts";
import { exchangeOf } from "../evidence/testing/exchange_of.ts";
import { curlOf } from "./explain.ts";

function exchange(headers: Exchange["request"]["headers"]): Exchange {
  return exchangeOf({ request: { headers, body: `{"it's":"$HOME \`id\`"}` } });
}

/** The words of a command, as a shell splits them. */
async function words(command: string): Promise<string[]> {
  const script = command.replace(/^curl /, "printf '%s\\0' ");
  const { stdout } = await new Deno.Command("bash", {
    args: ["-c", script],
    env: {
      CONFORMANCE_API_KEY: "sk-right-key",
      CONFORMANCE_OTHER_KEY: "sk-other-key",
    },
  }).output();
  return new TextDecoder().decode(stdout).split("\0").slice(0, -1);
}

Deno.test("curlOf() quotes for a shell what was sent, with the key from the environment", async () => {
  const headers = [["x-note", `a "b" $c`], [
    "authorization",
    'Bearer "{{KEY*****}}" $x \\',
  ]] as const;
  assert.deepEqual(
    await words(curlOf(exchange(headers), "http://127.0.0.1:1")),
    [
      "-sN",
      "-X",
      "POST",
      "http://127.0.0.1:1/v1/messages",
      "-H",
      `x-note: a "b" $c`,
      "-H",
      'authorization: Bearer "sk-right-key" $x \\',
      "--data-binary",
      `{"it's":"$HOME \`id\`"}`,
    ],
  );
});

Deno.test("curlOf() takes the other key from its own variable", async () => {
  const sent = exchange([["authorization", "Bearer {{KEY++++++}}"]]);
  assert.ok(
    (await words(curlOf(sent, "http://127.0.0.1:1"))).includes(
      "authorization: Bearer sk-other-key",
    ),
  );
});

Deno.test("curlOf() gives no command for a text that was derived from the key", () => {
  const text = curlOf(exchange([["x-api-key", "{{KEY~~~~}}"]]), "http://x");
  assert.match(text, /^curl {6}\(sent with a text derived from the key/);
});
