/**
 * The work of reading a request and writing it for each upstream format grows with its size and
 * not faster: the reads of its values are counted, so the result does not depend on the machine.
 */
import assert from "node:assert/strict";
import { encodeText } from "./bytes/buffers.ts";
import { topLevelOf } from "./bytes/json_splice.ts";
import type { JsonObject } from "./bytes/json.ts";
import type { Dialect } from "./dialect.ts";
import { upstreamDialect } from "./dialects.ts";
import { chatCompletions } from "./formats/chat_completions/mod.ts";
import { messages } from "./formats/messages/mod.ts";
import { responses } from "./formats/responses/mod.ts";
import { DEFAULT_CAPABILITIES } from "./model/capabilities.ts";
import { ApiError } from "./model/error.ts";
import type { DialectName } from "./model/request.ts";
import { readRequest } from "./stream/read_request.ts";
import { upstreamRequest } from "./upstream_request.ts";
import {
  assistant,
  callItem,
  chatCall,
  chatTool,
  inputOf,
  messagesOf,
  objectOf,
  outputItem,
  text,
  toolMessage,
  toolResult,
  toolUse,
  user,
} from "./testing/request_samples.ts";
import { atOnce } from "./steps.ts";

/** A body of a shape, by its size. */
type Shape = (size: number) => JsonObject;

function many<T>(size: number, one: (i: number) => T): readonly T[] {
  return Array.from({ length: size }, (_, i) => one(i));
}
function named(size: number, value: unknown): JsonObject {
  return Object.fromEntries(many(size, (i) => [`k${i}`, value]));
}
const HI = user("Hi");
const turn = (i: number): object => i % 2 === 0 ? HI : assistant("a");
const nested = (levels: number): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = { a: [value] };
  return value;
};

const CHAT: Readonly<Record<string, Shape>> = {
  keys: (n) => ({ messages: [HI], ...named(n, 1) }),
  properties: (n) => ({
    messages: [HI],
    tools: [chatTool("f", objectOf(named(n, {})))],
  }),
  depth: (n) => ({ messages: [HI], metadata: nested(n) }),
  parts: (n) =>
    messagesOf({
      role: "user",
      content: many(n, () => text("a")),
    }),
  turns: (n) => messagesOf(...many(n, turn), HI),
  tools: (n) => ({
    messages: [HI],
    tools: many(n, (i) => chatTool(`f${i}`, { type: "object" })),
  }),
  calls: (n) =>
    messagesOf(HI, {
      role: "assistant",
      tool_calls: many(n, (i) => chatCall(`c${i}`)),
    }, ...many(n, (i) => toolMessage(`c${i}`, ""))),
};
const MESSAGES: Readonly<Record<string, Shape>> = {
  keys: (n) => ({ messages: [HI], ...named(n, 1) }),
  properties: (n) => ({
    messages: [HI],
    tools: [{
      name: "f",
      input_schema: objectOf(named(n, {})),
    }],
  }),
  parts: (n) =>
    messagesOf({
      role: "user",
      content: many(n, () => text("a")),
    }),
  turns: (n) => messagesOf(...many(n, turn), HI),
  calls: (n) =>
    messagesOf(HI, {
      role: "assistant",
      content: many(n, (i) => toolUse(`c${i}`)),
    }, {
      role: "user",
      content: many(n, (i) => toolResult(`c${i}`, "r")),
    }),
};
const RESPONSES: Readonly<Record<string, Shape>> = {
  keys: (n) => ({ input: "Hi", ...named(n, 1) }),
  items: (n) => inputOf(...many(n, turn), HI),
  parts: (n) =>
    inputOf({
      role: "user",
      content: many(n, () => ({ type: "input_text", text: "a" })),
    }),
  calls: (n) => ({
    input: many(n, (i) => [
      callItem(`c${i % 3}`),
      outputItem(`c${i % 3}`, "r"),
    ]).flat(),
  }),
};

