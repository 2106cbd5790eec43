/**
 * The settings of a request in the Responses format. It has no stop strings, `top_k` or seed.
 */
import { z } from "zod";
import { arrayOr } from "../../bytes/json.ts";
import { promptCacheRow } from "../../families/chat/prompt_cache.ts";
import { CAP, SHARED_ROWS } from "../../families/chat/settings.ts";
import { sha256 } from "../../turns/names.ts";
import {
  at,
  type SettingsTable,
  settingsTable,
} from "../../model/settings_table.ts";

/** The value of `include` that requests the probabilities of tokens. */
export const PROBABILITIES = "message.output_text.logprobs";

/** The maximum length of a user id in this format. */
const MAX_USER_ID = 64;

/** Replies of this format repeat zero as the default, and clients send it back. */
const notZero = (value: unknown): number | undefined =>
  typeof value === "number" && value !== 0 ? value : undefined;

/** The settings, in the order in which they are written. */
export const SETTINGS: SettingsTable<undefined> = settingsTable({
  maxTokens: at("max_output_tokens", {
    schema: CAP.describe("Most tokens to generate, reasoning included."),
  }),
  ...SHARED_ROWS,
  logprobs: at("top_logprobs", {
    schema: z.int().min(0).max(20).nullish().describe(
      "How many alternatives to return per token.",
    ),
    // Without alternatives, only `include` asks for the probabilities.
    decode: (count, { owner: { include } }) =>
      count || arrayOr(include).includes(PROBABILITIES)
        ? count ?? 0
        : undefined,
    encodeFields: (count) => ({
      top_logprobs: count,
      include: [PROBABILITIES],
    }),
  }),
  presencePenalty: { ...SHARED_ROWS.presencePenalty, decode: notZero },
  frequencyPenalty: { ...SHARED_ROWS.frequencyPenalty, decode: notZero },
  user: {
    ...SHARED_ROWS.user,
    writeTo: () => "safety_identifier",
    // The same user always gets the same hash.
    encode: (user) => user.length <= MAX_USER_ID ? user : sha256(user),
  },
  promptCacheKey: { ...SHARED_ROWS.promptCacheKey, isQuiet: true },
  verbosity: { ...SHARED_ROWS.verbosity, path: "text.verbosity" },
  promptCache: promptCacheRow(
    z.unknown().optional().describe("How the prompt is cached."),
    true,
  ),
});
