/**
 * Upstreams with correct HTTP and bad content: broken frames, absurd token counts, enormous sizes.
 */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { gzipSync } from "node:zlib";
import {
  bodyOf,
  COMPLETE,
  CUT,
  type HostileRow as Row,
  type Play,
  playEveryVariant,
  playOnce,
  REFUSED,
  runRows as run,
  sends,
  TEXT,
  typeOf,
  VARIANTS,
  withHostileUpstream,
} from "../support/tables/hostile_upstream.ts";
import type { CallVariant } from "../support/replies/check_reply.ts";
import { bytesOf } from "../support/clients/raw_socket.ts";
import type { UpstreamFormat } from "../support/tables/reply_script.ts";
import { chargesIn } from "../support/tables/billing.ts";
import {
  chunk,
  framesOf,
  head,
  STREAM_HEAD,
  streamAnswer,
  wholeAnswer,
} from "../support/upstreams/upstream_bytes.ts";

const STREAMED = VARIANTS.filter(({ stream }) => stream);
const WHOLE = VARIANTS.filter(({ stream }) => !stream);

/**
 * The text fixture's frames with one inserted at a position; a negative position counts from the
 * end.
 */
function frameAt(
  { upstream }: CallVariant,
  at: number,
  frame: string,
): readonly string[] {
  const frames = framesOf("text", upstream);
  const place = at < 0 ? frames.length + at : at;
  return [...frames.slice(0, place), frame, ...frames.slice(place)];
}

const ERRORS: Readonly<Record<UpstreamFormat, string>> = {
  messages:
    'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"late"}}\n\n',
  chat: 'data: {"error":{"message":"late","type":"server_error"}}\n\n',
  gemini:
    'data: {"error":{"code":503,"message":"late","status":"UNAVAILABLE"}}\r\n\r\n',
};

