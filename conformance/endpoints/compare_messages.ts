/**
 * Compares one reply of the message endpoint, whole or streamed, with the content of its fixture.
 */
import {
  compare,
  fact,
  factOf,
  type Finding,
  skill,
  wholeNumber,
} from "../suite/finding.ts";
import { at, sameJson, textAt } from "../evidence/json_path.ts";
import type { Exchange } from "../evidence/exchange.ts";
import type { Json } from "@model-gateway/replay/json";
import {
  blocksOf,
  blocksOfFixture,
  callsOf,
  essential,
  fixtureContentOf,
  fixtureOf,
  joined,
  reasonOf,
  sequenceOf,
  tokens,
} from "./read_messages.ts";

/** Names and arguments of the calls, in order. */
export function compareTools(x: Exchange): Finding[] {
  const found = callsOf(x);
  const calls = fixtureContentOf(x).tools.map(({ name, args }): Json => ({
    name,
    args,
  }));
  const expected = JSON.stringify(calls);
  return [fact(sameJson(found, calls), "tool calls", expected, found, x)];
}

/**
 * The blocks in order, with everything that must be sent back unchanged; for an upstream of another
 * format, what that format can express.
 */
export function compareBlocks(x: Exchange): Finding[] {
  const found = essential(blocksOf(x));
  if (x.via === "messages") {
    const allowed = blocksOfFixture(fixtureOf(x)).map(essential);
    const holds = allowed.some((blocks) => sameJson(found, blocks));
    return [fact(holds, "blocks", JSON.stringify(allowed[0] ?? []), found, x)];
  }
  const { thinking } = fixtureContentOf(x);
  const received = joined(x, "thinking", "thinking");
  const types = found.map((block) => textAt(block, "type"));
  const ids = found.filter(({ type }) => type === "tool_use")
    .map((block) => textAt(block, "id"));
  return [
    factOf("thinking", received, x).mustBe(
      thinking,
      received === "" || received === thinking,
    ),
    factOf("blocks", types, x).mustBe(
      "thinking before the answer",
      types.lastIndexOf("thinking") <= 0,
    ),
    factOf("blocks", types, x).mustBe(
      "in the order of the upstream",
      fixtureOf(x) !== "tool-text" || types.join() === "text,tool_use",
    ),
    factOf("ids of calls", ids, x).mustBe(
      "one for each call",
      new Set(ids).size === ids.length && !ids.includes(""),
    ),
  ];
}

/** The stop sequence is the one that hit, else null. */
export function stopSequenceMatches(x: Exchange): Finding {
  const sequence = sequenceOf(x) ?? null;
  const hit = reasonOf(x) === "stop_sequence" ? "END" : null;
  return fact(sequence === hit, "stop_sequence", hit ?? "null", sequence, x);
}

/** All input tokens, cached or not. */
function allInput(x: Exchange): Json {
  return Number(tokens(x, "input_tokens") ?? 0) +
    Number(tokens(x, "cache_read_input_tokens") ?? 0) +
    Number(tokens(x, "cache_creation_input_tokens") ?? 0);
}

function inputMatches(x: Exchange): Finding {
  const { usage } = fixtureContentOf(x);
  const all = usage.input + usage.cacheRead + usage.cacheWrite;
  const input = allInput(x);
  return fact(input === all, "input tokens", `${all}`, input, x);
}

/**
 * The output tokens of the fixture and, for a whole reply, the input tokens; cached input may be
 * reported separately or not.
 */
export function compareUsage(x: Exchange): Finding[] {
  const { usage } = fixtureContentOf(x);
  const output = tokens(x, "output_tokens");
  return [
    compare("output_tokens", output, usage.output, x),
    ...(x.frames.length > 0 ? [] : [inputMatches(x)]),
  ];
}

/**
 * The input tokens of the fixture, with cached input reported separately, and the stop sequence;
 * each counted once.
 */
export function compareUsageDetails(x: Exchange): Finding[] {
  const { usage } = fixtureContentOf(x);
  const read = tokens(x, "cache_read_input_tokens");
  const written = tokens(x, "cache_creation_input_tokens");
  const late = inputIsLate(x);
  return [
    stopSequenceMatches(x),
    ...(late ? [] : [inputMatches(x)]),
    ...(x.via !== "messages" || late ? [] : [
      factOf("cached input tokens", { read, written }, x).mustBe(
        `${usage.cacheRead} read, ${usage.cacheWrite} written`,
        (read ?? 0) === usage.cacheRead && (written ?? 0) === usage.cacheWrite,
      ),
    ]),
    ...[read, written].map((count) =>
      factOf("cached input tokens", count, x).mustBe(
        "integers, or null",
        count === undefined || count === null || wholeNumber(0)(count),
      )
    ),
  ];
}

/**
 * True when a stream could not send its input tokens at its start and need not at its end: the
 * upstream reports them late, or bills its own tools.
 */
function inputIsLate(x: Exchange): boolean {
  if (x.frames.length === 0) return false;
  if (fixtureOf(x) === "server-tool" || fixtureOf(x) === "usage-late") {
    return true;
  }
  return x.via !== "messages" &&
    !x.frames.some(({ json }) =>
      at(json, "type") === "message_delta" &&
      at(json, "usage.input_tokens") !== undefined
    );
}

/** Stop reasons that a request forces. */
const FORCED: Readonly<Record<string, string>> = {
  "max-tokens": "max_tokens",
  "stop-sequence": "stop_sequence",
  tool: "tool_use",
};

/**
 * Findings about behaviour that a request forces; a real model may not comply, and then the finding
 * is unclear.
 */
export function forced(x: Exchange, mode: "live" | "replay"): Finding[] {
  const expected = FORCED[fixtureOf(x)];
  const blind = fixtureOf(x) === "stop-sequence" && x.via !== "messages";
  if (expected === undefined || (mode === "replay" && blind)) return [];
  const status = x.head?.status;
  if (mode === "live" && status !== 200) {
    return [skill(false, "status", "200", status ?? x.ending, x)];
  }
  const reason = reasonOf(x);
  const called = blocksOf(x).some(({ type }) => type === "tool_use");
  const judged = mode === "live" ? skill : fact;
  return [
    judged(reason === expected, "stop_reason", expected, reason, x),
    factOf("stop_reason", reason, x).mustBe(
      "tool_use exactly when a tool is called",
      called === (reason === "tool_use") || reason === "max_tokens",
    ),
  ];
}
