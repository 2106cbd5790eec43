/**
 * The recorded exchanges of this format, decoded with this dialect alone. The expected events are
 * computed from the recorded JSON by simple means; those of unusual recordings are also written
 * out.
 */
import assert from "node:assert/strict";
import { compact } from "../../bytes/compact.ts";
import { PLAIN_CONTEXT } from "../../dialect.ts";
import { ApiError } from "../../model/error.ts";
import {
  arrayOr,
  type JsonObject,
  objectOr,
  parseJson,
} from "../../bytes/json.ts";
import { recordings } from "../../testing/recordings.ts";
import { foldReply, type Reply, type ReplyEvent } from "../../model/reply.ts";
import { type Frame, sseParser } from "../../stream/sse.ts";
import { chatCompletions } from "./mod.ts";
import { ENCODE_CONTEXT } from "../../testing/encode_context.ts";
import { atOnce } from "../../steps.ts";

interface Row {
  readonly id: string;
  readonly request: JsonObject;
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
  readonly sse?: string;
}

const CONTEXT = {
  ...ENCODE_CONTEXT,
  model: "asked",
  wantUsage: true,
  inputEstimate: 0,
};

/**
 * The expected stop reason or error of each recording, which simple means cannot compute from the
 * JSON.
 */
const ENDS: Readonly<Record<string, string>> = {
  "chat.ai-gateway.chat-streaming-detailed-usage.3135-0": "max_tokens",
  "chat.braintrust-sdk-python.test-agent-run-stream-structured-output.1cb0-0":
    "tool_use",
  "chat.braintrust-sdk-python.test-agent-with-document-input.2cc8-0": "end",
  "chat.openinference.agent-with-mixed-tools.c493-1": "end",
  "chat.openinference.team-coordinate-run.821f-0": "tool_use",
  "chat.openinference.test-synchronous-streaming-chat-completions-with-tool-call-response-em.22a1-0":
    "tool_use",
  "chat.openinference.testagents-test-tool-calling-agent-with-image-has-expected-attributes.d8d5-0":
    "tool_use",
  "chat.openinference.testassistantagent-test-agent-run.9dde-1": "end",
  "chat.openinference.testtracerllmdecorator-test-async-generator-with-custom-attributes.9cc3-0":
    "end",
  "chat.openllmetry-js.should-set-attributes-in-span-for-function-calling-1703714575.bfa3-0":
    "tool_use",
  "chat.openllmetry.test-agents-and-tools.af95-2": "404 not_found",
  "chat.openllmetry.test-async-parsed-refused-completion-with-events-with-content.f8ad-1":
    "refusal",
  "chat.openllmetry.test-chat-async-streaming-with-events-with-content.ab92-1":
    "end",
  "chat.openllmetry.test-open-ai-function-calls-tools-streaming-parallel-with-events-with.522d-1":
    "tool_use",
  "chat.openllmetry.test-vision-base64.edcb-3": "400 invalid_request",
  "chat.opentelemetry-python-contrib.test-chat-completion-multiple-choices-streaming.0926-0":
    "end",
  "chat.pydantic-ai.test-deepseek-model-thinking-stream.049e-0": "end",
  "chat.pydantic-ai.test-openai-chat-prompt-cache-e2e.c74d-1": "end",
  "chat.pydantic-ai.test-openrouter-web-search-annotations-stream.5037-0":
    "end",
  "chat.pydantic-ai.test-tool-use-failed-error-streaming-with-text.e3cd-0":
    "error",
  "chat.ruby-llm.chat-function-calling-ollama-cloud-gpt-oss-120b-can-use-tools-with-mul.ceef-0":
    "tool_use",
  "chat.ruby-llm.chat-with-extended-thinking-deepseek-deepseek-reasoner-preserves-think.b6fe-0":
    "end",
};

const ALL: readonly Row[] = (recordings() ?? []).filter((one) =>
  one.vendor === "chat"
).map(({ id, request, response }) => ({
  id,
  request: objectOr(request?.body),
  status: response.status,
  headers: new Headers(response.headers),
  body: response.body,
  ...compact({ sse: response.sse }),
}));
const STREAMS = ALL.filter((one) => one.sse !== undefined);
const REPLIES = ALL.filter((one) =>
  one.sse === undefined && one.status === 200
);

function bytesOf(recording: Row): Uint8Array {
  return new TextEncoder().encode(recording.sse);
}

function framesOf(recording: Row): readonly Frame[] {
  const reader = sseParser();
  return [...reader.push(bytesOf(recording)), ...reader.end()];
}

function decodeFrames(frames: readonly Frame[]): readonly ReplyEvent[] {
  const decoder = chatCompletions.streamDecoder(PLAIN_CONTEXT);
  return [
    ...frames.flatMap((frame) => [...decoder.push(frame)]),
    ...decoder.end(),
  ];
}

