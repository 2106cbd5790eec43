/**
 * A finished call keeps no memory. For each way in which a call can end, plain and over TLS, the
 * test measures the gateway's heap after several rounds of calls and computes the slope.
 *
 * `KEPT_MEMORY_CALLS` sets the number of calls of each kind; from 5,000 on, the test also judges
 * resident memory. `KEPT_MEMORY_ONLY` selects kinds by a part of their name.
 *
 * A slow reader is cut off after the kernel's socket buffers are full, which takes megabytes by
 * default. `tests/support/programs/small_buffers.sh` runs the test with small ones, so that slow readers
 * are as cheap as other calls.
 */
import assert from "node:assert/strict";
import { compact } from "../../translate/bytes/compact.ts";
import {
  AUTHORITY_FILE,
  type Behaviour,
  certificate,
  type FaultUpstream,
  startFaultUpstream,
} from "../support/upstreams/fault_upstream.ts";
import { CAN_UPGRADE } from "../../routes/web_socket/raw_upgrade.ts";
import {
  clientFrame,
  OPCODE,
  RawWebSocket,
} from "../support/clients/raw_web_socket.ts";
import {
  openSocket,
  type SocketClient,
} from "../support/clients/socket_client.ts";
import { withTimeout } from "../support/with_timeout.ts";
import type { KeptMemory } from "../support/programs/measured_program.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const KEY = "sk-kept-memory-0123456789";
const ADMIN_TOKEN = "admin-kept-memory-0123456789";

/** The maximum number of bytes that a call may keep. */
const MAX_HEAP = 256;
const MAX_RESIDENT = 1024;
/** With fewer calls, the noise of resident memory exceeds the limit. */
const CALLS_FOR_RESIDENT = 5_000;

/** The number of calls of each kind. */
const CALLS = Number(Deno.env.get("KEPT_MEMORY_CALLS") ?? "120");
const ONLY = Deno.env.get("KEPT_MEMORY_ONLY") ?? "";
const LANES = 16;
/** Calls of each kind before any measurement: code is compiled and buffers grow to their size. */
const WARM_UP_CALLS = 80;
/** Memory is measured after each round of calls. */
const ROUNDS = 6;
const ROUND_CALLS = Math.ceil(CALLS / ROUNDS);
/** Kinds that are measured together first: more of them keep too much between them without a leak. */
const KINDS_TOGETHER = 8;

/** Above this size of a send buffer, slow readers move megabytes. */
const SMALL_BUFFER_BYTES = 64 * 1024;
const SMALL_BUFFERS = largestSendBuffer() <= SMALL_BUFFER_BYTES;

/** Series of rounds before a kind fails, and before kinds are halved. Each has twice the calls of the one before. */
const MAX_ATTEMPTS = 3;
const MAX_ATTEMPTS_TOGETHER = 2;

/**
 * Compiling, optimizing and discarding code changes the heap by more than a few hundred calls may
 * keep, so short runs switch it off. In long runs the calls outweigh it.
 */
const V8_FLAGS = [
  "--expose-gc",
  ...(CALLS >= CALLS_FOR_RESIDENT ? [] : [
    "--no-flush-bytecode",
    "--no-opt",
    "--no-maglev",
    "--always-sparkplug",
    "--no-lazy-feedback-allocation",
  ]),
];

/** A way in which a call can end. */
interface Kind {
  readonly name: string;
  readonly behaviour: Behaviour;
  readonly stream: boolean;
  /** The vendor in the gateway's configuration, see `configOf`. */
  readonly vendor: string;
  readonly timeouts?: Readonly<Record<string, number>>;
  /** What the client does. By default it reads the whole reply. */
  readonly caller?:
    | "leaves-before"
    | "leaves-inside"
    | "reads-nothing"
    | "opens-a-socket"
    | "leaves-a-message"
    | "shares-a-socket";
  /** The expected outcome as the client sees it. */
  readonly outcome: RegExp;
  /**
   * The share of the calls that is made, for kinds that take long: they move much or wait for
   * packets.
   */
  readonly share?: number;
}

