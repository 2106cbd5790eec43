/**
 * The settings of a request in the messages format.
 */
import { z } from "zod";
import { list } from "../../model/schema.ts";
import type { JsonObject } from "../../bytes/json.ts";
import { sha256 } from "../../turns/names.ts";
import type { CacheMark } from "../../model/request.ts";
import {
  TEMPERATURES,
  withoutBlank,
} from "../../families/messages/settings.ts";
import {
  at,
  type SettingsTable,
  settingsTable,
} from "../../model/settings_table.ts";
import { cacheControl } from "./cache_marks.ts";

/** What the settings depend on. */
interface SettingFacts {
  /** Whether the model will reason. */
  readonly thinks: boolean;
  /** How long the whole prompt is cached; undefined: it is not. */
  readonly wholePrompt: CacheMark | undefined;
}

/** With reasoning on, the format refuses a lower one. */
const MIN_TOP_P_REASONING = 0.95;
const MAX_USER_ID = 256;

const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@.]+$/;
const PHONE = /^\+?[\d\s().-]{7,}$/;

/** The settings, in the order in which they are written. */
export const SETTINGS: SettingsTable<SettingFacts> = settingsTable({
  maxTokens: at("max_tokens", {
    schema: z.int().min(0).describe(
      "Most tokens to generate, reasoning included.",
    ),
  }),
  temperature: at("temperature", {
    schema: z.number().min(0).max(1).optional().describe(
      "0 to 1. Not together with `top_p`.",
    ),
    range: TEMPERATURES,
    unless: (temperature, { facts }) => facts.thinks && temperature !== 1,
  }),
  topP: at("top_p", {
    schema: z.number().min(0).max(1).optional().describe(
      "Nucleus sampling, 0 to 1. Not together with `temperature`.",
    ),
    unless: (topP, { facts }) => facts.thinks && topP < MIN_TOP_P_REASONING,
  }),
  topK: at("top_k", {
    schema: z.int().min(0).optional().describe("Sample from the k likeliest."),
    unless: (_, { facts }) => facts.thinks,
  }),
  stop: at("stop_sequences", {
    schema: list(z.string()).optional().describe(
      "Generation stops when one of them is produced.",
    ),
    encode: withoutBlank,
  }),
  user: at("metadata.user_id", {
    schema: z.string().nullish().describe("The client's own id of its user."),
    encode: withoutPersonalData,
  }),
  serviceTier: at("service_tier", {
    schema: z.enum(["auto", "standard_only"]).optional().describe(
      "Whether capacity reserved for the account may be used.",
    ),
    words: { auto: "auto", standard_only: "default" },
  }),
  // Requests to count tokens have it too, so `decode_request.ts` reads it.
  promptCache: at("cache_control", {
    encode: (cache, { facts }) => cache === "off" ? null : wholePrompt(facts),
    absent: ({ facts }) => wholePrompt(facts),
  }),
});

function wholePrompt({ wholePrompt }: SettingFacts): JsonObject | undefined {
  return wholePrompt === undefined ? undefined : cacheControl(wholePrompt);
}

/**
 * Leaves out e-mail addresses and phone numbers, which the format forbids here, and hashes long
 * values.
 */
function withoutPersonalData(user: string): string | undefined {
  if (EMAIL.test(user) || PHONE.test(user)) return undefined;
  return user.length > MAX_USER_ID ? sha256(user) : user;
}
