import assert from "node:assert/strict";
import type { Exchange } from "../evidence/exchange.ts";
import { curlOf } from "./explain.ts";

function exchange(headers: Exchange["request"]["headers"]): Exchange {
  return {
    label: "messages/model/whole",
    scenario: "text",
    endpoint: "messages",
    via: undefined,
    request: {
      client: "fetch",
      method: "POST",
      path: "/v1/messages",
      headers,
      body: `{"it's":"$HOME \`id\`"}`,
    },
    body: new Uint8Array(),
    text: "",
    validUtf8: true,
    json: undefined,
    arrivals: [],
    frames: [],
    witness: [],
    ending: "no-reply",
    endedMs: 0,
    upstream: [],
  };
}

/** What a shell makes of the command's words. */
async function words(command: string): Promise<string[]> {
  const script = command.replace(/^curl /, "printf '%s\\0' ");
  const { stdout } = await new Deno.Command("bash", {
    args: ["-c", script],
    env: { CONFORMANCE_API_KEY: "sk-right-key" },
  }).output();
  return new TextDecoder().decode(stdout).split("\0").slice(0, -1);
}

Deno.test("curlOf() is read by a shell as it was sent, with the key of the environment", async () => {
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

Deno.test("curlOf() does not pretend to send what was made from the key", () => {
  const text = curlOf(exchange([["x-api-key", "{{KEY~~~~}}"]]), "http://x");
  assert.match(text, /^curl {6}\(sent with something made from the key/);
});