const TRANSPORTS = ["plain", "secure"] as const;

/** The error arrives inside the stream if it took long. */
const BROKEN = /^(502 |200 .*"error":\{)/s;

const KINDS: readonly Kind[] = TRANSPORTS.flatMap((over): Kind[] =>
  [
    {
      name: "whole",
      behaviour: "whole",
      stream: false,
      outcome: /^200 .*word/s,
    },
    {
      name: "stream",
      behaviour: "stream",
      stream: true,
      outcome: /^200 .*\[DONE\]/s,
    },
    {
      name: "error status",
      behaviour: "error",
      stream: false,
      outcome: /^50\d /,
    },
    { name: "cut", behaviour: "cut", stream: true, outcome: BROKEN },
    { name: "half a body", behaviour: "half", stream: false, outcome: /^502 / },
    {
      name: "reset before the head",
      behaviour: "reset-before",
      stream: true,
      vendor: `${over}-reset`,
      outcome: BROKEN,
    },
    {
      name: "reset after the head",
      behaviour: "reset-inside",
      stream: true,
      vendor: `${over}-reset`,
      outcome: BROKEN,
    },
    {
      name: "caller leaves before the answer",
      behaviour: "stall-before",
      stream: true,
      // Ends the call on a Deno version that does not report the disconnect.
      timeouts: { first_byte_seconds: 0.2 },
      caller: "leaves-before",
      outcome: /^left/,
    },
    {
      name: "caller leaves in mid-stream",
      behaviour: "stall-inside",
      stream: true,
      caller: "leaves-inside",
      outcome: /^left/,
    },
    {
      name: "slow reader cut off",
      behaviour: "flood",
      stream: true,
      caller: "reads-nothing",
      outcome: /^cut off/,
      share: SMALL_BUFFERS ? 0.25 : 0.1,
    },
    {
      name: "timeout: connect",
      behaviour: "whole",
      stream: false,
      vendor: `${over}-silent`,
      timeouts: { connect_seconds: 0.02 },
      outcome: /^504 .*could not reach/s,
    },
    {
      name: "timeout: first byte",
      behaviour: "stall-before",
      stream: false,
      timeouts: { first_byte_seconds: 0.02 },
      outcome: /^504 .*did not answer/s,
    },
    {
      name: "timeout: idle",
      behaviour: "stall-inside",
      stream: true,
      timeouts: { idle_seconds: 0.02 },
      outcome: /^(200|504) .*fell silent/s,
    },
    {
      name: "timeout: total",
      behaviour: "stall-inside",
      stream: true,
      timeouts: { total_seconds: 0.05 },
      outcome: /took longer/s,
    },
    {
      name: over === "plain" ? "connection refused" : "certificate refused",
      behaviour: "whole",
      stream: false,
      vendor: `${over}-refused`,
      outcome: /^502 /,
    },
    ...(over === "secure" || !CAN_UPGRADE ? [] : [
      {
        name: "web socket with one turn",
        behaviour: "stream",
        stream: true,
        caller: "opens-a-socket",
        outcome: /^response\.completed/,
      } as const,
      {
        name: "web socket left inside a message",
        behaviour: "stream",
        stream: true,
        caller: "leaves-a-message",
        outcome: /^left/,
      } as const,
      {
        name: "turn in a web socket that stays open",
        behaviour: "stream",
        stream: true,
        caller: "shares-a-socket",
        outcome: /^response\.completed/,
        share: 0.25,
      } as const,
    ]),
    ...(over === "plain" ? [] : [
      {
        name: "handshake cut",
        behaviour: "whole",
        stream: false,
        vendor: "secure-cut",
        outcome: /^502 /,
      } as const,
    ]),
  ].map((kind) => ({
    vendor: over,
    ...kind,
    name: `${over}: ${kind.name}`,
  } as Kind))
);

/** Bytes; infinite where the system does not report them. */
function largestSendBuffer(): number {
  try {
    const sizes = Deno.readTextFileSync("/proc/sys/net/ipv4/tcp_wmem");
    return Number(sizes.trim().split(/\s+/).at(-1));
  } catch {
    return Infinity;
  }
}

interface Bench extends AsyncDisposable {
  readonly upstream: FaultUpstream;
  readonly ports: Readonly<Record<string, number>>;
}

/** Starts the upstream, and listeners that refuse, stall or cut connections. */
async function startBench(): Promise<Bench> {
  const upstream = await startFaultUpstream();
  const local = { hostname: "127.0.0.1", port: 0 } as const;
  const closed = Deno.listen(local);
  const refused = closed.addr.port;
  closed.close();
  const stranger = Deno.listenTls({ ...local, ...certificate("unknown") });
  const accepting = [acceptAll(stranger, async (conn) => {
    await conn.read(new Uint8Array(1));
  })];
  const cutting = Deno.listen(local);
  accepting.push(acceptAll(cutting, async (conn) => {
    await conn.read(new Uint8Array(1024));
  }));
  const mute = Deno.listen(local);
  accepting.push(acceptAll(mute, async (conn) => {
    while (await conn.read(new Uint8Array(1024)) !== null);
  }));
  const full = Deno.listen({ ...local, tcpBacklog: 1 });
  const held = await filled(full.addr.port);
  return {
    upstream,
    ports: {
      "plain": upstream.plain.port,
      "plain-reset": upstream.plain.resetPort,
      "plain-silent": full.addr.port,
      "plain-refused": refused,
      "secure": upstream.secure.port,
      "secure-reset": upstream.secure.resetPort,
      "secure-silent": mute.addr.port,
      "secure-refused": stranger.addr.port,
      "secure-cut": cutting.addr.port,
    },
    async [Symbol.asyncDispose]() {
      upstream.close();
      for (const one of [stranger, cutting, mute, full, ...held]) one.close();
      await Promise.all(accepting);
    },
  };
}

/** Serves all connections of a listener; settles once it and they are closed. */
async function acceptAll(
  listener: Deno.Listener,
  serve: (conn: Deno.Conn) => Promise<void>,
): Promise<void> {
  const served = new Set<Promise<void>>();
  for (;;) {
    try {
      const conn = await listener.accept();
      const one = serve(conn).catch(() => {}).finally(() => {
        conn.close();
        served.delete(one);
      });
      served.add(one);
    } catch (error) {
      if (error instanceof Deno.errors.BadResource) break;
    }
  }
  await Promise.all(served);
}

/** Fills the backlog with connections that are never accepted: the next one gets no reply. */
async function filled(port: number): Promise<Deno.Conn[]> {
  const held: Deno.Conn[] = [];
  for (;;) {
    const waiting = new AbortController();
    const timer = setTimeout(() => waiting.abort(), 300);
    try {
      const { signal } = waiting;
      held.push(await Deno.connect({ hostname: "127.0.0.1", port, signal }));
    } catch {
      return held;
    } finally {
      clearTimeout(timer);
    }
  }
}

function configOf(ports: Bench["ports"]): string {
  const vendors = Object.entries(ports).map(([name, port]) => [name, {
    kind: "vendorb",
    base_url: name.startsWith("plain")
      ? `http://127.0.0.1:${port}/v1`
      : `https://localhost:${port}/v1`,
    api_key_env: "UPSTREAM_KEY",
  }]);
  const models = KINDS.map(({ name, behaviour, vendor, timeouts }) => [
    name.replaceAll(/[^a-z]+/g, "-"),
    {
      display_name: name,
      created: 1,
      candidates: [{
        vendor,
        upstream_model: behaviour,
        dialect: "chat_completions",
      }],
      context_tokens: 1000,
      price: { input: 1, output: 1, cache_read: 1, cache_write: 1 },
      ...compact({ timeouts }),
    },
  ]);
  return JSON.stringify({
    vendors: Object.fromEntries(vendors),
    models: Object.fromEntries(models),
  });
}

interface Measured extends AsyncDisposable {
  readonly url: string;
  /** Collects garbage until the heap is at most the target or stops shrinking, and measures. */
  kept(targetBytes: number, openSockets: number): Promise<KeptMemory>;
}

/** Starts the gateway in a process of its own. */
async function startMeasured(config: string): Promise<Measured> {
  const folder = await Deno.makeTempDir();
  await Deno.writeTextFile(`${folder}/gateway.json`, config);
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-prompt",
      "--no-check",
      "--allow-all",
      `--v8-flags=${V8_FLAGS.join()}`,
      `--config=${ROOT}deno.json`,
      `--lock=${ROOT}deno.lock`,
      `${ROOT}tests/support/programs/measured_program.ts`,
    ],
    clearEnv: true,
    env: {
      PATH: "/usr/bin:/bin",
      HOME: Deno.env.get("HOME") ?? "/",
      PORT: "0",
      DATABASE_URL: `sqlite:${folder}/gateway.sqlite3`,
      DENO_CERT: AUTHORITY_FILE,
      GATEWAY_ADMIN_TOKEN: ADMIN_TOKEN,
      GATEWAY_CONFIG: `${folder}/gateway.json`,
      GATEWAY_KEY: KEY,
      GATEWAY_LOG: "none",
      GATEWAY_MAX_ATTEMPTS: "1",
      GATEWAY_PING_SECONDS: "0.1",
      GATEWAY_SLOW_READER_SECONDS: "0.1",
      UPSTREAM_KEY: "upstream-key",
    },
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const asking = child.stdin.getWriter();
  let text = "";
  const line = async (wanted: RegExp): Promise<string> => {
    for (;;) {
      const found = wanted.exec(text);
      if (found !== null) {
        text = text.slice(found.index + found[0].length);
        return found[1] ?? "";
      }
      const { value } = await lines.read();
      if (value === undefined) throw new Error(`no line matched ${wanted}`);
      text += value;
    }
  };
  const url = await line(/^Model gateway at (http\S+)\n/m);
  return {
    url,
    async kept(targetBytes, openSockets) {
      while (!await isIdle(url, openSockets)) {
        // Calls whose client left are still ending.
      }
      await asking.write(new TextEncoder().encode(`${targetBytes}\n`));
      return JSON.parse(await line(/^KEPT (.+)\n/m));
    },
    async [Symbol.asyncDispose]() {
      try {
        child.kill("SIGKILL");
      } catch {
        // The process has already ended; its calls have failed.
      }
      await child.status;
      await asking.close().catch(() => {});
      await lines.cancel().catch(() => {});
      await Deno.remove(folder, { recursive: true });
    },
  };
}

