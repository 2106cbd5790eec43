/**
 * The words for prompt caches that the chat and the Responses formats share:
 * `prompt_cache_breakpoint` of a part and `prompt_cache_options` of a request. Their shorter life
 * is the usual one, like the five minutes of the messages format, and the longer one is asked for
 * and paid for, like its hour; so the usual becomes the usual, and the long one the long one.
 *
 * Source: type declarations of openai 7.57.0, 2026-11-13
 */
import type { z } from "zod";
import { isObject, type JsonObject, objectOr } from "../../bytes/json.ts";
import { type BilledField, partField } from "../../model/billed_field.ts";
import { takesMarks } from "../../turns/cache_marks.ts";
import type { CacheMark, Part } from "../../model/request.ts";
import type { Settings } from "../../model/settings.ts";
import { at, type SettingRow } from "../../model/settings_table.ts";
import { noteUnknown } from "../../model/unknown_fields.ts";

const OPTION_FIELDS: ReadonlySet<string> = new Set(["mode", "ttl", "prewarm"]);
const LIVES: Readonly<Record<CacheMark, string>> = { "5m": "30m", "1h": "12h" };

/** The neutral life; undefined for an unknown word. */
function lifeOf(ttl: unknown): CacheMark | undefined {
  return ttl === LIVES["1h"] ? "1h" : ttl === LIVES["5m"] ? "5m" : undefined;
}

/**
 * A decoded part with the mark that its wire form has. A mark without a life of its own has the
 * request's.
 *
 * @param options `prompt_cache_options` of the request
 */
export function withBreakpoint<T extends Part>(
  part: T,
  wire: object,
  options: unknown,
): T {
  if (!("prompt_cache_breakpoint" in wire)) return part;
  const breakpoint = wire.prompt_cache_breakpoint;
  const isMarkable = part.type === "text" || part.type === "image" ||
    part.type === "document";
  if (!isMarkable || !isObject(breakpoint)) return part;
  const cacheMark = lifeOf(breakpoint["ttl"]) ??
    lifeOf(objectOr(options)["ttl"]) ?? "5m";
  return { ...part, cacheMark };
}

/** The mark of a part on the wire; empty if it has none or the model takes none. */
export function breakpointField(
  mark: CacheMark | undefined,
  isTaken: boolean,
): JsonObject {
  return mark === undefined || !isTaken ? {} : {
    prompt_cache_breakpoint: { mode: "explicit", ttl: LIVES[mark] },
  };
}

/**
 * The row of `prompt_cache_options`. To fill the cache without a reply is essential: another
 * format would generate one.
 *
 * @param hasLong whether the format's requests take the long life
 */
export function promptCacheRow(
  schema: z.ZodType,
  hasLong: boolean,
): SettingRow<Settings["promptCache"], undefined> {
  return at("prompt_cache_options", {
    schema,
    decode: (options, { unknown }) => {
      if (options === undefined) return undefined;
      if (!isObject(options)) {
        unknown.optional.add("prompt_cache_options");
        return undefined;
      }
      noteUnknown(options, OPTION_FIELDS, "prompt_cache_options.", unknown);
      const { mode, ttl, prewarm } = options;
      if (prewarm === true) {
        unknown.essential.add("prompt_cache_options.prewarm");
      }
      if (mode === "explicit") return "off";
      return lifeOf(ttl) ?? (mode === "implicit" ? "5m" : undefined);
    },
    unless: (_, { can }) =>
      !takesMarks("turns", can) || can.cacheWord === "cache_control",
    encode: (cache) =>
      cache === "off"
        ? { mode: "explicit" }
        : { mode: "implicit", ttl: LIVES[hasLong ? cache : "5m"] },
  });
}

/** The long life, where the field of an object names it or an unknown one; else undefined. */
export function longLifeField(
  owner: JsonObject,
  field: "prompt_cache_options" | "prompt_cache_breakpoint",
  at: string = "",
): BilledField | undefined {
  const options = owner[field];
  if (options === undefined) return undefined;
  const { ttl } = objectOr(options);
  return ttl === undefined || ttl === null || ttl === LIVES["5m"]
    ? undefined
    : partField(`${at}${field}.ttl`, "cacheWrite12h");
}
