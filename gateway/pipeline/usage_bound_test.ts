import assert from "node:assert/strict";
import { isObject } from "../../translate/bytes/json.ts";
import type { Dialect, EncodeContext } from "../../translate/dialect.ts";
import { chatCompletions } from "../../translate/formats/chat_completions/mod.ts";
import { generateContent } from "../../translate/formats/generate_content/mod.ts";
import { messages } from "../../translate/formats/messages/mod.ts";
import { responses } from "../../translate/formats/responses/mod.ts";
import { DEFAULT_CAPABILITIES } from "../../translate/model/capabilities.ts";
import type { GenerationRequest } from "../../translate/model/request.ts";
import type { ReplyProgress } from "../../translate/model/reply_progress.ts";
import { readRequest } from "../../translate/stream/read_request.ts";
import { streamRelay, wholeReply } from "../../translate/stream/relay.ts";
import {
  type Recording,
  recordings,
} from "../../translate/testing/recordings.ts";
import { sampleRequest } from "../../translate/testing/sample_request.ts";
import { chargeFor, isBounded } from "../accounts/charges/charge.ts";
import { PRICE } from "../accounts/testing/open_test_accounts.ts";
import { type BoundingCandidate, usageBoundOf } from "./usage_bound.ts";
import { ENCODE_CONTEXT } from "../../translate/testing/encode_context.ts";
import { atOnce } from "../../translate/steps.ts";

const CLIENTS: Readonly<Record<string, Dialect>> = {
  messages,
  chat: chatCompletions,
  responses,
  gemini: generateContent,
};
const DECODE = { toolNames: new Map<string, string>() };
const ENCODE: EncodeContext = {
  ...ENCODE_CONTEXT,
  model: "asked-for",
  wantUsage: true,
};
/** The least that any recording's model allows. */
const CANDIDATE: BoundingCandidate = {
  model: { contextTokens: 8_192 },
  capabilities: { ...DEFAULT_CAPABILITIES.messages, maxOutputTokens: 65_536 },
  servesOneVendor: true,
};

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function progressOf({ vendor, response }: Recording): ReplyProgress {
  const upstream = CLIENTS[vendor];
  assert.ok(upstream !== undefined);
  if (response.body !== undefined) {
    const body = bytes(JSON.stringify(response.body));
    return atOnce(wholeReply(messages, upstream, DECODE, ENCODE, body))
      .progress;
  }
  const relay = streamRelay(messages, upstream, DECODE, ENCODE);
  relay.push(bytes(response.sse ?? response.raw_text ?? ""));
  relay.end();
  return relay.progress();
}

function requestOf({ vendor, request }: Recording): GenerationRequest {
  const body = request?.body;
  const dialect = CLIENTS[vendor];
  assert.ok(dialect !== undefined && isObject(body));
  return atOnce(
    readRequest(body, dialect.decodeRequest, dialect.checkPassable),
  );
}

Deno.test("usageBoundOf() bounds no recorded reply", () => {
  const all = recordings() ?? [];
  let compared = 0;
  for (const recording of all) {
    if (recording.response.status !== 200 || recording.request === null) {
      continue;
    }
    let progress: ReplyProgress;
    let request: GenerationRequest;
    try {
      progress = progressOf(recording);
      request = requestOf(recording);
    } catch {
      // Replies of other operations, and requests that are refused.
      continue;
    }
    const size = bytes(JSON.stringify(recording.request.body)).length;
    const charge = chargeFor({
      inputTokens: 1,
      maxOutputTokens: 9,
      reservedMicroUsd: 9,
      price: PRICE,
    }, {
      ...progress,
      ended: "complete",
      most: usageBoundOf(request)(CANDIDATE, size),
    });
    assert.equal(isBounded(charge), false, recording.id);
    if (progress.usage.output !== undefined) compared++;
  }
  assert.ok(all.length === 0 || compared > all.length / 2, `${compared}`);
});

Deno.test("usageBoundOf() of a request of plain text is little more than its bytes and its limit", () => {
  const boundOf = usageBoundOf(sampleRequest({ maxTokens: 10 }));
  const bound = boundOf(CANDIDATE, 200);
  assert.deepEqual(bound, { input: 32_968, output: 32_778 });
});

Deno.test("usageBoundOf() allows for what media, vendors' tools, several replies and other hosts add", () => {
  const of = (
    settings: Parameters<typeof sampleRequest>[0],
    candidate = CANDIDATE,
  ): readonly number[] => {
    const boundOf = usageBoundOf(sampleRequest(settings));
    const { input, output } = boundOf(candidate, 200);
    return [input, output];
  };
  const CONTEXT = 1_048_576;
  const text = of({ maxTokens: 10 });
  const many = 32 * (CONTEXT + 200);
  const tool = {
    type: "opaque",
    from: "messages",
    kind: "web_search_20250305",
    path: "tools[0]",
    value: {},
  } as const;
  assert.deepEqual(of({ maxTokens: 10, tools: [tool] }), [many, 32 * 32_778]);
  for (const unknown of ["mcp_servers", "web_search_options"]) {
    assert.equal(of({ unknownFields: [unknown] })[0], many, unknown);
  }
  for (const known of ["metadata", "messages[0].cache_control"]) {
    const bound = of({ maxTokens: 10, unknownFields: [known] });
    assert.deepEqual(bound, text, known);
  }
  const three = of({ maxTokens: 10, replyCount: 3 });
  assert.deepEqual(three, text.map((one) => 3 * one));
  assert.deepEqual(of({}, { ...CANDIDATE, servesOneVendor: false }), [
    CONTEXT + 200,
    65_536 + 131_072,
  ]);
});
