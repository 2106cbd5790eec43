/**
 * Errors as the official libraries report them, and calls that their programs abort, at every
 * endpoint against all model families.
 */
import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { anthropicAt, openaiAt } from "../support/clients/library_clients.ts";
import {
  assertAbortReachesUpstream,
  eachFamily,
} from "../support/tables/each_family.ts";

interface CallOptions {
  readonly stream?: boolean;
  readonly signal?: AbortSignal;
  readonly apiKey?: string;
}

interface Endpoint {
  readonly library: typeof Anthropic | typeof OpenAI;
  create(
    url: string,
    model: string,
    text: string,
    options?: CallOptions,
  ): Promise<object>;
  /** Reads a stream to its end, as programs do; returns its text, which `seen` gets in pieces. */
  read(stream: object, seen: (text: string) => void): Promise<void>;
  /** What the error for a wrong key has. */
  readonly refusal: Readonly<Record<string, string>>;
}

const ENDPOINTS: Readonly<Record<string, Endpoint>> = {
  messages: {
    library: Anthropic,
    create: (url, model, text, { stream = false, apiKey, signal } = {}) =>
      anthropicAt(url, apiKey).messages.create({
        model,
        max_tokens: 200,
        messages: [{ role: "user", content: text }],
        stream,
      }, { signal }),
    async read(stream, seen) {
      const events = stream as AsyncIterable<Anthropic.MessageStreamEvent>;
      for await (const event of events) {
        if (event.type !== "content_block_delta") continue;
        if (event.delta.type === "text_delta") seen(event.delta.text);
      }
    },
    refusal: {},
  },
  chat: {
    library: OpenAI,
    create: (url, model, text, { stream = false, apiKey, signal } = {}) =>
      openaiAt(url, apiKey).chat.completions.create({
        model,
        messages: [{ role: "user", content: text }],
        stream,
      }, { signal }),
    async read(stream, seen) {
      const chunks = stream as AsyncIterable<OpenAI.ChatCompletionChunk>;
      for await (const { choices: [choice] } of chunks) {
        seen(choice?.delta.content ?? "");
      }
    },
    refusal: { type: "authentication_error" },
  },
  responses: {
    library: OpenAI,
    create: (url, model, text, { stream = false, apiKey, signal } = {}) =>
      openaiAt(url, apiKey).responses.create({ model, input: text, stream }, {
        signal,
      }),
    async read(stream, seen) {
      const events = stream as AsyncIterable<
        OpenAI.Responses.ResponseStreamEvent
      >;
      for await (const event of events) {
        if (event.type === "response.output_text.delta") seen(event.delta);
        assert.notEqual(event.type, "response.completed");
      }
    },
    refusal: { code: "invalid_api_key" },
  },
};

/** What an upstream answers, and the status and class that the library reports. */
const STATUSES = [
  [400, 400, "BadRequestError"],
  [401, 502, "InternalServerError"],
  [403, 502, "InternalServerError"],
  [404, 404, "NotFoundError"],
  [429, 429, "RateLimitError"],
  [500, 500, "InternalServerError"],
  [529, undefined, "InternalServerError"],
] as const;

function faultOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(() => undefined, (error) => error);
}

for (
  const [name, { library, create, read, refusal }] of Object.entries(ENDPOINTS)
) {
  Deno.test(`${name}: errors become the library's own classes; a rejected vendor key is none of the client's`, (t) =>
    eachFamily(t, async ({ url }, model) => {
      for (const [code, status, className] of STATUSES) {
        for (const stream of [false, true]) {
          const text = `[[fx:status?code=${code}]]`;
          const fault = await faultOf(create(url, model, text, { stream }));
          const shown = `${model} ${code} ${fault}`;
          assert.ok(fault instanceof library[className], shown);
          if (status !== undefined) assert.equal(fault.status, status, shown);
          assert.match(fault.requestID ?? "", /^req_/, shown);
        }
      }
      const keyless = { apiKey: "sk-wrong" };
      const refused = await faultOf(create(url, model, "Hi", keyless));
      assert.ok(refused instanceof library.AuthenticationError);
      for (const [field, value] of Object.entries(refusal)) {
        assert.equal(Reflect.get(refused, field), value);
      }
    }));

  Deno.test(`${name}: the library raises an error inside the stream, and a stream that the upstream cut never looks complete`, (t) =>
    eachFamily(t, async ({ url }, model) => {
      for (const how of ["error-mid", "cut?frames=3", "reset?frames=3"]) {
        let seen = "";
        const reply = await create(url, model, `[[fx:${how}]]`, {
          stream: true,
        }).catch((error) => error);
        const fault = reply instanceof Error
          ? reply
          : await faultOf(read(reply, (text) => seen += text));
        assert.ok(fault instanceof library.APIError, `${how}: ${fault}`);
        if (how === "error-mid") assert.notEqual(seen, "");
      }
    }));

  Deno.test(`${name}: aborting closes the upstream's connection in every phase`, (t) =>
    eachFamily(
      t,
      (gateway, model) => assertAbortReachesUpstream(gateway, model, create),
      { GATEWAY_LEFT_CLIENT_SECONDS: "0" },
    ));
}
