/**
 * Keys that equal a known one but for case: Go's `encoding/json` and others take `Model` for
 * `model`, so a host could use a model or a limit that was not read here.
 */
import type { JsonObject } from "./json.ts";
import { isObject } from "./json.ts";

/** The keys of all request formats, in objects of every level. */
export const KNOWN_KEYS: ReadonlySet<string> = new Set(
  `
  allowed_callers allowed_domains allowed_tools arguments audio background betas blocked_domains
  budget_tokens cache_control caller call_id citations clear_at compaction container content context
  context_management conversation custom data defer_loading definition description detail
  disable_parallel_tool_use display effort encrypted_content extra_body extra_content fallbacks file
  file_data file_id file_url filename filters format frequency_penalty function function_call functions
  generate_summary guided_json id image_url include include_obfuscation include_usage inference_geo
  input input_audio input_schema instructions is_error json_schema logit_bias logprobs
  max_completion_tokens max_content_tokens max_num_results max_output_tokens max_tokens max_tool_calls
  max_uses mcp_servers media_type messages metadata min_tokens modalities mode model models moderation
  n name namespace num_ctx num_predict options output output_config output_format parallel_tool_calls
  parameters phase prediction presence_penalty previous_response_id prompt prompt_cache_key
  prompt_cache_options prompt_cache_retention provider quality reasoning reasoning_content
  reasoning_details reasoning_effort refusal response_format role route safeguards safety_identifier
  schema scope search_context_size seed server_label server_url service_tier signature size skills
  source speed stop stop_sequences store stream stream_options strict suffix summary system
  task_budget temperature text think thinking thinking_budget title tool tool_call_id tool_calls
  tool_choice tool_name tool_use_id tools top_k top_logprobs top_p total_tokens truncation ttl type
  url user user_id verbosity voice web_search_options
  `.trim().split(/\s+/),
);

/** Keys of objects whose own keys are the client's data: arguments, schemas, labels. */
export const FREE_FORM: ReadonlySet<string> = new Set(
  `
  args arguments definition input input_schema labels logit_bias metadata parameters
  parametersJsonSchema parameters_json_schema partMetadata part_metadata response responseJsonSchema
  responseSchema response_json_schema response_schema schema
  `.trim().split(/\s+/),
);

/** Whether a key is another spelling of a known one. */
export function isOtherSpelling(key: string): boolean {
  // Only keys of lower-case ASCII are known.
  if (!/[^!-@[-~]/.test(key) || key.length > MAX_KNOWN_CHARS) return false;
  return KNOWN_KEYS.has(foldKey(key));
}

/** Far longer than any known key. */
const MAX_KNOWN_CHARS = 60;

/** As the most tolerant readers compare: `ſ` (U+017F) and the Kelvin sign are letters of ASCII. */
function foldKey(key: string): string {
  return key.toUpperCase().toLowerCase().replaceAll("\u0307", "");
}

/** A name as readers compare it that also take `sample_count` for `sampleCount`. */
export function tolerantName(name: string): string {
  return foldKey(name).replaceAll(/[^\p{L}\d]/gu, "");
}

/** The path of the first key that is another spelling of a known one; not in free-form objects. */
export function otherSpelling(body: JsonObject): string | undefined {
  const left: { readonly value: unknown; readonly at: string }[] = [
    { value: body, at: "" },
  ];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { value, at } = next;
    if (Array.isArray(value)) {
      for (const [i, entry] of value.entries()) {
        if (typeof entry === "object") {
          left.push({ value: entry, at: `${at}[${i}]` });
        }
      }
      continue;
    }
    if (!isObject(value)) continue;
    for (const [key, inner] of Object.entries(value)) {
      const path = at === "" ? key : `${at}.${key}`;
      if (isOtherSpelling(key)) return path;
      if (typeof inner !== "object") continue;
      if (FREE_FORM.has(key) && !Array.isArray(inner)) continue;
      left.push({ value: inner, at: path });
    }
  }
  return undefined;
}
