/**
 * The reply to a request without a marker: a short text that identifies the replay upstream, within
 * the request's limits and in its JSON schema. Deterministic: the same request gets the same bytes.
 */
import { compact } from "../compact.ts";
import { readConstraints } from "./reply_constraints.ts";
import { lastUserText, type ParsedRequest } from "../parse_request.ts";
import { argumentsOf, instanceOf } from "./schema_instance.ts";
import type { NeutralReply } from "./neutral_reply.ts";
import { countBytes, inputTokens } from "./token_count.ts";

const ECHOED_CHARACTERS = 80;

export function defaultReply(call: ParsedRequest): NeutralReply {
  const constraints = readConstraints(call);
  const input = inputTokens(call);
  const usage = (output: number): NeutralReply["usage"] => ({
    input,
    cacheRead: 0,
    cacheWrite: 0,
    output,
    reasoning: 0,
  });
  if (constraints.forcedTool !== undefined) {
    const { name, schema, namespace, freeText = false } =
      constraints.forcedTool;
    const args = freeText ? { input: "*** Begin Patch" } : argumentsOf(schema);
    const output = Math.ceil(
      (countBytes(name) +
        countBytes(JSON.stringify(args))) / 4,
    );
    if (output > constraints.maxTokens) {
      return {
        blocks: [],
        stop: "max_tokens",
        stopSequence: null,
        usage: usage(constraints.maxTokens),
      };
    }
    const block = {
      kind: "tool",
      name,
      args,
      freeText,
      ...compact({ namespace }),
    } as const;
    return {
      blocks: [block],
      stop: "tool_use",
      stopSequence: null,
      usage: usage(output),
    };
  }
  const full = constraints.json === undefined
    ? greeting(call)
    : JSON.stringify(instanceOf(constraints.json.schema));
  const hit = firstStop(full, constraints.stops);
  const words = wordsOf(hit === undefined ? full : full.slice(0, hit.at));
  const cut = words.length > constraints.maxTokens;
  const pieces = cut ? words.slice(0, constraints.maxTokens) : words;
  return {
    blocks: pieces.length === 0 ? [] : [{ kind: "text", pieces }],
    stop: cut ? "max_tokens" : hit === undefined ? "end" : "stop_sequence",
    stopSequence: cut || hit === undefined ? null : hit.text,
    usage: usage(pieces.length),
  };
}

function greeting(call: ParsedRequest): string {
  const prompt = lastUserText(call).replaceAll(/\s+/g, " ").trim();
  const characters = [...prompt];
  const echo = characters.slice(0, ECHOED_CHARACTERS).join("") +
    (characters.length > ECHOED_CHARACTERS ? "…" : "");
  return `This is the built-in replay upstream, answering in place of ${call.model}; no vendor was called. ` +
    (echo === "" ? "" : `You wrote: "${echo}" `) +
    "To reach a real vendor, set its key, for example VENDORA_API_KEY, and start the gateway again.";
}

/**
 * Splits a text into this server's tokens: a word with the blanks before it; a long word is several
 * tokens.
 */
function wordsOf(text: string): string[] {
  return text.match(/\s*\S{1,12}|\s+$/gu) ?? [];
}

function firstStop(
  text: string,
  stops: readonly string[],
): { readonly at: number; readonly text: string } | undefined {
  return stops
    .map((stop) => ({ at: text.indexOf(stop), text: stop }))
    .filter(({ at }) => at !== -1)
    .sort((left, right) => left.at - right.at)[0];
}