function eventsOf(recording: Row): readonly ReplyEvent[] {
  return recording.sse === undefined
    ? chatCompletions.decodeReply(recording.body, PLAIN_CONTEXT)
    : decodeFrames(framesOf(recording));
}

/** The reply of the events, however deltas are split and wherever `stop` and `usage` occur. */
function sums(events: readonly ReplyEvent[]): Reply {
  return foldReply(events);
}

interface Plain {
  text: string;
  reasoning: string;
  refusal: string;
  calls: string[];
  usage: JsonObject;
}

/** The sums of the recorded JSON, without handling any vendor's deviations. */
function plainly(chunks: readonly unknown[]): Plain {
  const plain: Plain = {
    text: "",
    reasoning: "",
    refusal: "",
    calls: [],
    usage: {},
  };
  const calls = new Map<unknown, string>();
  const string = (value: unknown) => typeof value === "string" ? value : "";
  for (const chunk of chunks.map(objectOr)) {
    plain.usage = chunk["usage"] ? objectOr(chunk["usage"]) : plain.usage;
    for (const choice of arrayOr(chunk["choices"]).map(objectOr)) {
      if (choice["index"] !== 0) continue;
      const delta = objectOr(choice["delta"] ?? choice["message"]);
      plain.text += string(delta["content"]);
      plain.reasoning += string(
        delta["reasoning_content"] ?? delta["reasoning"],
      );
      plain.refusal += string(delta["refusal"]);
      arrayOr(delta["tool_calls"]).map(objectOr).forEach((call, position) => {
        const key = call["index"] ?? position;
        const called = objectOr(call["function"]);
        calls.set(
          key,
          `${calls.get(key) ?? ""}${string(call["id"])}${
            string(called["name"])
          }${string(called["arguments"])}`,
        );
      });
      const old = objectOr(delta["function_call"]);
      if (old["name"]) {
        calls.set("old", `${string(old["name"])}${string(old["arguments"])}`);
      }
    }
  }
  plain.calls = [...calls.values()];
  return plain;
}

function textOf(reply: Reply, kind: string): string {
  return reply.blocks.filter((block) => block.kind === kind).map((block) =>
    block.text
  ).join("");
}

function tokens(usage: JsonObject, field: string, inner?: string): unknown {
  return inner === undefined ? usage[field] : objectOr(usage[field])[inner];
}

Deno.test("recordings: ENDS has an entry for each", () => {
  if (ALL.length === 0) return;
  assert.deepEqual(ALL.map((one) => one.id), Object.keys(ENDS).toSorted());
});

Deno.test("recordings: decodeRequest() decodes every request", async (t) => {
  for (const recording of ALL) {
    await t.step(recording.id, () => {
      const request = atOnce(chatCompletions.decodeRequest(recording.request));
      const { model, messages, tools } = recording.request;
      assert.equal(request.model, model);
      assert.equal(
        request.system.length + request.turns.length,
        arrayOr(messages).length,
      );
      const offered = tools ?? recording.request["functions"];
      assert.equal(request.tools?.length ?? 0, arrayOr(offered).length);
    });
  }
});

Deno.test("recordings: replies decode to what was recorded", async (t) => {
  for (const recording of ALL) {
    const end = ENDS[recording.id] ?? "";
    await t.step(`${recording.id}: ${end}`, () => {
      if (recording.status !== 200) {
        const error = chatCompletions.decodeError(
          recording.status,
          recording.headers,
          JSON.stringify(recording.body),
        );
        const recorded = objectOr(objectOr(recording.body)["error"]);
        assert.equal(`${recording.status} ${error.kind}`, end);
        assert.equal(error.message, recorded["message"]);
        assert.equal(error.details.code, recorded["code"]);
        return;
      }
      const events = eventsOf(recording);
      if (end === "error") {
        const last = events.at(-1);
        assert.ok(last?.type === "error");
        assert.equal(
          last.error.message,
          "Tool choice is required, but model did not call a tool",
        );
        assert.equal(last.error.details.code, "tool_use_failed");
        return;
      }
      assert.equal(events.at(-1)?.type, "end");
      const reply = sums(events);
      const plain = plainly(
        recording.sse === undefined
          ? [recording.body]
          : framesOf(recording).map((frame) => parseJson(frame.data)),
      );
      assert.equal(reply.stop?.reason, end);
      assert.equal(textOf(reply, "text"), plain.text);
      assert.equal(textOf(reply, "reasoning"), plain.reasoning);
      assert.equal(textOf(reply, "refusal"), plain.refusal);
      assert.deepEqual(
        reply.blocks.flatMap((block) =>
          block.kind === "tool"
            ? [`${block.id ?? ""}${block.name}${block.text}`]
            : []
        ),
        plain.calls,
      );
      const { input, cacheRead, cacheWrite, output, reasoning } = reply.usage;
      assert.equal(output, tokens(plain.usage, "completion_tokens"));
      assert.equal(
        input === undefined
          ? undefined
          : input + (cacheRead ?? 0) + (cacheWrite ?? 0),
        tokens(plain.usage, "prompt_tokens"),
      );
      assert.equal(
        cacheRead,
        tokens(plain.usage, "prompt_tokens_details", "cached_tokens"),
      );
      assert.equal(
        reasoning,
        tokens(plain.usage, "completion_tokens_details", "reasoning_tokens"),
      );
      const inText = plain.text + plain.reasoning + plain.refusal;
      assert.ok(inText + plain.calls.join() !== "" || end === "max_tokens");
    });
  }
});

