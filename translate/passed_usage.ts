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
export function passedUsage({ usage }: JsonObject): Usage | undefined {
  if (!isObject(usage)) return undefined;
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
