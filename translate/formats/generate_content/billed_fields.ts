/**
 * Fields of a generate-content request that change what the vendor bills.
 *
 * Source: type declarations of @google/genai 3.1.0, 2026-11-10
 */
import { arrayOr, type JsonObject, objectOr } from "../../bytes/json.ts";
import {
  type BilledField,
  modalityFields,
  modeField,
  modelField,
  partField,
  payerFields,
  toolName,
  useField,
} from "../../model/billed_field.ts";
import { oneSpelling } from "./key_names.ts";

/** Tools that cost tokens only. */
const FREE_TOOLS: ReadonlySet<string> = new Set([
  "codeExecution",
  "computerUse",
  "fileSearch",
  "functionDeclarations",
  "mcpServers",
  "urlContext",
]);

/** Tools that the vendor runs and bills by use; others have a name of their own. */
const BILLED_TOOLS: ReadonlyMap<string, string> = new Map([
  ["googleSearch", "web_search"],
  ["googleMaps", "google_maps"],
]);

/** The billed fields, in the order of the request's. */
export function billedFields(given: JsonObject): readonly BilledField[] {
  const { body, written } = oneSpelling(given);
  const config = objectOr(body["generationConfig"]);
  const found = [
    ...modeField("serviceTier", "tier", body["serviceTier"]),
    ...payerFields(given),
    ...modalityFields(
      "generationConfig.responseModalities",
      config["responseModalities"],
    ),
    ...otherModels(config),
    ...toolFields(body["tools"]),
    ...soundField(body["contents"]),
  ];
  return found.map((field) => ({ ...field, path: written(field.path) }));
}

/** Fields that let another model answer. */
function otherModels(config: JsonObject): readonly BilledField[] {
  return ["routingConfig", "modelSelectionConfig", "modelConfig"].flatMap(
    (name) => {
      const value = config[name];
      if (value === undefined || value === null) return [];
      const { modelName } = objectOr(objectOr(value)["manualMode"]);
      return [modelField(`generationConfig.${name}`, modelName)];
    },
  );
}

function toolFields(tools: unknown): readonly BilledField[] {
  return arrayOr(tools).flatMap((tool, at) =>
    Object.keys(objectOr(tool)).filter((name) => !FREE_TOOLS.has(name))
      .map((name) =>
        useField(
          `tools[${at}].${name}`,
          BILLED_TOOLS.get(name) ?? toolName(name),
        )
      )
  );
}

/** The first part of sound. */
function soundField(contents: unknown): readonly BilledField[] {
  for (const [at, turn] of arrayOr(contents).entries()) {
    for (const [place, part] of arrayOr(objectOr(turn)["parts"]).entries()) {
      const { inlineData, fileData } = objectOr(part);
      for (const [name, data] of Object.entries({ inlineData, fileData })) {
        const { mimeType = "" } = objectOr(data);
        if (typeof mimeType !== "string" || /^\s*audio\//i.test(mimeType)) {
          const path = `contents[${at}].parts[${place}].${name}`;
          return [partField(path, "audioInput")];
        }
      }
    }
  }
  return [];
}
