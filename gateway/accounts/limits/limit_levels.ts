/**
 * How full each limit is, when it has room again, and its name in words. Pure.
 */
import type { LimitSettings } from "../records.ts";
import { waitMs } from "./bucket.ts";
import { DAY_MS, dayAfter, type WindowName } from "./calendar_window.ts";
import type { LimitCode, LimitHolder } from "./exceeded_limit.ts";
import { type LimitUse, minuteLimits } from "./limit_use.ts";
import { WINDOW_LIMITS } from "./window_limits.ts";

/** When a limit has room again: a Unix time in milliseconds, or when a call under way ends. */
export type Opening = number | "call_ends";

/** How full a limit is. The amounts have the unit of the limit. */
export interface LimitLevel {
  /** The code of a refusal by this limit. */
  readonly code: LimitCode;
  /** The time after which it counts afresh; `minute` refills evenly. */
  readonly window: "at_once" | "minute" | WindowName;
  readonly unit: "calls" | "requests" | "tokens" | "microUsd";
  readonly limit: number;
  readonly used: number;
  /** Reserved for the calls under way, beside `used`. */
  readonly reserved: number;
  /** `used` and `reserved` by `limit`: 0 is empty, 1 or more is full. */
  readonly share: number;
  /** When it has room again; absent: it has room now. */
  readonly opens?: Opening;
}

/** The levels of all limits of an account or a key. `use` is that of `useAt()` at `nowMs`. */
export function limitLevels(
  holder: LimitHolder,
  use: LimitUse,
  limits: LimitSettings,
  nowMs: number,
): readonly LimitLevel[] {
  const prefix = holder === "key" ? "key_" : "";
  const levels: LimitLevel[] = [];
  const add = (
    level: Omit<LimitLevel, "share" | "opens">,
    opens: Opening | undefined,
  ): void => {
    const { limit, used, reserved } = level;
    levels.push({
      ...level,
      share: limit <= 0 ? 1 : (used + reserved) / limit,
      ...(opens === undefined ? {} : { opens }),
    });
  };
  const { concurrentRequests: places, ...perMinute } = limits;
  if (places !== undefined) {
    const level = { limit: places, used: use.openRequests, reserved: 0 };
    add({
      code: `${prefix}concurrent_requests`,
      window: "at_once",
      unit: "calls",
      ...level,
    }, level.used >= places ? "call_ends" : undefined);
  }
  const minute = minuteLimits(use, perMinute);
  for (const unit of ["requests", "tokens"] as const) {
    const state = minute[unit];
    if (state === undefined) continue;
    const ms = waitMs(use[unit], state.limit, 1);
    add({
      code: `${prefix}${unit}_per_minute`,
      window: "minute",
      unit,
      limit: state.limit,
      used: state.limit - state.remaining,
      reserved: 0,
    }, ms > 0 ? nowMs + ms : undefined);
  }
  for (const { field, unit, window, code } of WINDOW_LIMITS) {
    const limit = limits[field];
    if (limit === undefined) continue;
    const used = use.used[window][unit];
    const reserved = use.reserved[unit];
    add(
      { code: `${prefix}${code}`, window, unit, limit, used, reserved },
      used >= limit
        ? dayAfter(window, use.day) * DAY_MS
        : used + reserved >= limit
        ? "call_ends"
        : undefined,
    );
  }
  return levels;
}

const ADJECTIVES: Readonly<Record<WindowName, string>> = {
  day: "daily",
  week: "weekly",
  month: "monthly",
};
const ADJECTIVE_OF: ReadonlyMap<string, string> = new Map(
  Object.entries(ADJECTIVES),
);

/** A limit in words: `this key's daily budget`, `the account's limit of requests per minute`. */
export function limitWords(code: LimitCode): string {
  const isKeys = code.startsWith("key_");
  const [unit = "", window = ""] = code.slice(isKeys ? 4 : 0).split("_per_");
  const every = ADJECTIVE_OF.get(window);
  return `${isKeys ? "this key's" : "the account's"} ${
    every === undefined
      ? `limit of ${unit.replace("_", " ")}${
        window === "" ? "" : ` per ${window}`
      }`
      : `${every} ${unit === "spending" ? "budget" : "token limit"}`
  }`;
}
