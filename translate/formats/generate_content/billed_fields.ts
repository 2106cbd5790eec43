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
  modeField,
  payerFields,
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
  return arrayOr(modalities).flatMap((modality, at): BilledField[] => {
    const word = textIn(modality)?.toLowerCase();
    return word === "audio" || word === "image"
      ? [{
        path: `generationConfig.responseModalities[${at}]`,
        ask: {
          type: "tokens",
          figure: word === "audio" ? "audioOutput" : "imageOutput",
        },
        isTranslated: false,
      }]
      : [];
  });
}

/** Fields that let another model answer. */
function otherModels(config: JsonObject): readonly BilledField[] {
  return ["routingConfig", "modelSelectionConfig", "modelConfig"].flatMap(
    (name): BilledField[] => {
      const value = config[name];
      if (!isObject(value)) return [];
      const manual = objectOr(value["manualMode"]);
      return [{
        path: `generationConfig.${name}`,
        ask: { type: "model", model: textIn(manual["modelName"]) ?? "" },
        isTranslated: false,
      }];
    },
  );
}

function toolFields(tools: unknown): readonly BilledField[] {
  return arrayOr(tools).flatMap((tool, at) =>
    Object.keys(objectOr(tool)).flatMap((name): BilledField[] => {
      const billed = BILLED_TOOLS.get(name);
      return billed === undefined ? [] : [{
        path: `tools[${at}].${name}`,
        ask: { type: "use", tool: billed },
        isTranslated: false,
      }];
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
          return [{
            path: `contents[${at}].parts[${place}].${name}`,
            ask: { type: "tokens", figure: "audioInput" },
            isTranslated: true,
          }];
        }
      }
    }
  }
  return [];
}
