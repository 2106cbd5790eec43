/**
 * The settings of a request in the chat-completion format.
 */
import { z } from "zod";
import { promptCacheRow } from "../../families/chat/prompt_cache.ts";
import { CAP, SHARED_ROWS } from "../../families/chat/settings.ts";
import { sha256 } from "../../turns/names.ts";
import { list, opaqueObject } from "../../model/schema.ts";
import {
  at,
  type SettingsTable,
  settingsTable,
} from "../../model/settings_table.ts";

/**
 * The length that every vendor of this format accepts, with the characters that the strictest
 * vendor accepts.
 */
const USER_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** The settings, in the order in which they are written. */
export const SETTINGS: SettingsTable<undefined> = settingsTable({
  maxTokens: at("max_tokens", {
    schema: CAP.describe(
      "Most tokens to generate, reasoning included. Older name of `max_completion_tokens`, which wins over it.",
    ),
    newer: [
      "max_completion_tokens",
      CAP.describe("Most tokens to generate, reasoning included."),
    ],
    writeTo: ({ maxTokensField }) => maxTokensField,
  }),
  ...SHARED_ROWS,
  topK: at("top_k", {
    schema: z.int().nullish().describe(
      "Choose among the k likeliest tokens (extension).",
    ),
    // Servers that support the field treat zero and negative values as "off".
    decode: (count = 0) => count > 0 ? count : undefined,
  }),
  stop: at("stop", {
    schema: z.union([z.string(), list(z.string())]).nullish().describe(
      "Strings at which generation stops.",
    ),
    decode: (stop = "") =>
      stop.length === 0 ? undefined : typeof stop === "string" ? [stop] : stop,
  }),
  seed: at("seed", {
    // 64 bits, which no double holds.
    schema: z.number().multipleOf(1).nullish().describe(
      "Seed for repeatable sampling, on a best-effort basis.",
    ),
    // With other digits than the client wrote, it would be another seed.
    unless: (seed) => !Number.isSafeInteger(seed),
  }),
  logprobs: at("logprobs", {
    schema: z.boolean().nullish().describe(
      "Whether to return log probabilities of the reply's tokens.",
    ),
    beside: {
      top_logprobs: z.int().min(0).max(20).nullish().describe(
        "How many alternatives to return per token.",
      ),
    },
    decode: (isAsked, { owner: { top_logprobs: count }, unknown }) => {
      if (isAsked === true) return typeof count === "number" ? count : 0;
      if (count) unknown.optional.add("top_logprobs");
      return undefined;
    },
    encodeFields: (count) => ({
      logprobs: true,
      ...(count === 0 ? {} : { top_logprobs: count }),
    }),
  }),
  user: {
    ...SHARED_ROWS.user,
    // An id that some vendor would refuse; the same user always gets the same hash.
    encode: (user) => USER_ID.test(user) ? user : sha256(user),
  },
  promptCache: promptCacheRow(
    opaqueObject().nullish().describe("How the prompt is cached."),
    false,
  ),
  replyCount: at("n", {
    schema: z.int().min(1).max(128).nullish().describe(
      "How many replies. More than 1 only where the model's own format is this one.",
    ),
    decode: (count, { unknown }) => {
      if ((count ?? 1) > 1) unknown.essential.add("n");
      return count;
    },
    isReadOnly: true,
  }),
});
