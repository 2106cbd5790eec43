/**
 * The answer to a request without a marker: a short text that says who answers, cut and shaped as the request demands.
 * Deterministic: the same request gets the same bytes.
 */
import { readAsk } from "./ask.ts";
import { type Call, lastUserText } from "./call.ts";
import { argumentsOf, instanceOf } from "./schema_instance.ts";
import type { Said } from "./said.ts";
import { countBytes, inputTokens } from "./token_count.ts";

const ECHOED_CHARACTERS = 80;

/** What to say to a request. */
export function improvise(call: Call): Said {
  const ask = readAsk(call);
  const input = inputTokens(call);
  const usage = (output: number): Said["usage"] => ({
    input,
    cacheRead: 0,
    cacheWrite: 0,
    output,
    reasoning: 0,
  });
  if (ask.forcedTool !== undefined) {
    const args = argumentsOf(ask.forcedTool.schema);
    const output = Math.ceil(
      (countBytes(ask.forcedTool.name) + countBytes(JSON.stringify(args))) / 4,
    );
    if (output > ask.maxTokens) {
      return {
        blocks: [],
        stop: "max_tokens",
        stopSequence: null,
        usage: usage(ask.maxTokens),
      };
    }
    const block = { kind: "tool", name: ask.forcedTool.name, args } as const;
    return {
      blocks: [block],
      stop: "tool_use",
      stopSequence: null,
      usage: usage(output),
    };
  }
  const full = ask.json === undefined
    ? greeting(call)
    : JSON.stringify(instanceOf(ask.json.schema));
  const hit = firstStop(full, ask.stops);
  const words = wordsOf(hit === undefined ? full : full.slice(0, hit.at));
  const cut = words.length > ask.maxTokens;
  const pieces = cut ? words.slice(0, ask.maxTokens) : words;
  return {
    blocks: pieces.length === 0 ? [] : [{ kind: "text", pieces }],
    stop: cut ? "max_tokens" : hit === undefined ? "end" : "stop_sequence",
    stopSequence: cut || hit === undefined ? null : hit.text,
    usage: usage(pieces.length),
  };
}

function greeting(call: Call): string {
  const prompt = lastUserText(call).replaceAll(/\s+/g, " ").trim();
  const characters = [...prompt];
  const echo = characters.slice(0, ECHOED_CHARACTERS).join("") +
    (characters.length > ECHOED_CHARACTERS ? "…" : "");
  return `This is the built-in replay upstream, answering in place of ${call.model}; no vendor was called. ` +
    (echo === "" ? "" : `You wrote: "${echo}" `) +
    "To reach a real vendor, set its key, for example VENDORA_API_KEY, and start the gateway again.";
}

/** A token of this server: a word with the blanks before it; long words count as several. */
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
