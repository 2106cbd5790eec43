/**
 * Fields of a chat request that change what the vendor bills.
 *
 * Source: type declarations of openai 7.57.0, 2026-11-13; `models` and `plugins` are OpenRouter's
 */
import { arrayOr, type JsonObject, objectOr } from "../../bytes/json.ts";
import {
  type BilledField,
  modalityField,
  modeField,
  modelField,
  partField,
  payerFields,
  useField,
} from "../../model/billed_field.ts";
import { longLifeField } from "../../families/chat/prompt_cache.ts";

/** The billed fields, in the order of the request's. */
export function billedFields(body: JsonObject): readonly BilledField[] {
  return [
    ...modeField("service_tier", "tier", body["service_tier"]),
    ...payerFields(body),
    ...arrayOr(body["modalities"]).flatMap((modality, at) =>
      modalityField(`modalities[${at}]`, modality)
    ),
    ...((body["web_search_options"] ?? null) === null
      ? []
      : [useField("web_search_options", "web_search")]),
    ...arrayOr(body["plugins"]).flatMap((plugin, at) =>
      objectOr(plugin)["id"] === "web"
        ? [useField(`plugins[${at}]`, "web_search")]
        : []
    ),
    ...arrayOr(body["models"]).map((model, at) =>
      modelField(`models[${at}]`, model)
    ),
    ...partFields(body),
  ];
}

/** The first part of sound, and the first mark of a long life. */
function partFields(body: JsonObject): readonly BilledField[] {
  let sound: BilledField | undefined;
  let long = longLifeField(body, "prompt_cache_options");
  for (const [at, turn] of arrayOr(body["messages"]).entries()) {
    for (const [place, entry] of arrayOr(objectOr(turn)["content"]).entries()) {
      const part = objectOr(entry);
      const path = `messages[${at}].content[${place}]`;
      if (part["type"] === "input_audio") {
        sound ??= partField(path, "audioInput");
      }
      long ??= longLifeField(part, "prompt_cache_breakpoint", `${path}.`);
    }
  }
  return [...(sound ? [sound] : []), ...(long ? [long] : [])];
}
