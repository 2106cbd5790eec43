/**
 * Runs the real load generator and mock upstream, with deliberately broken proxies between them.
 */
import assert from "node:assert/strict";
import { type Child, startChild } from "../load/child.ts";
import { startMock } from "../mock/start_mock.ts";
import { jobFor, measure, runJob, type Sample } from "./measure.ts";
import { isCorrect } from "../runs/pipeline.ts";
import { DEFAULT_PLAN } from "../load/reply_plan.ts";
import { type ExchangeKind, scenarioOf } from "./scenarios.ts";
import { summarise } from "../report/summary.ts";
import { passThroughAddress, type Target } from "../targets/target.ts";

const DIRECTION = { caller: "messages", upstream: "messages" } as const;

const STREAM: ExchangeKind = {
  name: "test",
  about: "",
  unit: "event",
  plan: { ...DEFAULT_PLAN, events: 30 },
  stream: true,
  promptBytes: 100,
  connections: 2,
  measures: "cpu",
};

/** What the target uses between two looks at its processor time. */
const CPU_MICROS = 3_000;

/** Measures through a proxy that changes each reply. */
async function through(
  change: (body: string) => string,
  kind: ExchangeKind,
  lenient = false,
): Promise<Sample> {
  await using stack = new AsyncDisposableStack();
  const { port } = await startMock(stack);
  await using load = startChild("load/load.ts");
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const { status, body } = await forward(port, request);
      return new Response(change(body), { status });
    },
  );
  try {
    return await measureJob(load, server.addr.port, kind, lenient);
  } finally {
    await server.shutdown();
  }
}

async function forward(port: number, request: Request) {
  const response = await fetch(
    `http://127.0.0.1:${port}${new URL(request.url).pathname}`,
    { method: "POST", body: await request.text() },
  );
  return { status: response.status, body: await response.text() };
}

async function measureJob(
  load: Child,
  port: number,
  kind: ExchangeKind,
  lenient: boolean,
  ms = 1,
): Promise<Sample> {
  let micros = 0;
  const clock = {
    microsOf: () => micros += CPU_MICROS,
    [Symbol.dispose]: () => {},
  };
  const target: Target = {
    pid: Deno.pid,
    lenient,
    address: (direction) => passThroughAddress(port, direction),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const address = target.address(DIRECTION);
  assert.ok(address !== undefined);
  return await measure(
    { load, clock },
    target,
    address,
    scenarioOf(kind, DIRECTION),
    ms,
  );
}

function isRight(sample: Sample): boolean {
  const rows = summarise([{
    scenario: scenarioOf(STREAM, DIRECTION),
    target: "gateway",
    pairs: [{ sample, base: sample }],
  }]);
  return isCorrect({ rows, memory: [] });
}

Deno.test("measure() counts correct replies, their events and the target's processor time", async () => {
  const sample = await through((body) => body, STREAM);
  assert.deepEqual([sample.result.faults, sample.result.problems], [0, []]);
  assert.ok(sample.result.requests >= 2);
  assert.equal(sample.result.events, sample.result.requests * 30);
  assert.equal(sample.cpuMicros, CPU_MICROS / sample.result.events);
  assert.equal(isRight(sample), true);
});

Deno.test("a lost event is a fault, even on a lenient target", async () => {
  for (const lenient of [false, true]) {
    const sample = await through(
      (body) => body.replace("#7 lorem ipsum", ""),
      STREAM,
      lenient,
    );
    assert.match(sample.result.problems[0] ?? "", /^event 7 /);
    assert.equal(sample.result.requests, 0);
    assert.equal(isRight(sample), false);
  }
});

Deno.test("a missing end is a fault, except on a lenient target", async () => {
  const cut = (body: string): string => body.replace("message_stop", "gone");
  const wrong = (body: string): string => cut(cut(body));
  const strict = await through(wrong, STREAM);
  assert.deepEqual(strict.result.problems, ["the end is missing"]);
  assert.equal(isRight(strict), false);
  const lenient = await through(wrong, STREAM, true);
  assert.equal(lenient.result.faults, 0);
  assert.deepEqual(lenient.result.overlooked, ["the end is missing"]);
});

Deno.test("an error instead of a reply is reported with its status, and the job stops", async () => {
  await using load = startChild("load/load.ts");
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    () => new Response("out of order", { status: 503 }),
  );
  try {
    const { result } = await measureJob(
      load,
      server.addr.port,
      STREAM,
      false,
      3_600_000,
    );
    assert.deepEqual(result.problems, ["503 out of order"]);
    assert.equal(result.requests, 0);
  } finally {
    await server.shutdown();
  }
});

Deno.test("measure() reports the delay of a paced stream's events", async () => {
  const sample = await through((body) => body, {
    ...STREAM,
    plan: { ...STREAM.plan, events: 3, perSecond: 100 },
  });
  assert.equal(sample.result.faults, 0);
  const { p50 = NaN, p99 = NaN } = sample.result.delays ?? {};
  assert.ok(p50 <= p99);
});

Deno.test("a job with a rate starts every request of its time, however slow the replies are", async () => {
  await using stack = new AsyncDisposableStack();
  const { port } = await startMock(stack);
  await using load = startChild("load/load.ts");
  const kind: ExchangeKind = {
    ...STREAM,
    stream: false,
    plan: { ...DEFAULT_PLAN, waitMs: 30 },
  };
  const address = passThroughAddress(port, DIRECTION);
  assert.ok(address !== undefined);
  const { requests, faults, waits } = await runJob(load, {
    ...jobFor(address, scenarioOf(kind, DIRECTION), 0),
    until: { ms: 100, perSecond: 200 },
  });
  assert.deepEqual([requests, faults], [20, 0]);
  // Two connections make at most 67 calls of 30 ms a second, of 200 that are due: calls start late.
  assert.ok(waits.p99 > 100, String(waits.p99));
});
