/**
 * The settings of a request: what each is, and what holds for it in every format. A format's
 * `settings.ts` has a row for each that it can express; `settings_table.ts` reads and writes by
 * these rows.
 */
import type { Capabilities } from "./capabilities.ts";

/** The settings and their neutral values. */
export interface Settings {
  /** Most tokens to generate, reasoning included. */
  readonly maxTokens: number;
  /** As the client gave it, in its format's range (0–1 or 0–2). */
  readonly temperature: number;
  /** From 0 to 1. */
  readonly topP: number;
  /** Number of likeliest tokens to sample from. */
  readonly topK: number;
  /** Stop strings; never an empty list. */
  readonly stop: readonly string[];
  /** For repeatable sampling, as far as the upstream supports it. */
  readonly seed: number;
  /** Number of alternatives per token; 0: only the chosen one. */
  readonly logprobs: number;
  /** From -2 to 2; penalizes tokens that have occurred at all. */
  readonly presencePenalty: number;
  /** From -2 to 2; penalizes tokens by how often they have occurred. */
  readonly frequencyPenalty: number;
  /** The client's own user id, for attribution. */
  readonly user: string;
  /** `auto` may use capacity paid for in advance, `default` may not; others are unknown fields. */
  readonly serviceTier: "auto" | "default";
  /**
   * What the upstream keeps in its cache beside what is marked: nothing, or the whole prompt for
   * that time.
   */
  readonly promptCache: "off" | "5m" | "1h";
  /** Groups requests with a common beginning, so that one upstream cache serves them. */
  readonly promptCacheKey: string;
  /** How long the text is to be. */
  readonly verbosity: "low" | "medium" | "high";
  /** Number of replies to generate. */
  readonly replyCount: number;
}

/** The name of a setting. */
export type Setting = keyof Settings;

/** The capabilities that are numbers. */
type Bound = {
  [K in keyof Capabilities]-?: number extends Capabilities[K] ? K : never;
}[keyof Capabilities];

/** What holds for a setting in every format; a format's row may replace a member. */
export interface SettingRule<V> {
  /** The model's bounds: a number beyond them is moved to the bound, a longer list is cut. */
  readonly least?: Bound;
  /** See {@linkcode SettingRule.least}. */
  readonly most?: Bound;
  /** Without one of these (false or `none`) the setting is dropped. Absent: all models take it. */
  readonly needs?: readonly (keyof Capabilities)[];
  /** Whether the model does not take it beside the settings that are sent already. */
  readonly excluded?: (can: Capabilities, sent: readonly Setting[]) => boolean;
  /** Whether the value may be left out without being named as dropped. Absent: no value may. */
  isDefault?(value: V): boolean;
  /** The problem of a value that can be neither sent nor dropped. Absent: every value can. */
  refusal?(value: V, can: Capabilities): string | undefined;
  /** The value to send, before it is bounded; undefined: dropped. Absent: the value itself. */
  encode?(value: V): unknown;
}

const isZero = (value: number): boolean => value === 0;

/** The rules, in the order in which settings without a row are reported as dropped. */
export const SETTING_RULES: {
  readonly [S in Setting]: SettingRule<Settings[S]> & {
    /** The usual name on the wire, for clients' formats that have no row for it. */
    readonly name: string;
  };
} = {
  maxTokens: {
    name: "max_tokens",
    least: "minOutputTokens",
    most: "maxOutputTokens",
    refusal: (tokens, { minOutputTokens }) =>
      tokens === 0 && minOutputTokens > 0
        ? "this model generates at least one token"
        : undefined,
  },
  temperature: {
    name: "temperature",
    most: "maxTemperature",
    needs: ["sampling"],
  },
  topP: {
    name: "top_p",
    needs: ["sampling"],
    excluded: ({ sampling }, sent) =>
      sampling === "one" && sent.includes("temperature"),
  },
  topK: { name: "top_k", needs: ["sampling", "topK"] },
  stop: {
    name: "stop",
    most: "maxStops",
    isDefault: (stops) => stops.every((stop) => stop === ""),
    encode: (stops) => {
      const kept = stops.filter((stop) => stop !== "");
      return kept.length === 0 ? undefined : kept;
    },
  },
  seed: { name: "seed", needs: ["seed"] },
  logprobs: { name: "logprobs", needs: ["sampling"] },
  presencePenalty: {
    name: "presence_penalty",
    needs: ["sampling", "penalties"],
    isDefault: isZero,
  },
  frequencyPenalty: {
    name: "frequency_penalty",
    needs: ["sampling", "penalties"],
    isDefault: isZero,
  },
  user: { name: "user" },
  serviceTier: { name: "service_tier" },
  promptCache: { name: "cache_control" },
  promptCacheKey: { name: "prompt_cache_key", needs: ["cacheMarks"] },
  verbosity: {
    name: "verbosity",
    needs: ["verbosity"],
    isDefault: (word) => word === "medium",
  },
  replyCount: {
    name: "n",
    isDefault: (count) => count === 1,
    refusal: (count) =>
      count > 1 ? "this model gives one reply at a time" : undefined,
  },
};

/** All settings, in the order of their rules. */
export const SETTINGS: readonly Setting[] = Object.keys(
  SETTING_RULES,
) as Setting[];

/** Makes a record with a name of each setting. */
export function settingNames(
  name: (setting: Setting) => string,
): Readonly<Record<Setting, string>> {
  return Object.fromEntries(
    SETTINGS.map((setting) => [setting, name(setting)]),
  ) as Record<Setting, string>;
}