async function isIdle(url: string, openSockets: number): Promise<boolean> {
  const response = await fetch(`${url}/metrics`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  });
  const text = await response.text();
  return /^gateway_calls_under_way 0$/m.test(text) &&
    text.includes(`\ngateway_open_web_sockets ${openSockets}\n`);
}

/** The web socket that all calls of a kind share, also while memory is measured. */
type Shared = SocketClient | undefined;

/** How the calls of a kind reach the gateway. */
interface Way {
  readonly url: string;
  readonly client: Deno.HttpClient;
  readonly shared: Shared;
}

const BEARER = { authorization: `Bearer ${KEY}` };

/** Makes a call and returns its outcome. */
async function call(
  { url, client, shared }: Way,
  { upstream }: Bench,
  kind: Kind,
  nonce: string,
): Promise<string> {
  const model = kind.name.replaceAll(/[^a-z]+/g, "-");
  // Longer than a first read of a socket, as real requests are.
  const content = `<<${nonce}>>${"x".repeat(2000)}`;
  if (kind.caller === "opens-a-socket" || kind.caller === "shares-a-socket") {
    const own = kind.caller === "opens-a-socket"
      ? await openSocket(url, BEARER)
      : undefined;
    const turn = { model, input: content, store: false };
    const events = await (own ?? shared)?.create(turn);
    await own?.close();
    return String(events?.at(-1)?.["type"]);
  }
  if (kind.caller === "leaves-a-message") {
    using socket = await RawWebSocket.open(url, BEARER);
    await socket.send(clientFrame(OPCODE.text, content, { isLast: false }));
    return "left";
  }
  const body = JSON.stringify({
    model,
    stream: kind.stream,
    messages: [{ role: "user", content }],
  });
  if (kind.caller === "reads-nothing") {
    return await readNothing(url, upstream, nonce, body);
  }
  const leaving = new AbortController();
  const asked = fetch(`${url}/v1/chat/completions`, {
    client,
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...BEARER,
    },
    body,
    signal: leaving.signal,
  });
  if (kind.caller === "leaves-before") {
    await Promise.race([upstream.arrived(nonce), asked.catch(() => {})]);
    leaving.abort();
    await asked.catch(() => {});
    return "left";
  }
  const response = await asked;
  if (kind.caller === "leaves-inside") {
    const reader = response.body?.getReader();
    await reader?.read();
    leaving.abort();
    await reader?.cancel().catch(() => {});
    return "left";
  }
  return `${response.status} ${await response.text()}`;
}

