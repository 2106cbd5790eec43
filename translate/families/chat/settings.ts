/**
 * Rows of settings that the chat and the Responses formats share.
 */
import { z } from "zod";
import type { Settings } from "../../model/settings.ts";
import { at, type SettingRow } from "../../model/settings_table.ts";

/** A cap on generated tokens, as clients send it. */
export const CAP: z.ZodType<number | null | undefined> = z.int().min(1)
  .nullish();

const penalty = z.number().min(-2).max(2).nullish();
const userId = z.string().nullish();

type Shared =
  | "presencePenalty"
  | "frequencyPenalty"
  | "temperature"
  | "topP"
  | "user"
  | "serviceTier"
  | "promptCacheKey"
  | "verbosity";

/** The rows that are the same, or nearly. */
export const SHARED_ROWS: {
  readonly [S in Shared]: SettingRow<Settings[S], undefined>;
} = {
  presencePenalty: at("presence_penalty", {
    schema: penalty.describe(
      "Penalty for tokens already in the text, -2 to 2.",
    ),
  }),
  frequencyPenalty: at("frequency_penalty", {
    schema: penalty.describe(
      "Penalty for tokens by how often they are in the text, -2 to 2.",
    ),
  }),
  temperature: at("temperature", {
    schema: z.number().min(0).max(2).nullish().describe(
      "Randomness, 0 to 2. Omit for the model's default.",
    ),
  }),
  topP: at("top_p", {
    schema: z.number().min(0).max(1).nullish().describe(
      "Nucleus sampling, 0 to 1.",
    ),
  }),
  user: at("user", {
    schema: userId.describe(
      "Your own user id, for attribution (deprecated form of `safety_identifier`).",
    ),
    newer: [
      "safety_identifier",
      userId.describe("Your own user id, for attribution."),
    ],
  }),
  serviceTier: at("service_tier", {
    schema: z.string().nullish().describe(
      "Which tier of service to use where the model's vendor has several.",
    ),
    words: { auto: "auto", default: "default" },
  }),
  promptCacheKey: at("prompt_cache_key", {
    schema: z.string().nullish().describe(
      "Key that groups requests with a common beginning.",
    ),
  }),
  verbosity: at("verbosity", {
    schema: z.string().nullish().describe("low, medium or high."),
    words: { low: "low", medium: "medium", high: "high" },
  }),
};
