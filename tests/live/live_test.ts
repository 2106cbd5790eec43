/** The live list and the upstreams across processes: two programs on one store, of each kind. */
import assert from "node:assert/strict";
import { startCutProxy } from "../../gateway/accounts/testing/cut_proxy.ts";
import {
  postgresAt,
  SQLITE,
  type TestStore,
} from "../../gateway/accounts/testing/stores.ts";
import { isObject, type JsonObject } from "../../translate/bytes/json.ts";
import { ADMIN_TOKEN, visit } from "../support/console/visitor.ts";
import { type Program, startProgram } from "../support/programs/program.ts";
import {
  type ScriptedUpstream,
  startScriptedUpstream,
} from "../support/upstreams/scripted_upstream.ts";
import { withTimeout } from "../support/with_timeout.ts";

const KEY = "sk-0123456789abcdefghij";
const ADMIN = { authorization: `Bearer ${ADMIN_TOKEN}` };

function objects(value: unknown): readonly JsonObject[] {
  assert.ok(Array.isArray(value));
  return value.filter(isObject);
}

class LiveList {
  readonly #reader: ReadableStreamDefaultReader<string>;
  #text = "";

  private constructor(reader: ReadableStreamDefaultReader<string>) {
    this.#reader = reader;
  }

  static async open(
    url: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<LiveList> {
    const { status, body } = await fetch(url, { headers });
    assert.equal(status, 200);
    assert.ok(body !== null);
    return new LiveList(body.pipeThrough(new TextDecoderStream()).getReader());
  }

  async until(
    what: string,
    wanted: (picture: JsonObject) => boolean,
  ): Promise<JsonObject> {
    return await withTimeout(
      (async () => {
        for (;;) {
          const picture = await this.#next();
          if (wanted(picture)) return picture;
        }
      })(),
      what,
    );
  }

  async #next(): Promise<JsonObject> {
    for (;;) {
      const end = this.#text.indexOf("\n\n");
      if (end >= 0) {
        const event = this.#text.slice(0, end);
        this.#text = this.#text.slice(end + 2);
        const data = /^event: calls\ndata: (.*)$/.exec(event)?.[1];
        if (data === undefined) continue;
        const picture: unknown = JSON.parse(data);
        assert.ok(isObject(picture));
        return picture;
      }
      const { value, done } = await this.#reader.read();
      assert.equal(done, false, "the list has ended");
      this.#text += value ?? "";
    }
  }

  close(): Promise<void> {
    return this.#reader.cancel();
  }
}

function callsOf(
  picture: JsonObject,
  part: "under_way" | "ended",
): readonly JsonObject[] {
  const of = picture[part];
  assert.ok(isObject(of));
  return objects(of["data"]);
}

const find = (
  picture: JsonObject,
  part: "under_way" | "ended",
  id: string,
): JsonObject | undefined =>
  callsOf(picture, part).find((call) => call["request_id"] === id);

function ask(
  { url }: Program,
  stream: boolean,
  signal?: AbortSignal,
): Promise<Response> {
  return fetch(`${url}/v1/messages`, {
    method: "POST",
    headers: { "x-api-key": KEY, "content-type": "application/json" },
    body: JSON.stringify({
      model: "vendora-opus-4-8",
      max_tokens: 50,
      stream,
      messages: [{ role: "user", content: "Hello" }],
    }),
    signal: signal ?? null,
  });
}

const idOf = (reply: Response): string => reply.headers.get("request-id") ?? "";

async function withTwo(
  databaseUrl: string,
  run: (a: Program, b: Program, upstream: ScriptedUpstream) => Promise<void>,
): Promise<void> {
  const upstream = startScriptedUpstream("x");
  const folder = await Deno.makeTempDir();
  const programs: Program[] = [];
  try {
    for (let at = 0; at < 2; at++) {
      programs.push(
        await startProgram({
          folder,
          env: {
            DATABASE_URL: databaseUrl,
            GATEWAY_KEY: KEY,
            GATEWAY_ADMIN_TOKEN: ADMIN_TOKEN,
            GATEWAY_LOG: "none",
            VENDORA_BASE_URL: upstream.url,
            VENDORA_API_KEY: "vendor-key",
          },
        }),
      );
    }
    const [a, b] = programs;
    assert.ok(a !== undefined && b !== undefined);
    assert.notEqual(a.url, "", a.output());
    await run(a, b, upstream);
  } finally {
    for (const program of programs) await program[Symbol.asyncDispose]();
    await upstream.close();
    await Deno.remove(folder, { recursive: true });
  }
}

