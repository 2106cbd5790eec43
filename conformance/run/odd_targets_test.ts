/** Odd replies are judged as the target's: no check lacks findings, and none throws. */
import assert from "node:assert/strict";
import { EXIT, run } from "./run.ts";
import type { Screen } from "../reports/screen.ts";
import { readSettings } from "./settings.ts";

const LIST = { object: "list", data: [{ id: "m", object: "model" }] };
const STREAM = { headers: { "content-type": "text/event-stream" } };

const ANSWERS: Readonly<Record<string, () => Response>> = {
  "an empty object": () => Response.json({}),
  "an empty array": () => Response.json([]),
  "null": () => Response.json(null),
  "nothing": () => new Response(""),
  "no content": () => new Response(null, { status: 204 }),
  "a redirect": () =>
    new Response(null, { status: 302, headers: { location: "/x" } }),
  "a page with an error": () => new Response("<html>", { status: 500 }),
  "an error without a message": () =>
    Response.json({ error: "x" }, { status: 404 }),
  "a model list": () => Response.json(LIST),
  "members of strange types": () =>
    Response.json({
      choices: "x",
      content: [null, 1, { type: 5 }],
      usage: 7,
      data: [null, 3],
      error: { message: 5 },
    }),
  "a stream without events": () => new Response("", STREAM),
  "a stream of strange events": () =>
    new Response(
      'data: {}\n\ndata: null\n\ndata: [1]\n\ndata: {"choices":[null]}\n\n',
      STREAM,
    ),
};

/** Judges a target that answers everything so: the exit code, and what the screen shows. */
async function judged(
  answer: () => Response,
  ...flags: readonly string[]
): Promise<readonly [exitCode: number, shown: string]> {
  await using target = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    async (request) => {
      await request.text();
      return answer();
    },
  );
  const shown: string[] = [];
  const screen: Screen = {
    line: (line) => shown.push(line),
    progress: () => {},
    verdict: (verdict) => verdict,
  };
  const url = `--base-url=http://127.0.0.1:${target.addr.port}`;
  const settings = readSettings(
    [url, "--timeout=5", "--profile=contract", ...flags],
    "sk-odd-7f3a9c51d2e84b60",
  );
  return [await run(settings, screen), shown.join("\n")];
}

for (const [what, answer] of Object.entries(ANSWERS)) {
  Deno.test(`a target that answers everything with ${what} is judged, and fails`, async () => {
    const [exitCode, shown] = await judged(answer, "--model=m");
    assert.equal(exitCode, EXIT.nonconformant, shown);
  });
}

Deno.test("a target whose list names no model fails, and the run names the list's reply", async () => {
  for (const flag of ["--seed=1", "--replay=127.0.0.1:0"]) {
    const [exitCode, shown] = await judged(
      () => new Response("<html>", { status: 502 }),
      "--filter=models.,message_reply.type,key-stays-inside",
      flag,
    );
    assert.equal(exitCode, EXIT.nonconformant, shown);
    assert.match(shown, /lists no model.*: 502 text\/plain.*: <html>/);
    assert.match(shown, /^nonconformant: /m);
  }
});
