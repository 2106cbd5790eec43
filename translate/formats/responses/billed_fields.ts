/**
 * Fields of a Responses request that change what the vendor bills.
 *
 * Source: type declarations of openai 7.57.0, 2026-11-13
 */
import {
  arrayOr,
  countIn,
  type JsonObject,
  objectOr,
} from "../../bytes/json.ts";
import {
  type BilledField,
  modeField,
  partField,
  payerFields,
  useField,
} from "../../model/billed_field.ts";
import { longLifeField } from "../../families/chat/prompt_cache.ts";

/** Tools that the vendor runs and bills: what their types begin with. Some end with a date. */
const VENDOR_TOOLS: readonly string[] = [
  "web_search",
  "file_search",
  "code_interpreter",
  "image_generation",
];

/** The billed fields, in the order of the request's. */
export function billedFields(body: JsonObject): readonly BilledField[] {
  const most = countIn(body["max_tool_calls"]);
  return [
    ...modeField("service_tier", "tier", body["service_tier"]),
    ...payerFields(body),
    ...arrayOr(body["tools"]).flatMap((entry, at) => {
      const type = objectOr(entry)["type"];
      const tool = typeof type === "string"
        ? VENDOR_TOOLS.find((begins) => type.startsWith(begins))
        : undefined;
      return tool === undefined ? [] : [useField(`tools[${at}]`, tool, most)];
    }),
    ...partFields(body),
  ];
}

/** The first part of sound, and the first mark of a long life. */
function partFields(body: JsonObject): readonly BilledField[] {
  let sound: BilledField | undefined;
  let long = longLifeField(body, "prompt_cache_options");
  for (const [at, item] of arrayOr(body["input"]).entries()) {
    const { content, output } = objectOr(item);
    for (const [name, parts] of Object.entries({ content, output })) {
      for (const [place, entry] of arrayOr(parts).entries()) {
        const part = objectOr(entry);
        const path = `input[${at}].${name}[${place}]`;
        if (part["type"] === "input_audio") {
          sound ??= partField(path, "audioInput");
        }
        long ??= longLifeField(part, "prompt_cache_breakpoint", `${path}.`);
      }
    }
  }
  return [...(sound ? [sound] : []), ...(long ? [long] : [])];
}
