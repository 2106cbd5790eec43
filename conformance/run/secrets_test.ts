/** No key is in the output of a run: screen, reports, files of exchanges. */
import assert from "node:assert/strict";
import { run } from "./run.ts";
import type { Screen } from "../reports/screen.ts";
import { readSettings } from "./settings.ts";

const KEY = "sk-Secret0123456789abcdef";
const HEADER = "Operator-secret-42-xyz";

/** A gateway that repeats the whole request in every place that a report could show. */
function talkative(request: Request): Response {
  const repeated = JSON.stringify([...request.headers]);
  const key = request.headers.get("x-api-key") ??
    request.headers.get("authorization") ?? "none";
  const headers = { "x-repeated": key.replaceAll(/[^ -~]/g, "?") };
  if (new URL(request.url).pathname === "/v1/models") {
    const data = [{ id: "m-1", object: "model", owned_by: repeated }];
    return Response.json({ object: repeated, data }, { headers });
  }
  return new Response(
    `data: ${repeated}\n\ndata: {"choices":[{"delta":{"content":${
      JSON.stringify(key.toUpperCase())
    }}}]}\n\n`,
    { headers: { ...headers, "content-type": "text/event-stream" } },
  );
}

Deno.test("a run leaves no key in its output, whatever the target replies", async () => {
  const folder = await Deno.makeTempDir();
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    talkative,
  );
  const shown: string[] = [];
  const screen: Screen = {
    line: (text) => shown.push(text),
    progress: (_done, _all, what) => shown.push(what),
    verdict: (verdict) => verdict,
  };
  const kinds = ["json", "junit", "html"];
  try {
    const exitCode = await run(
      readSettings([
        `--base-url=http://127.0.0.1:${server.addr.port}`,
        `--header=x-operator-token: ${HEADER}`,
        "--filter=auth.,message_stream.,models.,chat_reply.",
        "--timeout=5",
        `--report=${
          kinds.map((kind) => `${kind}:${folder}/${kind}`).join(",")
        }`,
      ], KEY),
      screen,
    );
    assert.equal(exitCode, 1);
    const exchanges = new Set(
      shown.join("\n").matchAll(/^ +exchange +(\S+)$/gm)
        .map(([, file = ""]) => file),
    );
    assert.ok(exchanges.size > 3, "failures name the files of their exchanges");
    const files = [...kinds.map((kind) => `${folder}/${kind}`), ...exchanges];
    const texts = [shown.join("\n")];
    for (const file of files) texts.push(await Deno.readTextFile(file));
    for (const text of texts) {
      const lower = text.toLowerCase();
      assert.ok(!lower.includes("0123456789abcdef"), text.slice(0, 300));
      assert.ok(!lower.includes("secret-42"), text.slice(0, 300));
    }
    assert.ok(texts.some((text) => text.includes("{{KEY")));
  } finally {
    await server.shutdown();
    await Deno.remove(folder, { recursive: true });
  }
});
