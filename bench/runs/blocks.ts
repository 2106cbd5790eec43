/**
 * How long one body blocks the event loop: sends bodies at the bounds of what is accepted, and
 * beyond them, to a gateway one after another. Prints the processor time of the longest turn of
 * each, which does not depend on what else the machine runs.
 */
import type { Bench, BenchContext } from "../bench.ts";
import { startMock } from "../mock/start_mock.ts";
import { readLoopBlocks } from "../measure/loop_probe.ts";
import { prepare } from "../targets/own_gateway.ts";

const ROUNDS = 5;
const HI = '[{"role":"user","content":"Hi"}]';

/** A body of the chat format. */
interface Shape {
  readonly name: string;
  fields(): string;
  /** Absent: 200. */
  readonly status?: number | Readonly<Record<string, number>>;
}

const WRONG_SETTINGS =
  "tool_choice response_format logit_bias function_call functions parallel_tool_calls reasoning_effort store stop seed"
    .split(" ");

function many(count: number, one: (i: number) => string): string {
  return Array.from({ length: count }, (_, i) => one(i)).join(",");
}

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
];

/** The client's own format, and another one. */
const UPSTREAMS = ["chat_completions", "messages"] as const;

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
  const { probeUrl } = target;
  if (probeUrl === undefined) throw new Error("the gateway is not observed");
  let faults = 0;
  for (const { name, fields, status = 200 } of SHAPES) {
    for (const upstream of UPSTREAMS) {
      const address = target.address({ caller: "chat_completions", upstream });
      if (address === undefined) continue;
      const { model } = address;
      const body = `{"model":"${model}","max_tokens":9,${fields()}}`;
      const longest: number[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        await readLoopBlocks(probeUrl);
        const response = await fetch(
          `http://${address.host}:${address.port}${address.path}`,
          {
            method: "POST",
            headers: { ...address.headers, "content-type": "application/json" },
            body,
          },
        );
        await response.text();
        const expected = typeof status === "number" ? status : status[upstream];
        if (response.status !== expected) {
          faults++;
          print(`${name} to ${upstream}: ${response.status}`);
        }
        longest.push((await readLoopBlocks(probeUrl)).busiestMs ?? NaN);
      }
      const least = Math.min(...longest);
      record?.({ name, upstream, bytes: body.length, busiestMs: longest });
      print(
        `${name} to ${upstream}, ${
          (body.length / 1e6).toFixed(1)
        } MB: longest turn ${least.toFixed(0)} ms of processor time`,
      );
    }
  }
  return faults === 0 ? 0 : 1;
}
