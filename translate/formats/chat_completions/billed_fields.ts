/**
 * Fields of a chat request that change what the vendor bills.
 *
 * Source: type declarations of openai 7.57.0, 2026-11-13; `models` and `plugins` are OpenRouter's
 */
import {
  arrayOr,
  type JsonObject,
  listOf,
  objectOr,
} from "../../bytes/json.ts";
import {
  type BilledField,
  modalityFields,
  modeField,
  modelField,
  partField,
  payerFields,
  providerField,
  toolName,
  useField,
} from "../../model/billed_field.ts";
import { longLifeField } from "../../families/chat/prompt_cache.ts";

/** The billed fields, in the order of the request's. */
export function billedFields(body: JsonObject): readonly BilledField[] {
  return [
    ...modeField("service_tier", "tier", body["service_tier"]),
    ...payerFields(body),
    ...modalityFields("modalities", body["modalities"]),
    ...((body["web_search_options"] ?? null) === null
      ? []
      : [useField("web_search_options", "web_search")]),
    ...listOf(body["plugins"]).map((plugin, at) =>
      useField(`plugins[${at}]`, pluginName(plugin))
    ),
    ...listOf(body["models"]).map((model, at) =>
      modelField(`models[${at}]`, model)
    ),
    ...providerField("provider", body["provider"]),
    ...toolFields(body["tools"]),
    ...partFields(body),
  ];
}

/**
 * A mark of a long life by the word of the messages format, which routers read for models of it. No
 * other format's encoder reads it here.
 */
function hourField(owner: JsonObject, at: string): BilledField | undefined {
  if (owner["cache_control"] === undefined) return undefined;
  const { ttl } = objectOr(owner["cache_control"]);
  return ttl === undefined || ttl === null || ttl === "5m" ? undefined : {
    ...partField(`${at}cache_control.ttl`, "cacheWrite1h"),
    isTranslated: false,
  };
}

function pluginName(plugin: unknown): string {
  const name = toolName(objectOr(plugin)["id"] ?? plugin);
  return name === "web" ? "web_search" : name;
}

/** Tools that a host runs: their types are the host's own. */
function toolFields(tools: unknown): readonly BilledField[] {
  const found: BilledField[] = [];
  for (const [at, tool] of arrayOr(tools).entries()) {
    const type = objectOr(tool)["type"] ?? "function";
    if (type === "function" || type === "custom") continue;
    found.push(useField(`tools[${at}]`, toolName(type)));
  }
  return found;
}

/** Keys of parts of sound; some hosts take a part without its type. */
const SOUND_KEYS = ["input_audio", "audio_url"];

/** The first part of sound, and the first mark of each long life. */
function partFields(body: JsonObject): readonly BilledField[] {
  let sound: BilledField | undefined;
  let long = longLifeField(body, "prompt_cache_options");
  let hour = hourField(body, "");
  for (const [at, turn] of arrayOr(body["messages"]).entries()) {
    for (const [place, entry] of arrayOr(objectOr(turn)["content"]).entries()) {
      const part = objectOr(entry);
      const path = `messages[${at}].content[${place}]`;
      if (
        SOUND_KEYS.some((key) =>
          part["type"] === key || part[key] !== undefined
        )
      ) {
        sound ??= partField(path, "audioInput");
      }
      long ??= longLifeField(part, "prompt_cache_breakpoint", `${path}.`);
      hour ??= hourField(part, `${path}.`);
    }
  }
  for (const [at, tool] of arrayOr(body["tools"]).entries()) {
    hour ??= hourField(objectOr(tool), `tools[${at}].`);
  }
  return [sound, long, hour].filter((field) => field !== undefined);
}
