/** What a run makes of requests that are answered late, never, or no more. */
import assert from "node:assert/strict";
import { Redaction } from "../evidence/redaction.ts";
import { Budget } from "../suite/budget.ts";
import { unanswered } from "../suite/evidence.ts";
import { UNKNOWN_TARGET } from "../suite/route.ts";
import type { Scenario } from "../suite/scenario.ts";
import { play } from "./play.ts";

/** A scenario that asks for the model list. */
function asking(name: string): Scenario {
  return {
    name,
    about: name,
    mode: "both",
    cost: () => ({ requests: 1, inputTokens: 0, outputTokens: 0 }),
    async play(session) {
      await session.send({ label: name, endpoint: "models" });
    },
  };
}

const NAMES = ["a", "b", "c", "d", "e", "f"];

/** Plays scenarios against a target, which knows the number of each request, from 1. */
async function playAgainst(
  answer: (request: number, stop: () => void) => Response | Promise<Response>,
) {
  let requests = 0;
  const leaving = new AbortController();
  const server = Deno.serve({
    port: 0,
    hostname: "127.0.0.1",
    onListen: () => {},
    signal: leaving.signal,
  }, () => answer(++requests, () => leaving.abort()));
  const stop = async (): Promise<void> => {
    leaving.abort();
    await server.finished;
  };
  try {
    const played = await play(NAMES.map(asking), {
      mode: "live",
      baseUrl: `http://127.0.0.1:${server.addr.port}`,
      key: "sk-play-7f3a9c51d2e84b60",
      redaction: new Redaction(),
      budget: new Budget({}),
      timeoutMs: 100,
      seed: 1,
      profile: UNKNOWN_TARGET,
    }, 1);
    return { ...played, requests };
  } finally {
    await stop();
  }
}

const never = (): Promise<Response> => new Promise(() => {});
const list = (): Response => Response.json({ object: "list", data: [] });

Deno.test("play() asks again, alone, what was not answered in time, and judges the answer", async () => {
  const { records, repeated, requests } = await playAgainst((request) =>
    request === 2 || request === 4 ? never() : list()
  );
  assert.equal(requests, 8);
  assert.deepEqual(repeated.map(({ scenario }) => scenario), ["b", "d"]);
  assert.deepEqual(unanswered([...records.values()]), []);
});

Deno.test("play() asks no more often where nothing is answered", async () => {
  const { records, repeated, requests } = await playAgainst(never);
  assert.equal(requests, 10);
  assert.deepEqual(repeated, []);
  assert.equal(unanswered([...records.values()]).length, 6);
});

Deno.test("play() ends with a target that is gone", async () => {
  const { capped, requests } = await playAgainst((request, stop) => {
    if (request === 2) stop();
    return list();
  });
  assert.equal(requests, 2);
  assert.deepEqual(
    [...capped],
    [["f", "the target stopped answering"]],
  );
});