async function readNothing(
  url: string,
  upstream: FaultUpstream,
  nonce: string,
  body: string,
): Promise<string> {
  const { hostname, port } = new URL(url);
  using conn = await Deno.connect({ hostname, port: Number(port) });
  const bytes = new TextEncoder().encode(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${KEY}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  await conn.write(bytes);
  await withTimeout(upstream.arrived(nonce), "the call at the upstream");
  await withTimeout(upstream.gone(nonce), "the end of the upstream's reply");
  return "cut off";
}

/** Makes calls, several at once, and returns the unexpected outcomes. */
async function calls(
  url: string,
  bench: Bench,
  kind: Kind,
  count: number,
  shared: Shared,
): Promise<string[]> {
  const wrong: string[] = [];
  let left = count;
  // Connections that stay open would count as kept memory: disposing the client closes those to
  // the gateway, and the upstream closes its own.
  using client = Deno.createHttpClient({ poolMaxIdlePerHost: LANES });
  const lane = async (): Promise<void> => {
    while (left-- > 0) {
      const nonce = String(nonces++);
      const outcome = await call({ url, client, shared }, bench, kind, nonce);
      if (!kind.outcome.test(outcome)) wrong.push(outcome.slice(0, 300));
    }
  };
  // The events of a web socket are read in order.
  const lanes = kind.caller === "shares-a-socket" ? 1 : LANES;
  await Promise.all(Array.from({ length: lanes }, lane));
  await bench.upstream.closeIdle();
  return wrong;
}

async function sharedBy(
  kinds: readonly Kind[],
  url: string,
): Promise<Shared> {
  return kinds.some(({ caller }) => caller === "shares-a-socket")
    ? await openSocket(url, BEARER)
    : undefined;
}

let nonces = 0;

/** A round of calls of each kind. */
async function makeCalls(
  { gateway, bench }: Measuring,
  kinds: readonly Kind[],
  count: number,
  shared: Shared,
): Promise<void> {
  for (const kind of kinds) {
    const share = Math.ceil(count * (kind.share ?? 1));
    assert.deepEqual(
      await calls(gateway.url, bench, kind, share, shared),
      [],
      kind.name,
    );
  }
}

/**
 * Bytes per call: the median of the slopes between any two points (Theil–Sen), which single
 * outliers do not move.
 */
function slopeOf(bytes: readonly number[], callsPerRound: number): number {
  const slopes = bytes.flatMap((from, at) =>
    bytes.slice(at + 1).map((to, more) => (to - from) / (more + 1))
  ).toSorted((a, b) => a - b);
  const [low, high] = [
    slopes[Math.floor((slopes.length - 1) / 2)],
    slopes[Math.ceil((slopes.length - 1) / 2)],
  ];
  assert(low !== undefined && high !== undefined);
  return Math.round((low + high) / 2 / callsPerRound);
}

/** What is measured, and what it calls. */
interface Measuring {
  readonly gateway: Measured;
  readonly bench: Bench;
}

/** What is kept of a call of each of the kinds, where it is too much. */
async function excess(
  measuring: Measuring,
  kinds: readonly Kind[],
  count: number,
): Promise<string | undefined> {
  const { gateway } = measuring;
  const shared = await sharedBy(kinds, gateway.url);
  const points: KeptMemory[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    await makeCalls(measuring, kinds, count, shared);
    // A line of half the limit through the lowest point: a leak never comes down to it. Nothing is
    // low enough for the first point, because what is collected later would hide a leak.
    const target = points.length === 0 ? 0 : Math.min(
      ...points.map(({ heap }, at) =>
        heap + (round - at) * count * MAX_HEAP / 2
      ),
    );
    points.push(await gateway.kept(target, shared === undefined ? 0 : 1));
  }
  await shared?.close();
  const growth = (part: keyof KeptMemory): number =>
    slopeOf(points.map((point) => point[part]), count);
  const listed = (part: keyof KeptMemory): string =>
    points.map((point) => point[part]).join(" ");
  const report = `${kinds.map(({ name }) => name).join(", ")}: a call keeps ${
    growth("heap")
  } bytes of heap, ${
    growth("resident")
  } of resident memory; after each round of ${count}: heap ${
    listed("heap")
  }, resident ${listed("resident")}`;
  // deno-lint-ignore no-console
  if (Deno.env.has("KEPT_MEMORY_CALLS")) console.log(report);
  return growth("heap") > MAX_HEAP ||
      count * ROUNDS >= CALLS_FOR_RESIDENT &&
        growth("resident") > MAX_RESIDENT
    ? report
    : undefined;
}

/**
 * Measures the kinds together, as collecting garbage costs more than the calls. Those that keep too much are measured once
 * more, because code that is still being compiled keeps too much once and a leak always; then each half of them.
 */
async function excesses(
  measuring: Measuring,
  kinds: readonly Kind[],
  attempts = kinds.length === 1 ? MAX_ATTEMPTS : MAX_ATTEMPTS_TOGETHER,
  count = ROUND_CALLS,
): Promise<string[]> {
  const found = await excess(measuring, kinds, count);
  if (found === undefined) return [];
  if (attempts > 1) {
    return await excesses(measuring, kinds, attempts - 1, count * 2);
  }
  if (kinds.length === 1) return [found];
  const half = kinds.length >> 1;
  return [
    ...await excesses(measuring, kinds.slice(0, half)),
    ...await excesses(measuring, kinds.slice(half)),
  ];
}

Deno.test("a finished call keeps no memory, however it ended", async (t) => {
  await using bench = await startBench();
  await using gateway = await startMeasured(configOf(bench.ports));
  const kinds = KINDS.filter(({ name }) => name.includes(ONLY));
  const shared = await sharedBy(kinds, gateway.url);
  await makeCalls({ gateway, bench }, kinds, WARM_UP_CALLS, shared);
  await shared?.close();
  for (let at = 0; at < kinds.length; at += KINDS_TOGETHER) {
    const together = kinds.slice(at, at + KINDS_TOGETHER);
    await t.step(together.map(({ name }) => name).join(", "), async () => {
      assert.deepEqual(await excesses({ gateway, bench }, together), []);
    });
  }
});
