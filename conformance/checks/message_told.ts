/** What the fixture says is what the caller reads: judgements of one reply of the message endpoint, whole or streamed. */
import { at, sameJson, textAt } from "../evidence/json_path.ts";
import type { Exchange } from "../evidence/exchange.ts";
import type { Json } from "../replay/json.ts";
import { fact, type Finding, skill, wholeNumber } from "../suite/finding.ts";
import {
  blocksOf,
  blocksOfFixture,
  callsOf,
  essential,
  fixtureOf,
  joined,
  reasonOf,
  reasonsFor,
  saidTo,
  sequenceOf,
  tokens,
} from "./message_content.ts";

/** All text, to the character. A refusal that stands apart may be told as text. */
export function textTold(x: Exchange): Finding[] {
  const { text, refusal } = saidTo(x);
  const found = joined(x, "text", "text");
  const holds = found === text || (refusal !== "" && found === refusal);
  return [fact(holds, "text", text, found, x)];
}

/** Names and arguments of the calls, in order. */
export function toolsTold(x: Exchange): Finding[] {
  const found = callsOf(x);
  const said = saidTo(x).tools.map(({ name, args }): Json => ({ name, args }));
  const expected = JSON.stringify(said);
  return [fact(sameJson(found, said), "tool calls", expected, found, x)];
}

/** The blocks in order, with all that must be sent back unchanged; where the upstream has another format, what it can tell. */
export function blocksTold(x: Exchange): Finding[] {
  const found = essential(blocksOf(x));
  if (x.via === "messages") {
    const said = blocksOfFixture(fixtureOf(x)).map(essential);
    const holds = said.some((blocks) => sameJson(found, blocks));
    return [fact(holds, "blocks", JSON.stringify(said[0] ?? []), found, x)];
  }
  const { thinking } = saidTo(x);
  const told = joined(x, "thinking", "thinking");
  const types = found.map((block) => textAt(block, "type"));
  const ids = found.filter(({ type }) => type === "tool_use")
    .map((block) => textAt(block, "id"));
  return [
    fact(told === "" || told === thinking, "thinking", thinking, told, x),
    fact(
      types.lastIndexOf("thinking") <= 0,
      "blocks",
      "thinking before the answer",
      types,
      x,
    ),
    fact(
      fixtureOf(x) !== "tool-text" || types.join() === "text,tool_use",
      "blocks",
      "in the order of the upstream",
      types,
      x,
    ),
    fact(
      new Set(ids).size === ids.length && !ids.includes(""),
      "ids of calls",
      "one for each call",
      ids,
      x,
    ),
  ];
}

/** The stop reason, and the stop sequence exactly when it hit. */
export function stopTold(x: Exchange): Finding[] {
  const reason = reasonOf(x);
  const right = reasonsFor(x);
  const sequence = sequenceOf(x) ?? null;
  const hit = reason === "stop_sequence" ? "END" : null;
  return [
    fact(
      typeof reason === "string" && right.includes(reason),
      "stop_reason",
      right.join(" or "),
      reason,
      x,
    ),
    fact(sequence === hit, "stop_sequence", hit ?? "null", sequence, x),
  ];
}

/** Input and output as the fixture counts them. Cached input may be told apart or not, but is counted once. */
export function usageTold(x: Exchange): Finding[] {
  const { usage } = saidTo(x);
  const read = tokens(x, "cache_read_input_tokens");
  const written = tokens(x, "cache_creation_input_tokens");
  const input = Number(tokens(x, "input_tokens") ?? 0) + Number(read ?? 0) +
    Number(written ?? 0);
  const output = tokens(x, "output_tokens");
  const all = usage.input + usage.cacheRead + usage.cacheWrite;
  const late = inputIsLate(x);
  return [
    fact(
      output === usage.output,
      "output_tokens",
      `${usage.output}`,
      output,
      x,
    ),
    ...(late ? [] : [fact(input === all, "input tokens", `${all}`, input, x)]),
    ...(x.via !== "messages" || late ? [] : [
      fact(
        (read ?? 0) === usage.cacheRead && (written ?? 0) === usage.cacheWrite,
        "cached input tokens",
        `${usage.cacheRead} read, ${usage.cacheWrite} written`,
        { read, written },
        x,
      ),
    ]),
    ...[read, written].map((count) =>
      fact(
        count === undefined || count === null || wholeNumber(0)(count),
        "cached input tokens",
        "integers, or null",
        count,
        x,
      )
    ),
  ];
}

/**
 * True when a stream could not tell its input tokens at its start and need not at its end: the upstream tells them late, or bills
 * its own tools.
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

/** The stop reasons that requests force. */
const FORCED: Readonly<Record<string, string>> = {
  "max-tokens": "max_tokens",
  "stop-sequence": "stop_sequence",
  tool: "tool_use",
};

/** What a request makes a model do; a real one may fail to, and then it stays unclear. */
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
  const said = mode === "live" ? skill : fact;
  return [
    said(reason === expected, "stop_reason", expected, reason, x),
    fact(
      called === (reason === "tool_use") || reason === "max_tokens",
      "stop_reason",
      "tool_use exactly when a tool is called",
      reason,
      x,
    ),
  ];
}