Deno.test("frames that are malformed, late or superfluous", (t) =>
  run(t, [
    ...[
      ["truncated JSON", 'data: {"a":\n\n'],
      ["a frame that is not JSON", "data: <html>\n\n"],
      ["an invalid number", "data: 1e999x\n\n"],
    ].flatMap(([name = "", frame = ""]) =>
      [0, 1, -1].map((at): Row => ({
        name: `${name} as frame ${at}`,
        play: sends((asked) => streamAnswer(frameAt(asked, at, frame))),
        expect: CUT,
        variants: STREAMED,
      }))
    ),
    ...[
      "data: []\n\n",
      ": comment\n\n",
      "event: unknown_event\ndata: {}\n\n",
      "\n\n\n",
    ]
      .map((frame): Row => ({
        name: `${JSON.stringify(frame)} between the frames`,
        play: sends((asked) => streamAnswer(frameAt(asked, 1, frame))),
        expect: COMPLETE,
        variants: STREAMED,
      })),
    {
      name: "the terminator is missing",
      play: sends((asked) =>
        streamAnswer(framesOf("text", asked.upstream).slice(0, -1))
      ),
      // After a finish reason, the end of the body counts as the end of the stream.
      expect: ({ upstream }) => upstream === "gemini" ? CUT : COMPLETE,
      variants: STREAMED,
    },
    {
      name: "the finish reason and the terminator are missing",
      play: sends((asked) =>
        streamAnswer(framesOf("text", asked.upstream).slice(0, -3))
      ),
      expect: CUT,
      variants: STREAMED,
    },
    {
      name: "an error before the first frame",
      play: sends((asked) =>
        streamAnswer(frameAt(asked, 0, ERRORS[asked.upstream]))
      ),
      expect: { kind: "refused", status: "any" },
      variants: STREAMED,
    },
    {
      name: "an error in the middle",
      play: sends((asked) =>
        streamAnswer(frameAt(asked, 2, ERRORS[asked.upstream]))
      ),
      expect: { kind: "broken", text: TEXT },
      variants: STREAMED,
    },
    {
      name: "an error before the end, after the finish reason",
      play: sends((asked) =>
        streamAnswer(
          frameAt(
            asked,
            asked.upstream === "gemini" ? 4 : -1,
            ERRORS[asked.upstream],
          ),
        )
      ),
      expect: { kind: "broken", text: TEXT },
      variants: STREAMED,
    },
    {
      name: "an error after the end",
      play: sends((asked) =>
        streamAnswer([
          ...framesOf("text", asked.upstream),
          ERRORS[asked.upstream],
        ])
      ),
      // In generate content only the end of the body ends the stream, so the error still counts.
      expect: ({ upstream }) =>
        upstream === "gemini" ? { kind: "broken", text: TEXT } : COMPLETE,
      variants: STREAMED,
    },
    {
      name: "a second answer in one body",
      play: sends((asked) =>
        streamAnswer([
          ...framesOf("text", asked.upstream),
          ...framesOf("text", asked.upstream),
        ])
      ),
      expect: { kind: ["complete", "broken"] },
      variants: STREAMED,
    },
    {
      name: "a byte order mark",
      play: sends((asked) =>
        asked.stream
          ? streamAnswer(["\ufeff", ...framesOf("text", asked.upstream)])
          : wholeAnswer(`\ufeff${bodyOf(asked)}`)
      ),
      expect: { kind: ["complete", "refused"], text: TEXT },
    },
    {
      name: "white space around the JSON",
      play: sends((asked) => wholeAnswer(` \r\n${bodyOf(asked)}\n \t`)),
      expect: COMPLETE,
      variants: WHOLE,
    },
    {
      name: "more text after the JSON",
      play: sends((asked) => wholeAnswer(`${bodyOf(asked)}{}`)),
      expect: REFUSED,
      variants: WHOLE,
    },
    {
      name: "a zero byte in the middle",
      play: sends((asked) => {
        const body = bodyOf(asked).replace("quick", "qu\0ck");
        return wholeAnswer(body, typeOf(asked));
      }),
      expect: ({ stream }) => stream ? CUT : REFUSED,
      variants: VARIANTS.filter(({ upstream }) => upstream !== "chat"),
    },
    {
      name: "an error with status 200",
      play: sends(({ upstream }) =>
        wholeAnswer(ERRORS[upstream].replace(/^[^]*?data: /, "").trim())
      ),
      expect: { kind: "refused", status: "any" },
    },
  ]));

/** Replacements that put a value into the numeric fields of an upstream format. */
function odd(
  { upstream }: CallVariant,
  value: string,
): readonly [string, string][] {
  switch (upstream) {
    case "messages":
      return [
        ['"input_tokens":25', `"input_tokens":${value}`],
        ['"output_tokens":12', `"output_tokens":${value}`],
        ['"output_tokens":1,', `"output_tokens":${value},`],
      ];
    case "chat":
      return [
        ['"prompt_tokens":25', `"prompt_tokens":${value}`],
        ['"completion_tokens":12', `"completion_tokens":${value}`],
        ['"total_tokens":37', `"total_tokens":${value}`],
        ['"created":1780000000', `"created":${value}`],
      ];
    case "gemini":
      return [
        ['"promptTokenCount": 25', `"promptTokenCount": ${value}`],
        ['"candidatesTokenCount": 12', `"candidatesTokenCount": ${value}`],
        ['"totalTokenCount": 37', `"totalTokenCount": ${value}`],
        ['"index": 0', `"index": ${value}`],
      ];
  }
}

