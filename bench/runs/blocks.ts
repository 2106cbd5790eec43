/**
 * How long one body blocks the event loop: sends bodies at the bounds of what is accepted, and
 * beyond them, to a gateway one after another. Prints the processor time of the longest turn of
 * each, and how much the gateway's thread used while another request waited for its answer; neither
 * depends on what else the machine runs.
 */
import type { Bench, BenchContext } from "../bench.ts";
import { startMock } from "../mock/start_mock.ts";
import { readLoopBlocks } from "../measure/loop_probe.ts";
import { prepare } from "../targets/own_gateway.ts";
import type { CallerDialect } from "../load/reply_judge.ts";
import type { UpstreamDialect } from "../mock/mock_bodies.ts";
import type { Address, Direction } from "../targets/target.ts";
import {
  BLOCK_CALLS,
  type Poster,
  posterAt,
  type ReadReply,
} from "./block_calls.ts";
import { CONVERSATION_BODIES, many } from "./conversation_bodies.ts";

const ROUNDS = 5;
/** A longer turn, in milliseconds of processor time, is a failure. */
const MOST_MS = 30;
const HI = '[{"role":"user","content":"Hi"}]';

/** A body of the chat format, or of the caller's. */
interface Shape {
  readonly name: string;
  /** Absent: chat completions. */
  readonly caller?: CallerDialect;
  fields(): string;
  /** Absent: 200. */
  readonly status?: number | Readonly<Record<string, number>>;
}

const WRONG_SETTINGS =
  "tool_choice response_format logit_bias function_call functions parallel_tool_calls reasoning_effort store stop seed"
    .split(" ");

const SHAPES: readonly Shape[] = [
  {
    name: "990 unknown fields",
    fields: () => `"messages":${HI},${many(990, (i) => `"k${i}":1`)}`,
  },
  {
    name: "10^6 unknown fields",
    fields: () => `"messages":${HI},${many(1e6, (i) => `"k${i}":1`)}`,
    status: 400,
  },
  {
    name: "a schema of 49,900 properties",
    fields: () =>
      `"messages":${HI},"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{${
        many(49_900, (i) => `"p${i}":{}`)
      }}}}}]`,
  },
  {
    name: "a schema of 800,000 properties",
    fields: () =>
      `"messages":${HI},"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{${
        many(800_000, (i) => `"p${i}":{}`)
      }}}}}]`,
    status: 400,
  },
  {
    name: "33,000 messages",
    fields: () =>
      `"messages":[${
        many(
          33_000,
          (i) => `{"role":"${i % 2 ? "assistant" : "user"}","content":"a"}`,
        )
      }]`,
  },
  {
    name: "33,000 parts",
    fields: () =>
      `"messages":[{"role":"user","content":[${
        many(33_000, () => '{"type":"text","text":"a"}')
      }]}]`,
  },
  {
    name: "9,900 calls and results",
    fields: () =>
      `"messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[${
        many(
          9_900,
          (i) =>
            `{"id":"c${i}","type":"function","function":{"name":"f","arguments":"{}"}}`,
        )
      }]},${
        many(
          9_900,
          (i) => `{"role":"tool","tool_call_id":"c${i}","content":"r"}`,
        )
      }]`,
  },
  {
    name: "1,900 levels",
    fields: () =>
      `"messages":${HI},"x":${"[".repeat(1_900)}${"]".repeat(1_900)}`,
  },
  {
    name: "30,000 messages with 10 wrong settings",
    fields: () =>
      `"messages":[${
        many(
          30_000,
          (i) => `{"role":"${i % 2 ? "assistant" : "user"}","content":"a"}`,
        )
      }],${WRONG_SETTINGS.map((name) => `"${name}":{"a":[]}`).join()}`,
    // Passed on as they are; they cannot be translated.
    status: { chat_completions: 200, messages: 400 },
  },
  {
    name: "20,000 messages of wrong types",
    fields: () =>
      `"messages":[${many(20_000, () => '{"role":7,"content":{}}')}]`,
    status: 400,
  },
  {
    name: "33,000 long numbers, a key twice, and keys of odd spelling",
    fields: () =>
      `"messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"r"}],"metadata":{"Model":1,"a":1,"a":[${
        many(33_000, () => '{"Xy":12345678901234567890}')
      }]}`,
  },
  ...([
    ["text", "some text ", 3e6],
    ["quotes and line ends", '\\"\\n', 75e5],
    ["text beyond Latin", "\u{1f600}\u6587 ", 35e5],
    ["digits", "123456789012345 ", 19e5],
  ] as const).map(([name, text, times]): Shape => ({
    name: `30 MB of ${name}`,
    fields: () =>
      `"messages":[{"role":"user","content":"${text.repeat(times)}"}]`,
  })),
  ...CONVERSATION_BODIES,
];

