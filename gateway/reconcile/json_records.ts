/**
 * Pages of a vendor's API of costs or usage as records: `data` is a list of days, each with
 * `results`. OpenAI: `/v1/organization/costs` and `…/usage/completions`
 * (https://platform.openai.com/docs/api-reference/usage); Anthropic: `cost_report` and
 * `usage_report/messages` (https://platform.claude.com/docs/en/api/admin/cost_report).
 */
import {
  isObject,
  type JsonObject,
  parseJson,
} from "../../translate/bytes/json.ts";
import { invalidField } from "../../translate/model/error.ts";

/** Characters of the longest file: it is parsed as a whole, some ten milliseconds. */
const MAX_CHARS = 4 * 1024 * 1024;
/** Decimals of an amount, so that a JSON number counts as exact. */
const DECIMALS = 12;

/**
 * The records of a file: the names of all fields, then a record a result.
 *
 * @throws {ApiError} `invalid_request`; what `pieces` throws
 */
export async function jsonRecords(
  pieces: AsyncIterable<string>,
): Promise<readonly (readonly string[])[]> {
  let text = "";
  for await (const piece of pieces) {
    text += piece;
    if (text.length > MAX_CHARS) {
      throw invalidField(
        "file",
        `has more than ${MAX_CHARS} characters of JSON: reconcile a shorter period`,
      );
    }
  }
  const results = pagesOf(text).flatMap(resultsOf);
  if (results.length === 0) {
    throw invalidField("file", "has no costs and no usage");
  }
  const names = [...new Set(results.flatMap((one) => [...one.keys()]))];
  return [
    names,
    ...results.map((one) => names.map((name) => one.get(name) ?? "")),
  ];
}

/** The pages of a file: one, an array of them, or a line each. */
function pagesOf(text: string): readonly JsonObject[] {
  const whole = tryParse(text);
  const found = whole === undefined
    ? text.split("\n").filter((line) => line.trim() !== "").map(tryParse)
    : [whole].flat();
  const pages = found.filter(isObject);
  if (pages.length < found.length) {
    throw invalidField("file", "is not valid JSON");
  }
  if (pages.at(-1)?.["has_more"] === true) {
    throw invalidField(
      "file",
      "another page follows (has_more): put all pages into the file, as an array or a line each",
    );
  }
  return pages;
}

function tryParse(text: string): unknown {
  try {
    return parseJson(text.replace(/^\uFEFF/, ""));
  } catch {
    return undefined;
  }
}

function resultsOf({ data }: JsonObject): readonly Map<string, string>[] {
  if (!Array.isArray(data)) throw noPages();
  return data.flatMap((day) => {
    if (!isObject(day) || !Array.isArray(day["results"])) throw noPages();
    const { results, ...times } = day;
    return results.filter(isObject).map((result) =>
      new Map([...cells(times), ...cells(result)])
    );
  });
}

function noPages(): Error {
  return invalidField(
    "file",
    "is JSON without pages of costs or usage: expected data, a list with results each",
  );
}

/** The fields, empty where they are null; those of an object inside have its name before theirs. */
function cells(of: JsonObject): readonly (readonly [string, string])[] {
  return Object.entries(of).flatMap(([name, value]) => {
    if (isObject(value)) {
      return cells(value).map(([inner, text]) =>
        [`${name}_${inner}`, text] as const
      );
    }
    if (value === null) return [[name, ""]] as const;
    if (typeof value === "string") return [[name, value]] as const;
    return typeof value === "number"
      ? [[
        name,
        Number.isInteger(value) ? String(value) : value.toFixed(DECIMALS),
      ]] as const
      : [];
  });
}
