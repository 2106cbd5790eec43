/**
 * Rules about format hold for the vendors themselves: recorded streams and replies break none of
 * them. The test uses those checks of replies and streams that hold for any request: the ones that
 * can judge a live run of the scenario `text`.
 */
import assert from "node:assert/strict";
import { strictFrames, witnessFrames } from "./evidence/event_stream.ts";
import type { Exchange } from "./evidence/exchange.ts";
import { textAt } from "./evidence/json_path.ts";
import { CHECKS } from "./areas/checks.ts";
import { isObject, type Json, parseJson } from "@model-gateway/replay/json";
import { judge } from "./run/judge.ts";
import { areaOf, type Check } from "./suite/check.ts";

const FOLDER = new URL("../../shared/recordings/", import.meta.url);

const AREAS = [
  "message_reply",
  "message_stream",
  "chat_reply",
  "chat_stream",
  "responses",
];

/**
 * Checks that judge the content of a reply to their own request; a recording answers another
 * request.
 */
const OF_THEIR_REQUEST: readonly string[] = [
  "chat_reply.content-string",
  "chat_stream.no-empty-stream",
  "chat_stream.usage-asked",
];

/** Checks that judge the head of a reply; recordings keep a part of it or none. */
const OF_THE_HEAD: readonly string[] = [
  "responses.json-content-type",
  "responses.request-id",
];

const NOT_APPLICABLE = [...OF_THEIR_REQUEST, ...OF_THE_HEAD];

/** The scenario that plain requests to an endpoint belong to. */
const SCENARIOS = {
  messages: "text",
  chat: "text",
  responses: "responses-replies",
} as const;

/** Fewer judgements than this would prove nothing. */
const LEAST_JUDGEMENTS = 100;

interface Recording {
  readonly endpoint: keyof typeof SCENARIOS;
  readonly exchange: Exchange;
}

async function recordings(): Promise<Recording[]> {
  const index = await Deno.readTextFile(new URL("INDEX.jsonl", FOLDER));
  const vendors = new Map([
    ["anthropic", ["messages"]],
    ["openai", ["chat", "responses"]],
  ]);
  const found: Recording[] = [];
  for (const line of index.trim().split("\n")) {
    const entry = parseJson(line);
    const vendor = textAt(entry, "vendor");
    const wanted =
      vendors.get(textAt(entry, "provider"))?.includes(vendor) === true &&
      textAt(entry, "op") === "generate" &&
      isObject(entry) && entry["status"] === 200;
    if (!wanted) continue;
    const file = new URL(`${textAt(entry, "id")}.json`, FOLDER);
    const recorded = parseJson(await Deno.readTextFile(file));
    // The suite never requests several choices, and its rules assume one.
    const asked = member(member(recorded, "request"), "body");
    if (Number(member(asked, "n") ?? 1) > 1) continue;
    const endpoint = vendor === "messages" || vendor === "responses"
      ? vendor
      : "chat";
    found.push({ endpoint, exchange: exchangeOf(endpoint, recorded) });
  }
  return found;
}

function exchangeOf(
  endpoint: keyof typeof SCENARIOS,
  recorded: Json | undefined,
): Exchange {
  const response = member(recorded, "response");
  const sse = textAt(response, "sse");
  const streamed = sse !== "";
  const text = streamed ? sse : JSON.stringify(member(response, "body"));
  const body = new TextEncoder().encode(text);
  const arrivals = [{ atMs: 2, upTo: body.length }];
  const type = streamed
    ? "text/event-stream; charset=utf-8"
    : "application/json";
  return {
    label: `${endpoint}/model/${streamed ? "stream" : "whole"}${
      endpoint === "responses" ? "/text" : ""
    }`,
    scenario: textAt(recorded, "id"),
    endpoint,
    via: undefined,
    request: {
      client: "fetch",
      method: "POST",
      path: endpoint === "chat" ? "/v1/chat/completions" : "/v1/messages",
      headers: [["content-type", "application/json"]],
      body: JSON.stringify(member(member(recorded, "request"), "body")) ?? "",
    },
    head: { status: 200, headers: [["content-type", type]], atMs: 1 },
    body,
    text,
    validUtf8: true,
    json: streamed ? undefined : parseJson(text),
    arrivals,
    frames: streamed ? strictFrames(body, arrivals) : [],
    witness: streamed ? witnessFrames(body) : [],
    ending: "complete",
    endedMs: 3,
    upstream: [],
  };
}

function member(value: Json | undefined, name: string): Json | undefined {
  return isObject(value) ? value[name] : undefined;
}

/** The findings of a check about a recording; undefined when the check does not apply to it. */
function findingsOf(
  check: Check,
  { endpoint, exchange }: Recording,
): string | undefined {
  const scenario = SCENARIOS[endpoint];
  if (!check.reads.includes(scenario)) return undefined;
  const records = new Map([
    [scenario, { scenario, exchanges: [exchange], notes: {} }],
  ]);
  const { verdict, findings, why } = judge(check, "live", records);
  const bad = findings.find((finding) => finding.verdict === "fail");
  if (bad?.actual.startsWith("not testable")) return undefined;
  if (verdict === "pass" || verdict === "unclear") return "";
  return bad === undefined
    ? why ?? verdict
    : `${bad.fact}: expected ${bad.expected}, was ${bad.actual}`;
}

async function present(): Promise<boolean> {
  try {
    await Deno.stat(FOLDER);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

const HERE = await present();

Deno.test({
  name: HERE
    ? "real vendors' streams and replies break no rule of format"
    : "real vendors' streams and replies break no rule of format: SKIPPED, ../shared/recordings is absent",
  ignore: !HERE,
  fn: async () => {
    const checks = CHECKS.filter((check) =>
      check.mode === "both" &&
      AREAS.includes(areaOf(check)) &&
      !NOT_APPLICABLE.includes(check.id)
    );
    for (const id of NOT_APPLICABLE) {
      assert.ok(CHECKS.some((check) => check.id === id), `${id} is no check`);
    }
    const faults: string[] = [];
    let judged = 0;
    for (const recording of await recordings()) {
      for (const check of checks) {
        const words = findingsOf(check, recording);
        if (words === undefined) continue;
        judged++;
        if (words !== "") {
          faults.push(`${check.id}: ${recording.exchange.scenario}: ${words}`);
        }
      }
    }
    assert.deepEqual(faults, []);
    assert.ok(judged >= LEAST_JUDGEMENTS, `only ${judged} judgements`);
  },
});
