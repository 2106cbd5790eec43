/** Live runs against the golden gateway with models behind it that are lazy, stupid or busy: none of that is the gateway's fault. */
import assert from "node:assert/strict";
import { UPSTREAM_KEY } from "../golden/call_upstream.ts";
import { startGolden } from "../golden/gateway.ts";
import { readAsk, toolsOf } from "../replay/ask.ts";
import { type Call, readCall } from "../replay/call.ts";
import { deliver } from "../replay/deliver.ts";
import { improvise } from "../replay/improvise.ts";
import type { Said, SaidBlock, StopCause } from "../replay/said.ts";
import type { Script } from "../replay/script.ts";
import { answerCall } from "../replay/answer.ts";
import { chatFrames, chatWhole } from "../replay/speak_chat_completions.ts";
import { geminiFrames, geminiWhole } from "../replay/speak_generate_content.ts";
import { messagesFrames, messagesWhole } from "../replay/speak_messages.ts";
import { run } from "./run.ts";
import type { Screen } from "./screen.ts";
import { readSettings } from "./settings.ts";

const KEY = "sk-live-7f3a9c51d2e84b60";

/** A model: what it says to a call. */
type Model = (call: Call, nth: number) => Said;

function said(
  call: Call,
  stop: StopCause,
  output: number,
  ...blocks: readonly SaidBlock[]
): Said {
  const { usage } = improvise(call);
  return { blocks, stop, stopSequence: null, usage: { ...usage, output } };
}

function text(words: string): SaidBlock {
  return { kind: "text", pieces: words.match(/\s*\S+/g) ?? [] };
}

function call(name: string): SaidBlock {
  return { kind: "tool", name, args: { city: "Nowhere" } };
}

const MODELS: Readonly<Record<string, Model>> = {
  "ignores what it is asked": (asked) =>
    said(asked, "end", 3, text("Ask me tomorrow.")),
  "says nothing": (asked) => said(asked, "end", 1),
  "says one empty text": (asked) =>
    said(asked, "end", 1, { kind: "text", pieces: [""] }),
  "never ends by itself": (asked) => {
    const most = Math.min(readAsk(asked).maxTokens, 300);
    return said(asked, "max_tokens", most, text("blah ".repeat(most)));
  },
  "thinks until its limit": (asked) => {
    const most = Math.min(readAsk(asked).maxTokens, 300);
    const pieces = [`${"hm ".repeat(most)}`];
    return said(asked, "max_tokens", most, {
      kind: "thinking",
      pieces,
      signature: "c2ln",
    });
  },
  "refuses everything": (asked) =>
    said(asked, "refusal", 4, text("I cannot do that.")),
  "calls the wrong tool": (asked) => {
    const tool = toolsOf(asked).at(0);
    return tool === undefined
      ? said(asked, "end", 2, text("No tool."))
      : said(asked, "tool_use", 9, call(tool.name), call(tool.name));
  },
  "obeys every other time": (asked, nth) =>
    nth % 2 === 0 ? improvise(asked) : said(asked, "end", 2, text("No.")),
};

const SPEAKERS = {
  messages: [messagesFrames, messagesWhole],
  chat_completions: [chatFrames, chatWhole],
  generate_content: [geminiFrames, geminiWhole],
} as const;

/** What a vendor with that model sends. */
function scriptOf(asked: Call, model: Model, nth: number): Script {
  const refusal = answerCall(asked);
  if (refusal.status !== 200 || asked.operation !== "generate") return refusal;
  const [frames, whole] = SPEAKERS[asked.dialect];
  const speech = {
    said: model(asked, nth),
    model: asked.model,
    usageAsked: asked.usageAsked,
    seed: asked.request.body,
  };
  const reply = asked.streamed
    ? { stream: frames(speech), whole: "" }
    : { stream: [], whole: whole(speech) };
  return deliver(asked, reply, {});
}