Deno.test("absurd token counts do not make an absurd charge", (t) =>
  withHostileUpstream(async (bench) => {
    for (
      const value of [
        "-1000000000",
        "1e999",
        "-1e999",
        "1e308",
        "5e8",
        "2e9",
        "0.5",
        "9007199254740993",
        "123456789012345678901234567890",
        '"12"',
        "null",
        "{}",
        "[]",
        "true",
      ]
    ) {
      await playEveryVariant(
        t,
        bench,
        value,
        sends((asked) => {
          let body = bodyOf(asked);
          for (const [from, to] of odd(asked, value)) {
            body = body.replaceAll(from, to);
          }
          return wholeAnswer(body, typeOf(asked));
        }),
        { kind: ["complete", "refused", "broken"] },
      );
    }
    for (const entry of await chargesIn(bench.gateway)) {
      assert.ok(Number.isSafeInteger(entry.microUsd) && entry.microUsd <= 0);
      assert.ok(entry.microUsd > -2_000_000, String(entry.microUsd));
      for (const figure of [entry.inputTokens, entry.outputTokens]) {
        assert.ok(
          Number.isSafeInteger(figure) && figure >= 0 && figure < 40_000,
          String(figure),
        );
      }
    }
  }));

/** A well-formed answer with `words` in place of "Hello". */
function answerWith(asked: CallVariant, words: string): string {
  return wholeAnswer(
    bodyOf(asked).replace("Hello", words),
    typeOf(asked),
  );
}

const MANY_VALUES = `[${"{},".repeat(1_000_000)}{}]`;
const NESTED = "[".repeat(100_000) + "]".repeat(100_000);

/** A well-formed answer with an unknown field in a frame in the middle, or in the whole reply. */
function unknownField(asked: CallVariant, value: string): string {
  const body = bodyOf(asked);
  const at = asked.stream
    ? body.indexOf("{", body.indexOf("The") - 250)
    : body.indexOf("{");
  assert.ok(at >= 0);
  return wholeAnswer(
    `${body.slice(0, at + 1)}"unknown":${value},${body.slice(at + 1)}`,
    typeOf(asked),
  );
}

Deno.test("large, deep or oddly named content", (t) =>
  run(t, [
    {
      name: "a frame of 1 MiB",
      play: sends((asked) => answerWith(asked, "a".repeat(1024 * 1024))),
      expect: { kind: "complete" },
    },
    {
      name: "an unknown field that nests 100,000 levels deep",
      play: sends((asked) => unknownField(asked, NESTED)),
      expect: { kind: ["complete", "refused", "broken"] },
    },
    {
      name: "an unknown field with more values than are read",
      play: sends((asked) => unknownField(asked, MANY_VALUES)),
      expect: CUT,
      variants: VARIANTS.filter(({ caller, upstream }) =>
        caller === "messages" || upstream === "messages"
      ),
    },
    {
      name: "keys that every object inherits",
      play: sends((asked) =>
        unknownField(
          asked,
          '{"__proto__":{"a":1},"constructor":{"prototype":{"b":1}},"toString":1}',
        )
      ),
      expect: COMPLETE,
    },
    {
      name:
        "an error with objects as fields, with keys that every object inherits",
      play: sends(() =>
        wholeAnswer(
          '{"error":{"message":"m","code":{"toString":1,"valueOf":1},"type":{"toString":1},"status":{"valueOf":1},"param":{}},"type":"error"}',
        )
      ),
      expect: REFUSED,
    },
    {
      name: "the same error by status",
      play: sends(() =>
        wholeAnswer(
          '{"error":{"message":"m","code":{"toString":1,"valueOf":1},"type":[[]],"status":{"valueOf":1},"details":{"a":1}}}',
          "application/json",
          "418 Tea",
        )
      ),
      expect: { kind: "refused", status: 400 },
    },
    {
      name: "an error that nests 100,000 levels deep",
      play: sends(() => wholeAnswer(NESTED, "application/json", "500 Oops")),
      expect: { kind: "refused", status: 500 },
    },
  ]));

