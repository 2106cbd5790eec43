/**
 * Fields of a generate-content request that change what the vendor bills.
 *
 * Source: type declarations of @google/genai 3.1.0, 2026-11-10
 */
import {
  arrayOr,
  isObject,
  type JsonObject,
  objectOr,
  textIn,
} from "../../bytes/json.ts";
import {
  type BilledField,
  modalityField,
  modeField,
  modelField,
  partField,
  payerFields,
  useField,
} from "../../model/billed_field.ts";
import { oneSpelling } from "./key_names.ts";

/** Tools that the vendor runs and bills by use. Others cost tokens only. */
const BILLED_TOOLS: ReadonlyMap<string, string> = new Map([
  ["googleSearch", "web_search"],
  ["googleSearchRetrieval", "web_search"],
  ["enterpriseWebSearch", "web_search"],
  ["exaAiSearch", "web_search"],
  ["parallelAiSearch", "web_search"],
  ["googleMaps", "google_maps"],
]);

/** The billed fields, in the order of the request's. */
export function billedFields(given: JsonObject): readonly BilledField[] {
  const { body, written } = oneSpelling(given);
  const config = objectOr(body["generationConfig"]);
  const found = [
    ...modeField("serviceTier", "tier", body["serviceTier"]),
    ...payerFields(given),
    ...modalityFields(config["responseModalities"]),
    ...otherModels(config),
    ...toolFields(body["tools"]),
    ...soundField(body["contents"]),
  ];
  return found.map((field) => ({ ...field, path: written(field.path) }));
}

function modalityFields(modalities: unknown): readonly BilledField[] {
  return arrayOr(modalities).flatMap((modality, at) =>
    modalityField(
      `generationConfig.responseModalities[${at}]`,
      textIn(modality)?.toLowerCase(),
    )
  );
}

/** Fields that let another model answer. */
function otherModels(config: JsonObject): readonly BilledField[] {
  return ["routingConfig", "modelSelectionConfig", "modelConfig"].flatMap(
    (name) => {
      const value = config[name];
      if (!isObject(value)) return [];
      const { modelName } = objectOr(value["manualMode"]);
      return [modelField(`generationConfig.${name}`, modelName)];
    },
  );
}

function toolFields(tools: unknown): readonly BilledField[] {
  return arrayOr(tools).flatMap((tool, at) =>
    Object.keys(objectOr(tool)).flatMap((name) => {
      const billed = BILLED_TOOLS.get(name);
      return billed === undefined
        ? []
        : [useField(`tools[${at}].${name}`, billed)];
    })
  );
}

/** The first part of sound. */
function soundField(contents: unknown): readonly BilledField[] {
  for (const [at, turn] of arrayOr(contents).entries()) {
    for (const [place, part] of arrayOr(objectOr(turn)["parts"]).entries()) {
      const { inlineData, fileData } = objectOr(part);
      for (const [name, data] of Object.entries({ inlineData, fileData })) {
        if (/^audio\//i.test(textIn(objectOr(data)["mimeType"]) ?? "")) {
          const path = `contents[${at}].parts[${place}].${name}`;
          return [partField(path, "audioInput")];
        }
      }
    }
  }
  return [];
}
