import assert from "node:assert/strict";
import { LongTimer, type TimerId, type Timers } from "../../timers.ts";
import {
  type HostListEvent,
  HostLists,
  type ListSource,
  MAX_LISTED,
} from "./host_lists.ts";
import { serveLoopback } from "../../../tests/support/serve_loopback.ts";
import { compact } from "../../../translate/bytes/compact.ts";

/** Timers that a test fires. */
class ManualTimers implements Timers {
  readonly #waiting = new Map<TimerId, { callback: () => void; ms: number }>();
  #isSet = Promise.withResolvers<void>();

  set(callback: () => void, ms: number): TimerId {
    const id = new LongTimer(callback, ms);
    this.#waiting.set(id, { callback, ms });
    this.#isSet.resolve();
    return id;
  }

  clear(id: TimerId): void {
    this.#waiting.delete(id);
  }

  /** Delays of the timers that are set. */
  get delays(): readonly number[] {
    return [...this.#waiting.values()].map(({ ms }) => ms);
  }

  /** Resolves when a timer has been set since the last {@linkcode fire}. */
  isSet(): Promise<void> {
    return this.#isSet.promise;
  }

  fire(): void {
    const due = [...this.#waiting.values()];
    this.#waiting.clear();
    this.#isSet = Promise.withResolvers();
    for (const { callback } of due) callback();
  }
}

/** A host on loopback whose answer a test decides, and lists that follow it as `host`. */
async function withHost(
  run: (at: {
    readonly lists: HostLists;
    readonly timers: ManualTimers;
    readonly source: ListSource;
    answer(with_: () => Response | Promise<Response>): void;
    event(): Promise<HostListEvent>;
    /** Resolves when the host has been asked `count` times. */
    asked(count: number): Promise<void>;
    readonly changes: () => number;
  }) => Promise<void>,
): Promise<void> {
  let answer: () => Response | Promise<Response> = () =>
    Response.json({ data: [{ id: "b" }, { id: "a" }] });
  let requests = 0;
  let changes = 0;
  const waiting = new Set<() => void>();
  const events: HostListEvent[] = [];
  let wake = Promise.withResolvers<void>();
  await using server = serveLoopback(() => {
    requests++;
    for (const check of waiting) check();
    return answer();
  });
  const timers = new ManualTimers();
  const lists = new HostLists({
    timers,
    onChange: () => changes++,
    onEvent(event) {
      events.push(event);
      wake.resolve();
    },
  });
  try {
    await run({
      lists,
      timers,
      source: {
        url: `http://127.0.0.1:${server.addr.port}/v1/models`,
        headers: () => ({}),
        fetch,
        wants: () => true,
      },
      answer: (with_) => answer = with_,
      async event() {
        while (events.length === 0) {
          await wake.promise;
          wake = Promise.withResolvers();
        }
        const [first] = events.splice(0, 1);
        assert.ok(first !== undefined);
        return first;
      },
      asked: (count) =>
        new Promise((resolve) => {
          const check = (): void => {
            if (requests < count) return;
            waiting.delete(check);
            resolve();
          };
          waiting.add(check);
          check();
        }),
      changes: () => changes,
    });
  } finally {
    lists.close();
  }
}

Deno.test("a list is read, and read again an hour later; an unchanged one changes nothing", () =>
  withHost(async ({ lists, timers, source, event, changes, answer }) => {
    assert.deepEqual(lists.known(), {});
    lists.follow(new Map([["host", source]]));
    assert.deepEqual(lists.known(), { host: [] });
    assert.deepEqual(await event(), listed(2));
    assert.deepEqual(lists.known(), { host: ["a", "b"] });
    assert.deepEqual(timers.delays, [3_600_000]);
    answer(() => Response.json([{ id: "c" }]));
    timers.fire();
    await event();
    assert.deepEqual(lists.known(), { host: ["c"] });
    timers.fire();
    await timers.isSet();
    assert.equal(changes(), 2);
  }));

Deno.test("a host out of reach is asked again, ever more seldom, until it answers; one event each way", () =>
  withHost(async ({ lists, timers, source, event, answer, changes }) => {
    answer(() => new Response("no", { status: 503 }));
    lists.follow(new Map([["host", source]]));
    assert.deepEqual(
      await event(),
      failed("the host answered with status 503"),
    );
    const delays = [...timers.delays];
    for (let i = 0; i < 9; i++) {
      timers.fire();
      await timers.isSet();
      delays.push(...timers.delays);
    }
    assert.deepEqual(
      delays.map((ms) => ms / 1000),
      [2, 4, 8, 16, 32, 64, 128, 256, 300, 300],
    );
    answer(() => Response.json([{ id: "a" }]));
    timers.fire();
    assert.equal((await event()).type, "models_listed");
    assert.deepEqual(lists.known(), { host: ["a"] });
    assert.equal(changes(), 1);
    answer(() => new Response("no", { status: 503 }));
    timers.fire();
    assert.equal((await event()).type, "models_not_listed");
    assert.deepEqual(lists.known(), { host: ["a"] }, "the last list stays");
  }));

Deno.test("a hostile list offers at most a bounded number of plain ids, or nothing", async (t) => {
  const many = (count: number) =>
    Array.from({ length: count }, (_, i) => ({ id: `m${i}` }));
  const plain = ["ok/model:free", "@cf/meta/llama"];
  const hostile = [
    "a b",
    "a\nb",
    "a\u001b[31m",
    "a*",
    "../up",
    "a/../b",
    "a//b",
  ]
    .concat("é", "<script>", "x".repeat(201), "");
  const ids = [...plain, ...hostile, 7, { toString: "x" }];
  const odd = [...ids.map((id) => ({ id })), null, "text"];
  const answers: Readonly<
    Record<string, readonly [() => Response, HostListEvent]>
  > = {
    "100,000 entries": [
      () => Response.json({ data: many(100_000) }),
      listed(MAX_LISTED, 100_000 - MAX_LISTED),
    ],
    "odd ids": [
      () => Response.json({ data: odd }),
      listed(plain.length, odd.length - plain.length),
    ],
    html: [
      () =>
        new Response("<!doctype html><h1>Sign in</h1>", {
          headers: { "content-type": "text/html" },
        }),
      failed("the host sent no list of models"),
    ],
    "an object": [
      () => Response.json({ data: { id: "x" } }),
      failed("the host sent no list of models"),
    ],
    "a redirect": [
      () => new Response(null, { status: 302, headers: { location: "/x" } }),
      failed("the host answered with status 302"),
    ],
    "more than 4 MiB": [
      () =>
        new Response(
          new ReadableStream({
            pull: (controller) =>
              controller.enqueue(new Uint8Array(65_536).fill(0x20)),
          }),
        ),
      failed("the host's list is too long"),
    ],
  };
  for (const [name, [answered, expected]] of Object.entries(answers)) {
    const check = () =>
      withHost(async ({ lists, source, event, answer }) => {
        answer(answered);
        lists.follow(new Map([["host", source]]));
        assert.deepEqual(await event(), expected);
      });
    await t.step(name, check);
  }
});

Deno.test("following again reads every list; ids stay while the address does", () =>
  withHost(async ({ lists, source, event, answer, asked, timers }) => {
    lists.follow(new Map([["host", source]]));
    await event();
    const held = Promise.withResolvers<unknown>();
    answer(async () => Response.json(await held.promise));
    lists.follow(
      new Map([["host", { ...source, wants: (id: string) => id !== "a" }]]),
    );
    assert.deepEqual(lists.known(), { host: ["b"] });
    await asked(2);
    lists.follow(new Map([["host", { ...source, url: `${source.url}/x` }]]));
    assert.deepEqual(lists.known(), { host: [] });
    held.resolve([{ id: "late" }]);
    await event();
    assert.deepEqual(lists.known(), { host: ["late"] });
    lists.follow(new Map());
    assert.deepEqual(lists.known(), {});
    assert.deepEqual(timers.delays, []);
  }));

function listed(models: number, left_out?: number): HostListEvent {
  return {
    type: "models_listed",
    vendor: "host",
    models,
    ...compact({ left_out }),
  };
}

function failed(reason: string): HostListEvent {
  return { type: "models_not_listed", vendor: "host", reason };
}
