/**
 * Live runs against the reference gateway with models that are lazy, incapable or busy: none of
 * that is the gateway's mistake.
 */
import assert from "node:assert/strict";
import { UPSTREAM_KEY } from "../reference_gateway/call_upstream.ts";
import { startReferenceGateway } from "../reference_gateway/gateway.ts";
import { problemOf } from "../reference_gateway/problems.ts";
import {
  readConstraints,
  toolsOf,
} from "@model-gateway/replay/reply_constraints";
import {
  lastUserText,
  type ParsedRequest,
  parseRequest,
} from "@model-gateway/replay/parse_request";
import { deliver } from "@model-gateway/replay/deliver";
import { defaultReply } from "@model-gateway/replay/default_reply";
import type {
  NeutralBlock,
  NeutralReply,
  StopCause,
} from "@model-gateway/replay/neutral_reply";
import type { Script } from "@model-gateway/replay/script";
import { answerCall } from "@model-gateway/replay";
import {
  encodeChatBody,
  encodeChatFrames,
} from "@model-gateway/replay/encode_chat_completions";
import {
  encodeGenerateBody,
  encodeGenerateFrames,
} from "@model-gateway/replay/encode_generate_content";
import {
  encodeMessagesBody,
  encodeMessagesFrames,
} from "@model-gateway/replay/encode_messages";
import {
  encodeResponsesBody,
  encodeResponsesFrames,
} from "@model-gateway/replay/encode_responses";
import { run } from "./run.ts";
import type { Screen } from "../reports/screen.ts";
import { readSettings } from "./settings.ts";

const KEY = "sk-live-7f3a9c51d2e84b60";

type Model = (call: ParsedRequest, nth: number) => NeutralReply;

function replyOf(
  call: ParsedRequest,
  stop: StopCause,
  output: number,
  ...blocks: readonly NeutralBlock[]
): NeutralReply {
  const { usage } = defaultReply(call);
  return { blocks, stop, stopSequence: null, usage: { ...usage, output } };
}

function text(words: string): NeutralBlock {
  return { kind: "text", pieces: words.match(/\s*\S+/g) ?? [] };
}

function toolCall(name: string): NeutralBlock {
  return { kind: "tool", name, args: { city: "Nowhere" } };
}

const MODELS: Readonly<Record<string, Model>> = {
  "ignores the request": (call) =>
    replyOf(call, "end", 3, text("Ask me tomorrow.")),
  "sends no content": (call) => replyOf(call, "end", 1),
  "sends one empty text": (call) =>
    replyOf(call, "end", 1, { kind: "text", pieces: [""] }),
  "continues until the limit": (call) => {
    const most = Math.min(readConstraints(call).maxTokens, 300);
    return replyOf(call, "max_tokens", most, text("blah ".repeat(most)));
  },
  "thinks until its limit": (call) => {
    const most = Math.min(readConstraints(call).maxTokens, 300);
    const pieces = [`${"hm ".repeat(most)}`];
    return replyOf(call, "max_tokens", most, {
      kind: "thinking",
      pieces,
      signature: "c2ln",
    });
  },
  "refuses everything": (call) =>
    replyOf(call, "refusal", 4, text("I cannot do that.")),
  "calls the wrong tool": (call) => {
    const tool = toolsOf(call).at(0);
    return tool === undefined
      ? replyOf(call, "end", 2, text("No tool."))
      : replyOf(call, "tool_use", 9, toolCall(tool.name), toolCall(tool.name));
  },
  "complies with every other request": (call, nth) =>
    nth % 2 === 0 ? defaultReply(call) : replyOf(call, "end", 2, text("No.")),
};

const SPEAKERS = {
  messages: [encodeMessagesFrames, encodeMessagesBody],
  chat_completions: [encodeChatFrames, encodeChatBody],
  generate_content: [encodeGenerateFrames, encodeGenerateBody],
  responses: [encodeResponsesFrames, encodeResponsesBody],
} as const;

/** The vendor's reply with that model. */
function scriptOf(call: ParsedRequest, model: Model, nth: number): Script {
  const refusal = answerCall(call);
  if (refusal.status !== 200 || call.operation !== "generate") return refusal;
  const [frames, whole] = SPEAKERS[call.dialect];
  const speech = {
    reply: model(call, nth),
    model: call.model,
    usageAsked: call.usageAsked,
    seed: call.request.body,
  };
  const reply = call.streamed
    ? { stream: frames(speech), whole: "" }
    : { stream: [], whole: whole(speech) };
  return deliver(call, reply, {});
}

