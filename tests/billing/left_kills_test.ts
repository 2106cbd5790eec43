/**
 * Clients that leave after the text, of a gateway that is killed meanwhile: each call whose text
 * was delivered is charged once, and what the upstream reported is charged exactly.
 */
import assert from "node:assert/strict";
import { nothingOpen } from "../../gateway/accounts/testing/nothing_open.ts";
import { openTestAccounts } from "../../gateway/accounts/testing/open_test_accounts.ts";
import {
  postgresAt,
  SQLITE,
  type TestDatabase,
  type TestStore,
} from "../../gateway/accounts/testing/stores.ts";
import { type Program, startProgram } from "../support/programs/program.ts";
import { requestIdOf } from "../support/tables/billing.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";
import {
  type HostUpstream,
  startHostUpstream,
} from "../support/upstreams/host_upstream.ts";
import {
  PROMPT_TOKENS,
  SILENT_FRAMES,
} from "../support/upstreams/silent_frames.ts";

const KEY = "sk-0123456789abcdefghij";
const TEXT = "The answer is 42";
const LANES = 8;
/** Clients that have left when the gateway is killed. */
const KILLS = [1, 10, 40];
const OUTPUT_TOKENS = 20_000;
const MAX_TOKENS = 30_000;
/** The price of `vendorb-5`. */
const PRICE = { input: 1.25, output: 10 };
const WHOLE_MICRO_USD = PROMPT_TOKENS * PRICE.input +
  OUTPUT_TOKENS * PRICE.output;
const HEARTBEAT_MS = 100;

/** Replies with usage once their clients have left, and replies without an end. */
class SilentModel implements AsyncDisposable {
  readonly #left = new Map<string, () => void>();
  readonly #host: HostUpstream = startHostUpstream();

  constructor() {
    this.#host.answer(({ text }) => {
      const call = /call-\d+-\d+-\d+/.exec(text)?.[0] ?? "";
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#left.set(call, resolve);
      const { start, text: delta, end } = SILENT_FRAMES.chat;
      const frames = (async function* () {
        yield start.join("") + delta(TEXT);
        await promise;
        yield end(OUTPUT_TOKENS).join("");
      })();
      return new Response(
        ReadableStream.from(frames).pipeThrough(new TextEncoderStream()),
        { headers: { "content-type": "text/event-stream" } },
      );
    });
  }

  get url(): string {
    return this.#host.url;
  }

  /** Ends the reply of this call. */
  end(call: string): void {
    this.#left.get(call)?.();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const end of this.#left.values()) end();
    await this.#host.close();
  }
}

/** Reads the text of one streamed reply and leaves; gives the id of the call. */
async function readAndLeave(url: string, call: string): Promise<string> {
  const leaving = new AbortController();
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${KEY}`,
      "content-type": "application/json",
    },
    body: JSON.stringify({
      model: "vendorb-5",
      stream: true,
      max_completion_tokens: MAX_TOKENS,
      messages: [{ role: "user", content: call }],
    }),
    signal: leaving.signal,
  });
  if (response.status !== 200) assert.fail(await response.text());
  const pieces = response.body?.pipeThrough(new TextDecoderStream()) ?? [];
  let text = "";
  for await (const piece of pieces) {
    text += piece;
    if (text.includes(TEXT)) break;
  }
  leaving.abort();
  return requestIdOf(response);
}

/** Makes calls in `LANES` lanes until the gateway is gone. With a `whole` reply comes its usage. */
async function leaveUntilKilled(
  program: Program,
  model: SilentModel,
  kill: number,
  onLeft: (requestId: string, whole: boolean) => void,
): Promise<void> {
  let left = 0;
  let killed = false;
  await Promise.all(Array.from({ length: LANES }, async (_, lane) => {
    for (let n = 0;; n++) {
      const call = `call-${kill}-${lane}-${n}`;
      const whole = n % 2 === 0;
      const id = await readAndLeave(program.url, call).catch((error) => {
        if (!killed) throw error;
      });
      if (id === undefined) return;
      onLeft(id, whole);
      if (whole) model.end(call);
      if (++left !== kill) continue;
      killed = true;
      program.signal("SIGKILL");
    }
  }));
}

function startGateway(
  database: TestDatabase,
  folder: string,
  model: SilentModel,
): Promise<Program> {
  return startProgram({
    folder,
    env: {
      DATABASE_URL: database.url,
      GATEWAY_KEY: KEY,
      GATEWAY_LEFT_CLIENT_SECONDS: "1",
      VENDORB_API_KEY: "sk-upstream-0123456789",
      VENDORB_BASE_URL: model.url,
    },
  });
}

function testKills(kind: TestStore): void {
  Deno.test(`${kind.name}: clients leave, and the gateway is killed ${KILLS.length} times: each call is charged once`, async () => {
    await using database = await kind.createDatabase();
    await using folder = await temporaryFolder();
    await using model = new SilentModel();
    const calls = new Map<string, boolean>();
    for (const kill of KILLS) {
      await using program = await startGateway(database, folder.path, model);
      await leaveUntilKilled(program, model, kill, (id, whole) => {
        assert.ok(!calls.has(id), "two calls have one id");
        calls.set(id, whole);
      });
    }
    const store = await database.open();
    await using opened = await openTestAccounts(
      store,
      { ms: 0, now: Date.now },
      { heartbeatMs: HEARTBEAT_MS },
    );
    await nothingOpen(store, HEARTBEAT_MS);
    assert.deepEqual(await opened.admin.audit(), []);
    const entries = (await Array.fromAsync(opened.admin.allLedger({}))).flat();
    const charges = new Map(entries.map((entry) => [entry.requestId, entry]));
    assert.equal(charges.size, entries.length, "a call is charged twice");
    const ends = new Set(entries.map(({ ended }) => ended));
    assert.ok(ends.has("lost"), "no kill happened during a call");
    assert.ok(
      ends.has("complete"),
      "no usage arrived after its client had left",
    );
    for (const [id, whole] of calls) {
      const entry = charges.get(id);
      assert.ok(entry !== undefined, `${id} is not charged`);
      assert.ok(entry.microUsd < 0, `${id} is free`);
      assert.ok(-entry.microUsd <= MAX_TOKENS * PRICE.output + WHOLE_MICRO_USD);
      if (entry.ended === "lost" || !whole) assert.equal(entry.estimated, true);
      else assert.equal(entry.microUsd, -WHOLE_MICRO_USD);
    }
  });
}

testKills(SQLITE);
const serverUrl = Deno.env.get("TEST_POSTGRES_URL");
if (serverUrl === undefined) {
  Deno.test.ignore(
    "postgres: clients leave, and the gateway is killed: SKIPPED, because TEST_POSTGRES_URL names no server",
    () => {},
  );
} else testKills(postgresAt(serverUrl));
