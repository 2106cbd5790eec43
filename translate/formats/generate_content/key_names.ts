/**
 * The two spellings of the format's keys: `maxOutputTokens`, and `max_output_tokens` as in the
 * vendor's own definitions. The vendor takes both, and one entry where a list is expected.
 * Decoders read the first spelling; errors and reports name fields in the client's.
 */
import { invalidField } from "../../model/error.ts";
import { isObject, type JsonDraft, type JsonObject } from "../../bytes/json.ts";
import { FREE_FORM } from "../../bytes/key_spelling.ts";

const LISTS: ReadonlySet<string> = new Set([
  "contents",
  "functionDeclarations",
  "parts",
  "tools",
]);

/** Keys that are read here, or that change what is billed. */
export const KNOWN_KEYS: ReadonlySet<string> = new Set(
  `
  allowedFunctionNames args cachedContent candidateCount codeExecution contents continuationToken data
  description displayName enterpriseWebSearch exaAiSearch fileData fileUri frequencyPenalty
  functionCall functionCallingConfig functionDeclarations functionResponse generationConfig
  googleMaps googleSearch googleSearchRetrieval id includeThoughts inlineData logprobs manualMode
  maxOutputTokens mimeType mode modelConfig modelName modelSelectionConfig name parallelAiSearch
  parameters parametersJsonSchema parts presencePenalty response responseJsonSchema
  responseLogprobs responseMimeType responseModalities responseSchema role routingConfig seed
  serviceTier stopSequences systemInstruction temperature text thinkingBudget thinkingConfig
  thinkingLevel thought thoughtSignature toolConfig tools topK topP
  `.trim().split(/\s+/),
);
const BY_LETTERS: ReadonlyMap<string, string> = new Map(
  [...KNOWN_KEYS].map((name) => [letters(name), name]),
);

/** As the most tolerant readers compare. */
function letters(key: string): string {
  return key.toUpperCase().toLowerCase().replaceAll("_", "");
}

/** A body in one spelling. */
export interface OneSpelling {
  /** The body with the keys that decoders read; the same object where nothing changes. */
  readonly body: JsonObject;
  /** Whether the client's spelling is another one. */
  readonly isOther: boolean;
  /** A path in the spelling of the client. */
  written(path: string): string;
}

/**
 * The body in the spelling that decoders read.
 *
 * @throws {ApiError} `invalid_request` for a field that is given in both spellings, or in one that
 * only some readers take for it
 */
export function oneSpelling(body: JsonObject): OneSpelling {
  /** Key → the client's spelling of it. */
  const spellings = new Map<string, string>();
  /**
   * Keys from the outermost on, `[0]` for an entry of a list: texts of paths would cost far more.
   */
  const path: string[] = [];
  const at = (key: string): string =>
    [...path, key].join(".").replaceAll(".[", "[");
  const read = (value: unknown): unknown => {
    if (Array.isArray(value)) {
      let copy: unknown[] | undefined;
      for (let i = 0; i < value.length; i++) {
        path.push(`[${i}]`);
        const entry = read(value[i]);
        path.pop();
        if (entry !== value[i]) (copy ??= [...value])[i] = entry;
      }
      return copy ?? value;
    }
    return isObject(value) ? readObject(value) : value;
  };
  const readObject = (object: JsonObject): JsonObject => {
    const out: JsonDraft = {};
    let changed = false;
    for (const key in object) {
      const value = object[key];
      const name = camelCase(key);
      const known = KNOWN_KEYS.has(name) ? name : BY_LETTERS.get(letters(key));
      if (known !== undefined && known !== name) {
        throw invalidField(at(key), `must be spelled ${known}`);
      }
      if (Object.hasOwn(out, name)) {
        throw invalidField(at(key), `is given twice, as ${name} and otherwise`);
      }
      if (name !== key) spellings.set(name, key);
      const listed = LISTS.has(name) && isObject(value) ? [value] : value;
      path.push(key);
      const inner = FREE_FORM.has(name) ? listed : read(listed);
      path.pop();
      changed ||= name !== key || inner !== value;
      put(out, name, inner);
    }
    return changed ? out : object;
  };
  const spelled = readObject(body);
  return {
    body: spelled,
    isOther: spellings.size > 0,
    written: (path) =>
      spellings.size === 0
        ? path
        : path.replaceAll(/\w+/g, (name) => spellings.get(name) ?? name),
  };
}

/** Sets a key that may be `__proto__`. */
function put(object: JsonDraft, key: string, value: unknown): void {
  if (key !== "__proto__") object[key] = value;
  else Object.defineProperty(object, key, { value, enumerable: true });
}

function camelCase(key: string): string {
  return key.includes("_")
    ? key.replaceAll(
      /(?<=[a-z0-9])_([a-z0-9])/g,
      (_, letter: string) => letter.toUpperCase(),
    )
    : key;
}