const NEVER_ENDING: readonly Row[] = [
  {
    name: "an endless frame",
    play: pours(
      ({ upstream }) =>
        STREAM_HEAD +
        framesOf("text", upstream).slice(0, 1).map(chunk).join(""),
      () => chunk(`data: ${"a".repeat(1024 * 1024)}`),
    ),
    expect: CUT,
    variants: [
      { caller: "messages", upstream: "messages", stream: true },
      { caller: "chat", upstream: "messages", stream: true },
      { caller: "messages", upstream: "gemini", stream: true },
    ],
  },
  {
    name: "endless blank lines",
    play: pours(
      ({ upstream }) =>
        STREAM_HEAD +
        framesOf("text", upstream).slice(0, 1).map(chunk).join(""),
      () => chunk("\n".repeat(1024 * 1024)),
    ),
    expect: CUT,
    variants: [
      { caller: "messages", upstream: "messages", stream: true },
      { caller: "chat", upstream: "messages", stream: true },
    ],
  },
  {
    name: "an endless whole reply",
    play: pours(
      () =>
        head({
          "content-type": "application/json",
          "transfer-encoding": "chunked",
        }),
      () => chunk(`"${"a".repeat(1024 * 1024)}`),
    ),
    expect: REFUSED,
    variants: [
      { caller: "messages", upstream: "messages", stream: false },
      { caller: "chat", upstream: "gemini", stream: true },
    ],
  },
  {
    name: "an endless error",
    play: pours(
      () =>
        head({
          "content-type": "text/html",
          "transfer-encoding": "chunked",
        }, "503 Busy"),
      () => chunk("<".repeat(1024 * 1024)),
    ),
    expect: { kind: "refused", status: "any" },
    variants: [
      { caller: "messages", upstream: "messages", stream: false },
      { caller: "chat", upstream: "gemini", stream: true },
    ],
  },
];

/** Sends a piece again and again until the gateway closes the connection; fails after 1 GiB. */
function pours(
  first: (asked: CallVariant) => string,
  more: () => string,
): Play {
  return async ({ socket }, asked) => {
    const piece = more();
    let open = true;
    socket.closed.then(() => open = false);
    await socket.send(first(asked));
    for (let sent = 0; open; sent += piece.length) {
      assert.ok(sent < 1024 ** 3, "the gateway reads without a limit");
      await socket.send(piece);
    }
  };
}

Deno.test("endless content is read up to a limit", (t) => run(t, NEVER_ENDING));

Deno.test("a decompression bomb is unpacked up to a limit", async (t) => {
  // Concatenated gzip members: 512 MiB without compressing all of it.
  const member = gzipSync(Buffer.alloc(1024 * 1024, 0x20));
  const bomb = Buffer.concat(Array.from({ length: 512 }, () => member));
  assert.ok(bomb.length < 1024 * 1024);
  await run(t, [{
    name: "512 MiB of spaces",
    async play({ socket }, { stream }) {
      await socket.send(head({
        "content-type": stream ? "text/event-stream" : "application/json",
        "content-encoding": "gzip",
        "content-length": String(bomb.length),
      }));
      await socket.send(bomb);
    },
    expect: CUT,
    variants: [
      { caller: "messages", upstream: "messages", stream: true },
      { caller: "chat", upstream: "gemini", stream: true },
      { caller: "messages", upstream: "chat", stream: false },
    ],
  }]);
});

Deno.test("a compressed stream is forwarded as it arrives", () =>
  withHostileUpstream(async (bench) => {
    const asked: CallVariant = {
      caller: "chat",
      upstream: "messages",
      stream: true,
    };
    const body = gzipSync(bytesOf(bodyOf(asked)));
    const outcome = await playOnce(bench, asked, async ({ socket }) => {
      await socket.send(head({
        "content-type": "text/event-stream",
        "content-encoding": "gzip",
        "content-length": String(body.length),
      }));
      for (const byte of body) await socket.send(Uint8Array.of(byte));
    });
    assert.deepEqual([outcome.kind, outcome.text], ["complete", TEXT]);
  }));