/** A vendor on loopback with one model under all names. */
function startVendor(model: Model) {
  // Counted for each conversation: other scenarios run at the same time.
  const asked = new Map<string, number>();
  return Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    async (request) => {
      assert.ok(JSON.stringify([...request.headers]).includes(UPSTREAM_KEY));
      const { pathname, search } = new URL(request.url);
      const call = parseRequest({
        method: request.method,
        path: pathname + search,
        headers: Object.fromEntries(request.headers),
        body: await request.text(),
      });
      const nth = asked.get(lastUserText(call)) ?? 0;
      asked.set(lastUserText(call), nth + 1);
      const { status, headers, steps } = scriptOf(call, model, nth);
      const body = steps.flatMap((step) =>
        step.step === "bytes" ? [new TextDecoder().decode(step.bytes)] : []
      );
      return new Response(body.join(""), { status, headers });
    },
  );
}

/** Runs live; returns the exit code and the output. */
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
        await using vendor = startVendor(model);
        await using gateway = await startReferenceGateway({
          key: KEY,
          upstreamUrl: `http://127.0.0.1:${vendor.addr.port}`,
        });
        const { exitCode, shown } = await runLive(
          gateway.url,
          `--model=${name}`,
        );
        assert.equal(exitCode, 0, shown);
      },
    });
  }
}

/** Features that a model may not support, by a word in the request body. */
const UNABLE =
  /"temperature"|"top_p"|"image"|"image_url"|"tools"|"stop_sequences"/;

/** A gateway that lists these models; those that satisfy `refuses` support no such feature. */
async function runUnable(
  models: readonly string[],
  refuses: (model: string) => boolean,
): Promise<{ exitCode: number; shown: string }> {
  await using vendor = startVendor(defaultReply);
  await using gateway = await startReferenceGateway({
    key: KEY,
    upstreamUrl: `http://127.0.0.1:${vendor.addr.port}`,
    hooks: {
      reply: (reply, { endpoint }) =>
        endpoint !== "models" || reply.status !== 200 ? reply : {
          ...reply,
          body: {
            object: "list",
            data: models.map((id) => ({ id, object: "model", owned_by: "x" })),
          },
        },
      accept: (problem, _, { model, request }) =>
        problem === undefined && refuses(model) && UNABLE.test(request.body)
          ? { ...problemOf(400, `${model} does not support that`) }
          : problem,
    },
  });
  return await runLive(
    gateway.url,
    "--model=vendora-haiku-4-5",
    "--filter=takes-,request-is-read,limits.stop,limits.each",
  );
}

const IDS = ["vendora-haiku-4-5", "vendorb-5", "vendorc-3-flash"] as const;

for (
  const [what, models, refuses, exitCode] of [
    [
      "passes where one of several models",
      IDS,
      (model: string) => model === IDS[0],
      0,
    ],
    ["fails nothing where the only model", IDS.slice(0, 1), () => true, 0],
    ["fails where each of several models", IDS, () => true, 1],
  ] as const
) {
  Deno.test({
    name:
      `a live run ${what} supports no sampling parameters, pictures, tools and stop strings`,
    sanitizeOps: false,
    sanitizeResources: false,
    fn: async () => {
      const { exitCode: found, shown } = await runUnable(models, refuses);
      assert.equal(found, exitCode, shown);
    },
  });
}

/**
 * A proxy that limits the rate in front of a gateway; `limits` decides by the number of the
 * request.
 */
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
  await using vendor = startVendor(defaultReply);
  await using gateway = await startReferenceGateway({
    key: KEY,
    upstreamUrl: `http://127.0.0.1:${vendor.addr.port}`,
  });
  await using limiter = startLimiter(gateway.url, limits, headers);
  return await runLive(`http://127.0.0.1:${limiter.addr.port}`, ...args);
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
  name: "a live run is partial where the target limits the rate permanently",
  sanitizeOps: false,
  sanitizeResources: false,
  fn: async () => {
    const { exitCode, shown } = await runLimited(
      (nth) => nth > 5,
      { "retry-after": "0" },
      "--filter=chat_reply.",
    );
    assert.equal(exitCode, 5, shown);
    assert.match(shown, /did not finish: the target limits the rate \(429\)/);
    assert.doesNotMatch(shown, /^fail /m);
  },
});
