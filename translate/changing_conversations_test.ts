/**
 * Conversations of six turns with tools, in each order of four families, as clients of each format
 * keep them, whole and streamed: every request meets what its vendor demands, nothing of
 * the conversation is lost, and each proof returns to the family that made it.
 */
import assert from "node:assert/strict";
import type { JsonObject } from "./bytes/json.ts";
import {
  type ClientFormat,
  translateReply,
  translateRequest,
  translateStream,
} from "./mod.ts";
import { sseParser } from "./stream/sse.ts";
import { KEEPING_CLIENTS } from "./testing/kept_history.ts";
import { REQUEST_RULES } from "./testing/request_rules.ts";
import {
  inputOf,
  type ModelTurn,
  VENDOR_REPLIES,
} from "./testing/vendor_replies.ts";

const FAMILIES: readonly ClientFormat[] = [
  "messages",
  "chat_completions",
  "responses",
  "generate_content",
];

const CHAT: ClientFormat = "chat_completions";

/** Calls of each turn. After a turn without calls the user asks again. */
const LOOPS: readonly (readonly number[])[] = [
  [2, 1, 0, 2, 2, 0],
  [2, 1, 2, 1, 2, 0],
];

/** Every order of the entries, and each entry alone: a model that does not change. */
function orders<T>(entries: readonly T[]): readonly (readonly T[])[] {
  return entries.length <= 1
    ? [entries]
    : entries.flatMap((one) =>
      orders(entries.filter((other) => other !== one))
        .map((rest) => [one, ...rest])
    );
}

const bytes = (value: unknown): Uint8Array =>
  new TextEncoder().encode(
    typeof value === "string" ? value : JSON.stringify(value),
  );
const parsed = (data: Uint8Array): JsonObject =>
  JSON.parse(new TextDecoder().decode(data));

/** What of the conversation a family's request must have, in order. */
function expected(
  family: ClientFormat,
  history: readonly (ModelTurn | string)[],
  keepsTextProofs: boolean,
): readonly string[] {
  return history.flatMap((entry) => {
    if (typeof entry === "string") return [entry];
    const isSigned = entry.family === family && entry.proof !== "" &&
      (family !== "generate_content" || entry.calls.length > 0 ||
        keepsTextProofs);
    const proof = isSigned ? [`proof: ${entry.proof}`] : [];
    const text = [`text: ${entry.text}`];
    return [
      ...(family === "generate_content"
        ? [...text, ...proof]
        : [...proof, ...text]),
      ...entry.calls.map((id) => `call: ${JSON.stringify(inputOf(id))}`),
    ];
  });
}

/** Neighbouring pieces of one text are one text. */
function joined(entries: readonly string[]): readonly string[] {
  const all: string[] = [];
  for (const one of entries) {
    const isMore = one.startsWith("text: ") &&
      all.at(-1)?.startsWith("text: ") === true;
    if (isMore) all.push(`${all.pop()}${one.slice("text: ".length)}`);
    else all.push(one);
  }
  return all;
}

/** What is wrong with a request for the vendor of a family. */
function faultsOf(
  family: ClientFormat,
  text: string,
  turns: readonly (ModelTurn | string)[],
  keepsTextProofs: boolean,
): readonly string[] {
  const body: JsonObject = JSON.parse(text);
  const { faults, conversation } = REQUEST_RULES[family];
  const actual = joined(conversation(body)).join(", ");
  const wanted = expected(family, turns, keepsTextProofs).join(", ");
  const foreign = turns.flatMap((turn) =>
    typeof turn === "string" || turn.family === family
      ? []
      // A client may keep a thought in pieces. Those of a chat host have no proof of their maker.
      : [turn.proof, ...family === CHAT ? [] : [turn.thought.slice(2)]]
  );
  return [
    ...faults(body),
    ...foreign.filter((one) => one !== "" && text.includes(one))
      .map((one) => `has ${one} of another model`),
    ...(/gw1:|Z3cxO/.test(text) ? ["has a tag"] : []),
    ...(actual === wanted ? [] : [`has ${actual} instead of ${wanted}`]),
  ];
}

/** A chat host seals every other reply. */
function replyAt(turn: number, family: ClientFormat, calls: number): ModelTurn {
  return {
    family,
    thought: `thought ${turn}`,
    text: `text ${turn}`,
    calls: Array.from({ length: calls }, (_, at) => `call_${turn}_${at}`),
    proof: family === CHAT && turn % 2 === 1 ? "" : `${family}+proof/${turn}==`,
  };
}

/** Runs a conversation; returns what is wrong with its requests. */
function run(
  format: ClientFormat,
  order: readonly ClientFormat[],
  loop: readonly number[],
  stream: boolean,
): readonly string[] {
  const client = KEEPING_CLIENTS[format];
  const history: JsonObject[] = [...client.ask("go")];
  const turns: (ModelTurn | string)[] = ["user: go"];
  return loop.flatMap((calls, turn) => {
    const family = order[turn % order.length] ?? format;
    const request = translateRequest({
      body: bytes(client.request(history)),
      from: format,
      to: family,
      model: "up",
      ...(format === "generate_content"
        ? { target: { model: "m", stream } }
        : {}),
    });
    const faults = faultsOf(
      family,
      new TextDecoder().decode(request.bytes),
      turns,
      // A stream of the messages format has no place for the proof of a text.
      !(stream && format === "messages"),
    ).map((fault) => `turn ${turn} to ${family} ${fault}`);
    const reply = replyAt(turn, family, calls);
    const options = {
      from: family,
      to: format,
      request,
      idSeed: `0123456789abcdefghijABC${turn}`,
      created: 0,
    } as const;
    const { whole, frames } = VENDOR_REPLIES[family](reply);
    const kept = stream
      ? client.keptFrames(streamed(translateStream(options), frames))
      : client.kept(parsed(translateReply(options, bytes(whole))));
    const ids = kept.flatMap((entry) => client.calls(entry));
    const results = ids.map((_, at) => `seen ${turn} ${at}`);
    history.push(
      ...kept,
      ...(calls === 0 ? client.ask("more") : client.results(ids, results)),
    );
    turns.push(
      reply,
      ...(calls === 0
        ? ["user: more"]
        : results.map((result) => `result: ${result}`)),
    );
    return faults;
  });
}

function streamed(
  relay: ReturnType<typeof translateStream>,
  frames: readonly JsonObject[],
): readonly JsonObject[] {
  const parser = sseParser();
  return [
    ...frames.map((frame) =>
      relay.push(bytes(`data: ${JSON.stringify(frame)}\n\n`))
    ),
    relay.end(),
  ].flatMap((out) => parser.push(out)).flatMap(({ data }) =>
    data.startsWith("{") ? [JSON.parse(data)] : []
  );
}

for (const format of FAMILIES) {
  for (const stream of [false, true]) {
    Deno.test(`a conversation of ${format} that changes its model is fit for each vendor, ${stream ? "streamed" : "whole"}`, () => {
      const all = [...orders(FAMILIES), ...FAMILIES.map((one) => [one])];
      assert.equal(all.length, 28);
      for (const order of all) {
        for (const loop of LOOPS) {
          assert.deepEqual(
            run(format, order, loop, stream),
            [],
            `${order.join(", ")}; ${loop}`,
          );
        }
      }
    });
  }
}