/** Numbers that look random and are the same in every run. */
function* sizes(seed: number): Generator<number> {
  let state = seed;
  while (true) {
    state = (state * 1103515245 + 12345) % 2147483648;
    yield 1 + state % 97;
  }
}

Deno.test("recordings: a stream decodes to the same events wherever it is split", async (t) => {
  for (const recording of STREAMS) {
    await t.step(recording.id, () => {
      const whole = JSON.stringify(eventsOf(recording));
      const bytes = bytesOf(recording);
      const cuts: (() => Generator<number>)[] = [
        function* () {
          while (true) yield 1;
        },
        ...[1, 2, 3, 4, 5].map((seed) => () => sizes(seed)),
      ];
      for (const cut of cuts) {
        const reader = sseParser();
        const decoder = chatCompletions.streamDecoder(PLAIN_CONTEXT);
        const events: ReplyEvent[] = [];
        let at = 0;
        for (const size of cut()) {
          if (at >= bytes.length) break;
          for (const frame of reader.push(bytes.subarray(at, at + size))) {
            events.push(...decoder.push(frame));
          }
          at += size;
        }
        for (const frame of reader.end()) events.push(...decoder.push(frame));
        events.push(...decoder.end());
        assert.equal(JSON.stringify(events), whole);
      }
    });
  }
});

/** Whether a finish reason is there for the first choice and for every other that began. */
function choicesFinished(frames: readonly Frame[]): boolean {
  const begun = new Set<unknown>([0]);
  const finished = new Set<unknown>();
  for (const { data } of frames) {
    const { choices } = objectOr(parseJson(data));
    for (const choice of arrayOr(choices).map(objectOr)) {
      begun.add(choice["index"] ?? 0);
      if (choice["finish_reason"]) finished.add(choice["index"] ?? 0);
    }
  }
  return [...begun].every((index) => finished.has(index));
}

Deno.test("recordings: a truncated stream ends in an error unless it contains the finish reason", async (t) => {
  for (const recording of STREAMS) {
    await t.step(recording.id, () => {
      const frames = framesOf(recording);
      const failed = ENDS[recording.id] === "error";
      assert.equal(choicesFinished(frames), !failed);
      for (let kept = 0; kept <= frames.length; kept++) {
        const sent = frames.slice(0, kept);
        const last = decodeFrames(sent).at(-1);
        const ended = choicesFinished(sent);
        assert.equal(last?.type, ended ? "end" : "error", `after ${kept}`);
        if (last?.type === "error" && kept < frames.length) {
          assert.equal(
            last.error.message,
            "the upstream's stream ended before its reply was finished",
          );
        }
      }
    });
  }
});

Deno.test("recordings: this format decodes what it encoded", async (t) => {
  for (const recording of [...STREAMS, ...REPLIES]) {
    await t.step(recording.id, () => {
      const events = eventsOf(recording);
      if (ENDS[recording.id] === "error") {
        assert.throws(
          () => chatCompletions.encodeReply(events, CONTEXT),
          ApiError,
        );
        return;
      }
      const expected = comparable(sums(events));
      const encoder = chatCompletions.streamEncoder(CONTEXT);
      const text = events.map((event) => encoder.push(event)).join("");
      const reader = sseParser();
      const frames = [
        ...reader.push(new TextEncoder().encode(text)),
        ...reader.end(),
      ];
      assert.deepEqual(comparable(sums(decodeFrames(frames))), expected);
      const whole = chatCompletions.encodeReply(events, CONTEXT);
      assert.deepEqual(
        comparable(sums(chatCompletions.decodeReply(whole, PLAIN_CONTEXT))),
        expected,
      );
    });
  }
});

/** The reply without what the format cannot express: absent usage, ids, `stop` for a refusal. */
function comparable(reply: Reply): unknown {
  const { input = 0, cacheRead = 0, cacheWrite = 0, output = 0, reasoning } =
    reply.usage;
  return {
    stop: reply.stop?.reason,
    usage: { input, cacheRead, cacheWrite, output, reasoning },
    blocks: reply.blocks.map((block) => {
      if (block.kind !== "tool") {
        const { citations = [], ...rest } = block;
        return { ...rest, sources: citations.map(({ url }) => url) };
      }
      return block.id === undefined
        ? { ...block, id: `call_${CONTEXT.idSeed}` }
        : block;
    }),
  };
}
