/**
 * Fields of a Responses request that change what the vendor bills.
 *
 * Source: type declarations of openai 7.57.0, 2026-11-13
 */
import { arrayOr, type JsonObject, objectOr } from "../../bytes/json.ts";
import {
  type BilledField,
  modeField,
  mostUses,
  partField,
  payerFields,
  toolName,
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

/** Tools that cost tokens only. */
const FREE_TOOLS: ReadonlySet<unknown> = new Set([
  "apply_patch",
  "computer",
  "computer_use_preview",
  "custom",
  "function",
  "local_shell",
  "mcp",
  "namespace",
  "programmatic_tool_calling",
  "tool_search",
]);

/** The billed fields, in the order of the request's. */
export function billedFields(body: JsonObject): readonly BilledField[] {
  const most = mostUses(body["max_tool_calls"], "max_tool_calls");
  return [
    ...modeField("service_tier", "tier", body["service_tier"]),
    ...payerFields(body),
    ...toolFields(body["tools"], most),
    ...partFields(body),
  ];
}

function toolFields(
  tools: unknown,
  most: number | undefined,
): readonly BilledField[] {
  const found: BilledField[] = [];
  for (const [at, entry] of arrayOr(tools).entries()) {
    const { type = null, environment } = objectOr(entry);
    // A shell without an environment, or with a local one, is the client's.
    const isOwnShell = type === "shell" &&
      (objectOr(environment)["type"] ?? "local") === "local";
    if (FREE_TOOLS.has(type) || isOwnShell) continue;
    const name = toolName(type);
    const tool = VENDOR_TOOLS.find((begins) => name.startsWith(begins));
    found.push(useField(`tools[${at}]`, tool ?? name, most));
  }
  return found;
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
