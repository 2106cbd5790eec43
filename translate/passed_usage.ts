/**
 * The usage in a reply of an endpoint that has no format here: the names that vendors use for it
 * are those of their formats.
 */
import { countIn, isNoCount, isObject, type JsonObject } from "./bytes/json.ts";
import { decodeUsage } from "./formats/responses/usage.ts";
import type { Usage } from "./model/reply.ts";

/**
 * The tokens that a reply, or an event of a streamed one, reports; undefined if it reports none.
 * What is no count is not reported.
 */
export function passedUsage(reply: JsonObject): Usage | undefined {
  if (!isObject(reply["usage"])) return undefined;
  const usage = usualNames(reply["usage"]);
  // Transcriptions write their details in the singular.
  const read = decodeUsage({
    input_tokens_details: usage["input_token_details"],
    output_tokens_details: usage["output_token_details"],
    ...usage,
  });
  const { output = 0, ...others } = read ?? {};
  if (isNoCount(usage["output_tokens"] ?? usage["completion_tokens"])) {
    return others.input === undefined ? undefined : others;
  }
  if (others.input !== undefined || read?.output !== undefined) {
    return { ...others, output };
  }
  const total = countIn(usage["total_tokens"]);
  return total === undefined ? undefined : { input: total, output: 0 };
}

/**
 * The counts of Gemini's newer services (`total_input_tokens` …) by the usual names; others as they
 * are. Thoughts are no part of the output there, unless the sum of all contains them.
 *
 * Source: type declarations of @google/genai 3.3.0, `interactions.Usage`
 */
function usualNames(usage: JsonObject): JsonObject {
  if (usage["total_input_tokens"] === undefined) return usage;
  const count = (name: string): number => countIn(usage[name]) ?? 0;
  const input = count("total_input_tokens") + count("total_tool_use_tokens");
  const output = count("total_output_tokens");
  const isWhole = count("total_tokens") === input + output;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: count("total_cached_tokens") },
    output_tokens: output + (isWhole ? 0 : count("total_thought_tokens")),
    total_tokens: usage["total_tokens"],
  };
}
