/**
 * The settings of a request in the generate-content format.
 */
import { z } from "zod";
import { list } from "../../model/schema.ts";
import {
  at,
  type SettingsTable,
  settingsTable,
} from "../../model/settings_table.ts";

/** The settings, in the order in which they are written. */
export const SETTINGS: SettingsTable<undefined> = settingsTable({
  maxTokens: at("generationConfig.maxOutputTokens", {
    schema: z.int().min(1).nullish().describe(
      "Most tokens to generate, reasoning included.",
    ),
  }),
  temperature: at("generationConfig.temperature", {
    schema: z.number().min(0).max(2).nullish().describe("0 to 2."),
  }),
  topP: at("generationConfig.topP", {
    schema: z.number().min(0).max(1).nullish().describe(
      "Nucleus sampling, 0 to 1.",
    ),
  }),
  stop: at("generationConfig.stopSequences", {
    schema: list(z.string()).nullish().describe(
      "Generation stops when one of them is produced.",
    ),
  }),
  logprobs: at("generationConfig.responseLogprobs", {
    schema: z.boolean().nullish(),
    beside: { logprobs: z.int().min(0).nullish() },
    decode: (isAsked, { owner: { logprobs: count }, unknown }) => {
      if (isAsked === true) return typeof count === "number" ? count : 0;
      if (count) unknown.optional.add("generationConfig.logprobs");
      return undefined;
    },
    encodeFields: (count) => ({
      responseLogprobs: true,
      ...(count === 0 ? {} : { logprobs: count }),
    }),
  }),
  topK: at("generationConfig.topK", {
    schema: z.number().min(0).nullish().describe(
      "Sample from the k likeliest.",
    ),
    decode: (count) => count === 0 ? undefined : count,
  }),
  seed: at("generationConfig.seed", {
    schema: z.int().nullish().describe("For repeatable sampling."),
    // A larger one than the format's 32 bits would make the whole call fail.
    unless: (seed) => seed !== (seed | 0),
  }),
  presencePenalty: at("generationConfig.presencePenalty", {
    schema: z.number().nullish(),
  }),
  frequencyPenalty: at("generationConfig.frequencyPenalty", {
    schema: z.number().nullish(),
  }),
  serviceTier: at("serviceTier", {
    schema: z.string().nullish().describe("How the request is served."),
    decode: (wire, { unknown }) => {
      const tier = wire?.toLowerCase();
      if (tier === "standard") return "default";
      if (tier !== undefined && tier !== "unspecified") {
        unknown.optional.add("serviceTier");
      }
      return undefined;
    },
    isReadOnly: true,
  }),
  replyCount: at("generationConfig.candidateCount", {
    schema: z.int().min(1).max(8).nullish().describe("Number of replies."),
    decode: (count, { unknown }) => {
      if ((count ?? 1) > 1) {
        unknown.essential.add("generationConfig.candidateCount");
      }
      return count;
    },
    isReadOnly: true,
  }),
});
