/**
 * Facts of replies in the messages format that both directions and both forms (whole, stream) share: stop reasons, usage, ids,
 * the carrier of another dialect's signature.
 *
 * @module
 */
import type { EncodeContext } from "../dialect.ts";
import { countIn, type JsonObject, objectOr } from "../json.ts";
import type { StopReason, Usage } from "../reply.ts";
import type { Signature } from "../request.ts";

/** The dialect's word → the neutral one. A word that is not here is `other`. */
export const STOP_REASONS: ReadonlyMap<string, StopReason> = new Map([
  ["end_turn", "end"],
  ["max_tokens", "max_tokens"],
  ["stop_sequence", "stop_sequence"],
  ["tool_use", "tool_use"],
  ["pause_turn", "pause"],
  ["refusal", "refusal"],
  ["model_context_window_exceeded", "context_window"],
]);

/** The neutral word → the dialect's. */
export const STOP_WORDS: Readonly<Record<StopReason, string>> = {
  end: "end_turn",
  max_tokens: "max_tokens",
  stop_sequence: "stop_sequence",
  tool_use: "tool_use",
  refusal: "refusal",
  pause: "pause_turn",
  context_window: "model_context_window_exceeded",
  other: "end_turn",
};

/** Reads what a `usage` object tells. A zero after a known prompt figure is a proxy's way of saying nothing. */
export function readUsage(wire: unknown, before: Usage): Usage {
  const usage = objectOr(wire);
  const known = (
    field: string,
    old: number | undefined,
  ): number | undefined => {
    const count = countIn(usage[field]);
    return count === 0 && (old ?? 0) > 0 ? undefined : count;
  };
  const input = known("input_tokens", before.input);
  const cacheRead = known("cache_read_input_tokens", before.cacheRead);
  const cacheWrite = known("cache_creation_input_tokens", before.cacheWrite);
  const output = countIn(usage["output_tokens"]);
  const reasoning = countIn(
    objectOr(usage["output_tokens_details"])["thinking_tokens"],
  );
  return {
    ...(input === undefined ? {} : { input }),
    ...(cacheRead === undefined ? {} : { cacheRead }),
    ...(cacheWrite === undefined ? {} : { cacheWrite }),
    ...(output === undefined ? {} : { output }),
    ...(reasoning === undefined ? {} : { reasoning }),
  };
}

/** The `usage` of a whole reply or of a stream's start; the estimate stands in for an input that nobody told. */
export function writeUsage(
  usage: Usage,
  context: EncodeContext,
): JsonObject {
  return {
    input_tokens: usage.input ?? context.inputEstimate,
    cache_creation_input_tokens: usage.cacheWrite ?? 0,
    cache_read_input_tokens: usage.cacheRead ?? 0,
    output_tokens: usage.output ?? 0,
    ...reasoningDetails(usage),
  };
}

/** The `usage` of a stream's end. It overwrites the start's, so an input that nobody told is left out. */
export function writeFinalUsage(usage: Usage): JsonObject {
  return {
    ...(usage.input === undefined ? {} : {
      input_tokens: usage.input,
      cache_creation_input_tokens: usage.cacheWrite ?? 0,
      cache_read_input_tokens: usage.cacheRead ?? 0,
    }),
    output_tokens: usage.output ?? 0,
    ...reasoningDetails(usage),
  };
}

function reasoningDetails(usage: Usage): JsonObject {
  return usage.reasoning === undefined
    ? {}
    : { output_tokens_details: { thinking_tokens: usage.reasoning } };
}

/** The reply's id: the upstream's under this dialect's prefix, or one made of the seed. */
export function replyId(
  upstream: string | undefined,
  context: EncodeContext,
): string {
  const bare = upstream?.replace(/^(?:msg_|chatcmpl-)/, "") ?? "";
  return `msg_${bare === "" ? context.idSeed : bare}`;
}

/**
 * The field of a `tool_use` block that carries another dialect's signature of the call, named as its vendor names it in the chat
 * format. `decode_turns.ts` reads it back; `clean_request.ts` keeps it from upstreams of this dialect.
 */
export function carrier(signature: Signature | undefined): JsonObject {
  return signature?.from === "generate_content"
    ? {
      extra_content: { google: { thought_signature: signature.value } },
    }
    : {};
}