const FORMATS: readonly (readonly [Dialect, typeof CHAT])[] = [
  [chatCompletions, CHAT],
  [messages, MESSAGES],
  [responses, RESPONSES],
];
const UPSTREAMS: readonly DialectName[] = [
  "messages",
  "chat_completions",
  "responses",
  "generate_content",
  "converse",
];

/** The value, whose every read adds to a counter. */
function counted<T extends object>(value: T, count: () => void): T {
  const copies = new WeakMap<object, object>();
  const wrap = (inner: unknown): unknown => {
    if (typeof inner !== "object" || inner === null) return inner;
    const known = copies.get(inner);
    if (known !== undefined) return known;
    const proxy: object = new Proxy(inner, {
      get(target, key) {
        count();
        return wrap(Reflect.get(target, key));
      },
      ownKeys(target) {
        const keys = Reflect.ownKeys(target);
        for (let n = 0; n < keys.length; n++) count();
        return keys;
      },
    });
    copies.set(inner, proxy);
    return proxy;
  };
  // Arrays and objects alone are wrapped.
  return wrap(value) as T;
}

/** Reads of the body's values that one translation takes. */
function work(body: JsonObject, dialect: Dialect, to: DialectName): number {
  let reads = 0;
  const bytes = encodeText(JSON.stringify(body));
  const wrapped = counted(body, () => void reads++);
  const request = atOnce(readRequest(
    wrapped,
    dialect.decodeRequest,
    dialect.checkPassable,
  ));
  upstreamRequest(
    { dialect, bytes, body: wrapped, top: topLevelOf(bytes), request },
    upstreamDialect(to),
    "m",
    DEFAULT_CAPABILITIES[to],
  );
  return reads;
}

for (const [dialect, shapes] of FORMATS) {
  Deno.test(`the work of a ${dialect.name} request grows with its size`, async (t) => {
    for (const [name, shape] of Object.entries(shapes)) {
      for (const to of UPSTREAMS) {
        await t.step(`${name} to ${to}`, () => {
          const of = (size: number): number =>
            work({ model: "m", max_tokens: 9, ...shape(size) }, dialect, to);
          const [small, large] = [of(100), of(200)];
          assert.ok(large <= 2.2 * small, `${small} reads, then ${large}`);
        });
      }
    }
  });
}

/** Reads of a body's values until it is decoded, or refused. */
function readsOf(body: JsonObject, dialect: Dialect): number {
  let reads = 0;
  const wrapped = counted({ model: "m", ...body }, () => void reads++);
  try {
    atOnce(readRequest(wrapped, dialect.decodeRequest, dialect.checkPassable));
  } catch (error) {
    assert.ok(error instanceof ApiError);
  }
  return reads;
}

/** Fields that pass to an upstream of their own format, however wrong they are. */
const WRONG: JsonObject = {
  tools: [7],
  tool_choice: { a: [] },
  response_format: { a: [] },
  reasoning_effort: [7],
  modalities: { a: [] },
  metadata: [7],
  prediction: [7],
  stop: -5,
  logit_bias: [7],
  web_search_options: [7],
};

Deno.test("a body with many wrong fields is read a few times, not once for each", () => {
  const plain = CHAT["turns"]?.(500) ?? {};
  const most = 4 * readsOf(plain, chatCompletions);
  assert.ok(readsOf({ ...plain, ...WRONG }, chatCompletions) < most);
});

Deno.test("a list of wrong entries is read up to the first", () => {
  for (const role of ["user", 7]) {
    const turns = many(1_000, () => ({ role, content: { wrong: true } }));
    for (const [dialect] of FORMATS) {
      const name = dialect.name === "responses" ? "input" : "messages";
      const reads = readsOf({ max_tokens: 9, [name]: turns }, dialect);
      // The check of what may pass reads their keys.
      assert.ok(reads < 20_000, `${dialect.name}: ${reads} reads`);
    }
  }
});