/** A vendor on loopback with one model behind all names. */
function startVendor(model: Model) {
  let nth = 0;
  return Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    async (request) => {
      assert.ok(JSON.stringify([...request.headers]).includes(UPSTREAM_KEY));
      const { pathname, search } = new URL(request.url);
      const asked = readCall({
        method: request.method,
        path: pathname + search,
        headers: Object.fromEntries(request.headers),
        body: await request.text(),
      });
      const { status, headers, steps } = scriptOf(asked, model, nth++);
      const body = steps.flatMap((step) =>
        step.step === "bytes" ? [new TextDecoder().decode(step.bytes)] : []
      );
      return new Response(body.join(""), { status, headers });
    },
  );
}

/** Runs live; gives the exit code and what was shown. */
async function runLive(
  url: string,
  ...args: readonly string[]
): Promise<{ exitCode: number; shown: string }> {
  const shown: string[] = [];
  const screen: Screen = {
    line: (line) => shown.push(line),
    progress: () => {},
    verdict: (verdict) => verdict,
  };
  const settings = readSettings([`--base-url=${url}`, ...args], KEY);
  const exitCode = await run(settings, screen);
  return { exitCode, shown: shown.join("\n") };
}

for (const [what, model] of Object.entries(MODELS)) {
  for (const name of ["vendora-haiku-4-5", "vendorb-5", "vendorc-3-flash"]) {
    Deno.test({
      name: `a live run fails nothing because a model ${what}: ${name}`,
      sanitizeOps: false,
      sanitizeResources: false,
      fn: async () => {
        const vendor = startVendor(model);
        const golden = await startGolden({
          key: KEY,
          upstreamUrl: `http://127.0.0.1:${vendor.addr.port}`,
        });
        try {
          const { exitCode, shown } = await runLive(
            golden.url,
            `--model=${name}`,
          );
          assert.equal(exitCode, 0, shown);
        } finally {
          await golden.close();
          await vendor.shutdown();
        }
      },
    });
  }
}

/** A proxy in front of a gateway that limits the rate; `limits` says of a request, by its number, whether it does. */
function startLimiter(
  url: string,
  limits: (nth: number) => boolean,
  headers: Readonly<Record<string, string>>,
) {
  let nth = 0;
  return Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    async (request) => {
      const { pathname, search } = new URL(request.url);
      const body = await request.text();
      if (limits(nth++)) {
        const error = { type: "rate_limit_error", message: "Slow down" };
        return Response.json({ type: "error", error }, {
          status: 429,
          headers,
        });
      }
      return await fetch(url + pathname + search, {
        method: request.method,
        headers: request.headers,
        ...(body === "" ? {} : { body }),
        redirect: "manual",
      });
    },
  );
}

async function runLimited(
  limits: (nth: number) => boolean,
  headers: Readonly<Record<string, string>>,
  ...args: readonly string[]
): Promise<{ exitCode: number; shown: string }> {
  const vendor = startVendor(improvise);
  const golden = await startGolden({
    key: KEY,
    upstreamUrl: `http://127.0.0.1:${vendor.addr.port}`,
  });
  const limiter = startLimiter(golden.url, limits, headers);
  try {
    return await runLive(`http://127.0.0.1:${limiter.addr.port}`, ...args);
  } finally {
    await limiter.shutdown();
    await golden.close();
    await vendor.shutdown();
  }
}

Deno.test({
  name:
    "a live run waits where the target limits the rate, and judges it in full",
  sanitizeOps: false,
  sanitizeResources: false,
  fn: async () => {
    const { exitCode, shown } = await runLimited(
      (nth) => nth % 9 === 0,
      { "retry-after-ms": "5" },
      "--filter=chat_,message_,limits.,tools.,models.",
    );
    assert.equal(exitCode, 0, shown);
  },
});

Deno.test({
  name: "a live run is partial where the target limits the rate for good",
  sanitizeOps: false,
  sanitizeResources: false,
  fn: async () => {
    const { exitCode, shown } = await runLimited(
      (nth) => nth > 5,
      { "retry-after": "0" },
      "--filter=chat_reply.",
    );
    assert.equal(exitCode, 5, shown);
    assert.match(shown, /was not through: the target limits the rate \(429\)/);
    assert.doesNotMatch(shown, /^fail /m);
  },
});