/** A stream that hangs in the first process is in the list of the second, with its state. */
async function seesHungStream(
  a: Program,
  b: Program,
  upstream: ScriptedUpstream,
): Promise<void> {
  const all = await LiveList.open(`${b.url}/admin/v1/calls/live`, ADMIN);
  const own = await LiveList.open(`${b.url}/v1/calls/live`, {
    "x-api-key": KEY,
  });
  upstream.play(["stall"]);
  const client = new AbortController();
  const reply = await ask(a, true, client.signal);
  const id = idOf(reply);
  const hung = find(
    await all.until(
      "the hung stream in the other process",
      // A list from before its first byte may come first.
      (picture) => find(picture, "under_way", id)?.["phase"] === "streaming",
    ),
    "under_way",
    id,
  );
  assert.deepEqual(
    [hung?.["phase"], hung?.["stream"], hung?.["first_token_ms"]],
    ["streaming", true, null],
  );
  assert.equal(hung?.["upstream"], "vendora/claude-opus-4-8");
  assert.ok(Number(hung?.["first_byte_ms"]) >= 0);
  await all.until(
    "a longer silence",
    (picture) =>
      Number(find(picture, "under_way", id)?.["silent_ms"]) >
        Number(hung?.["silent_ms"]),
  );
  const ofAccount = find(
    await own.until(
      "the hung stream in the account's list",
      (picture) => find(picture, "under_way", id) !== undefined,
    ),
    "under_way",
    id,
  );
  assert.equal(ofAccount?.["upstream"], undefined);
  const page = await visit(b.url, "operator", ADMIN_TOKEN);
  const html = await page.read("/console/operator/live");
  assert.ok(html.includes(id), "without JavaScript");
  client.abort();
  await reply.body?.cancel().catch(() => {});
  const ended = find(
    await all.until(
      "the end of the stream",
      (picture) => find(picture, "ended", id) !== undefined,
    ),
    "ended",
    id,
  );
  assert.equal(ended?.["ended"], "caller_left");
  await all.until(
    "a list without it",
    (picture) => find(picture, "under_way", id) === undefined,
  );
  await all.close();
  await own.close();
}

/** A breaker that opens in the first process is shown by the second. */
async function seesOpenBreaker(
  a: Program,
  b: Program,
  upstream: ScriptedUpstream,
): Promise<void> {
  upstream.play([], { status: 503 });
  for (let failures = 0; failures < 5; failures++) {
    await (await ask(a, false)).body?.cancel();
  }
  const isOpen = async (): Promise<boolean> => {
    const reply = await fetch(`${b.url}/admin/v1/upstreams`, {
      headers: ADMIN,
    });
    const body: unknown = await reply.json();
    assert.ok(isObject(body));
    assert.equal(body["complete"], true);
    const other = objects(body["data"]).find((one) => one["this"] === false);
    const candidate = objects(other?.["upstreams"] ?? [])
      .find((one) => one["model"] === "vendora-opus-4-8");
    if (candidate?.["state"] !== "open") return false;
    assert.ok(Number(other?.["age_seconds"]) < 20);
    assert.ok(Number(candidate["failed"]) >= 5);
    return true;
  };
  await withTimeout(
    (async () => {
      while (!await isOpen()) {
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    })(),
    "the breaker of the other process",
  );
  const page = await visit(b.url, "operator", ADMIN_TOKEN);
  const html = await page.read("/console/operator/upstreams");
  assert.match(html, /open in 1 of 2/);
  upstream.play([]);
}

function test(kind: TestStore): void {
  Deno.test(`${kind.name}: a process shows the calls and the breakers of another one`, async () => {
    await using database = await kind.createDatabase();
    await withTwo(database.url, async (a, b, upstream) => {
      await seesHungStream(a, b, upstream);
      await seesOpenBreaker(a, b, upstream);
    });
  });
}

test(SQLITE);
const serverUrl = Deno.env.get("TEST_POSTGRES_URL");
if (serverUrl === undefined) {
  Deno.test.ignore(
    "postgres: a process shows the calls of another one",
    () => {},
  );
} else {
  const postgres = postgresAt(serverUrl);
  test(postgres);

  Deno.test("postgres: while the store is down the live list and the upstreams reply, and streams go on", async () => {
    await using database = await postgres.createDatabase();
    const proxy = startCutProxy(database.url);
    let isDown = false;
    try {
      await withTwo(proxy.url, async (_, b, upstream) => {
        const operator = await visit(b.url, "operator", ADMIN_TOKEN);
        const list = await LiveList.open(
          `${b.url}/admin/v1/calls/live`,
          ADMIN,
        );
        const rest = Promise.withResolvers<void>();
        upstream.play([{ after: rest.promise, action: "ok" }]);
        const running = ask(b, true);
        const ofRunning = (picture: JsonObject): boolean =>
          callsOf(picture, "under_way").length === 1;
        await upstream.arrival(0);
        // Reservations are written in order: once this call has a reply, the first one's is
        // written.
        assert.equal((await (await ask(b, false)).json()).type, "message");
        await list.until("the call", ofRunning);
        isDown = true;
        await proxy[Symbol.asyncDispose]();
        await list.until(
          "the list of one process",
          (picture) => picture["complete"] === false && ofRunning(picture),
        );
        const statusOf = async (path: string): Promise<number> => {
          const { status, body } = await operator.get(path);
          await body?.cancel();
          return status;
        };
        assert.equal(await statusOf("/console/operator/live"), 200);
        assert.equal(await statusOf("/console/operator/upstreams"), 200);
        assert.equal(await statusOf("/console/operator/keys"), 503);
        rest.resolve();
        assert.match(await (await running).text(), /event: message_stop/);
        await list.close();
      });
    } finally {
      if (!isDown) await proxy[Symbol.asyncDispose]();
    }
  });
}