/** The upstreams of each format: its own, and others. */
const UPSTREAMS: Readonly<Record<CallerDialect, readonly UpstreamDialect[]>> = {
  chat_completions: ["chat_completions", "messages"],
  messages: ["messages", "chat_completions"],
  responses: ["responses", "messages", "generate_content"],
  generate_content: ["generate_content", "chat_completions"],
};

/** The fields beside the conversation; the path of generate content has the model. */
function bodyOf(caller: CallerDialect, model: string, fields: string): string {
  switch (caller) {
    case "generate_content":
      return `{${fields}}`;
    case "responses":
      return `{"model":"${model}","store":false,${fields}}`;
    case "chat_completions":
    case "messages":
      return `{"model":"${model}","max_tokens":9,${fields}}`;
  }
}

/** `deno task bench blocks`. */
export const blocks: Bench = {
  about: "how long one body blocks the event loop",
  run: runBlocks,
};

async function runBlocks({ print, record }: BenchContext): Promise<number> {
  await using stack = new AsyncDisposableStack();
  const upstream = await startMock(stack);
  const site = stack.use(
    await prepare(upstream, {
      folder: new URL("../../", import.meta.url).pathname,
      // The probe reads the processor time of its thread.
      denoFlags: ["--allow-all"],
    }),
  );
  const target = stack.use(await site.start({ probed: "cpu" }));
  const { probeUrl, pid } = target;
  if (probeUrl === undefined || pid === undefined) {
    throw new Error("the gateway is not observed");
  }
  const addressOf = (direction: Direction): Address => {
    const address = target.address(direction);
    if (address === undefined) throw new Error("the gateway has all formats");
    return address;
  };
  const posterOf = (direction: Direction): Poster =>
    posterAt(addressOf(direction));
  const { host, port } = addressOf({
    caller: "messages",
    upstream: "messages",
  });
  const healthUrl = `http://${host}:${port}/healthz`;
  let faults = 0;
  const measure = async (
    names: Readonly<Record<string, string>>,
    bytes: number,
    send: () => Promise<ReadReply>,
    expected: number,
    mostMs = MOST_MS,
  ): Promise<void> => {
    const longest: number[] = [];
    const waited: number[] = [];
    const title = Object.values(names).join(", ");
    for (let round = 0; round < ROUNDS; round++) {
      await readLoopBlocks(probeUrl);
      const call = send();
      waited.push(await longestWait(healthUrl, pid, call));
      const { status } = await call;
      if (status !== expected) {
        faults++;
        print(`${title}: ${status}`);
      }
      longest.push((await readLoopBlocks(probeUrl)).busiestMs ?? NaN);
    }
    if (Math.min(...longest) > mostMs) {
      faults++;
      print(`more than ${mostMs} ms:`);
    }
    record?.({ ...names, bytes, busiestMs: longest, waitedMs: waited });
    print(
      `${title}, ${
        (bytes / 1e6).toFixed(1)
      } MB: processor time of the longest turn ${
        figures(longest)
      }, while another request waited ${figures(waited)}`,
    );
  };
  for (
    const { name, caller = "chat_completions", fields, status = 200 } of SHAPES
  ) {
    const written = fields();
    for (const upstream of UPSTREAMS[caller]) {
      const poster = posterOf({ caller, upstream });
      const body = bodyOf(caller, poster.model, written);
      await measure(
        { name, caller, upstream },
        body.length,
        () => poster.post(body),
        typeof status === "number" ? status : status[upstream] ?? 200,
      );
    }
  }
  for (
    const { name, caller, upstream, bytes, mostMs, prepare } of BLOCK_CALLS
  ) {
    await measure(
      { name, caller, upstream },
      bytes,
      await prepare(posterOf({ caller, upstream })),
      200,
      mostMs,
    );
  }
  return faults === 0 ? 0 : 1;
}

/** The least of the rounds, which no collection of garbage lengthens, and their median. */
function figures(ms: readonly number[]): string {
  const sorted = ms.toSorted((a, b) => a - b);
  const [least = NaN] = sorted;
  const median = sorted[sorted.length >> 1] ?? NaN;
  return `${least.toFixed(0)} ms (median ${median.toFixed(0)})`;
}

/**
 * The most processor time that the first thread of a process used while one of many requests for
 * `url` waited, until `call` has ended.
 */
async function longestWait(
  url: string,
  pid: number,
  call: Promise<unknown>,
): Promise<number> {
  let hasEnded = false;
  const ended = (): void => void (hasEnded = true);
  call.then(ended, ended);
  let longestMs = 0;
  while (!hasEnded) {
    const fromMs = threadMs(pid);
    await (await fetch(url)).body?.cancel();
    longestMs = Math.max(longestMs, threadMs(pid) - fromMs);
  }
  return longestMs;
}

/** Processor time of a process's first thread. */
function threadMs(pid: number): number {
  const text = Deno.readTextFileSync(`/proc/${pid}/task/${pid}/schedstat`);
  return Number(text.split(" ")[0]) / 1e6;
}
