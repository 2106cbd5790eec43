/**
 * A client's search of the web towards formats that have one of their own.
 */
import { invalidField } from "../model/error.ts";
import type { Capabilities } from "../model/capabilities.ts";
import type {
  DialectName,
  GenerationRequest,
  Tool,
  WebSearch,
} from "../model/request.ts";

/** The formats that write a search of another format as their own. */
const FORMATS: ReadonlySet<DialectName> = new Set([
  "generate_content",
  "responses",
]);

/** Whether a model of a format searches the web for clients of other formats. */
export function searchesWeb(
  format: DialectName,
  { webSearch }: Capabilities,
): boolean {
  return webSearch && FORMATS.has(format);
}

/** Whether one of a request's tools is a search of the web that other formats may have. */
export function asksForSearch(
  { tools }: Pick<GenerationRequest, "tools">,
): boolean {
  return tools?.some((tool) =>
    tool.type === "opaque" && tool.search !== undefined
  ) === true;
}

/** The search that a tool of another format is for the model; undefined where it is none. */
export function translatedSearch(
  tool: Tool,
  format: DialectName,
  can: Capabilities,
): WebSearch | undefined {
  return tool.type === "opaque" && tool.from !== format &&
      searchesWeb(format, can)
    ? tool.search
    : undefined;
}

/**
 * Names what the model's search has no place for.
 *
 * @param lost the bounds that it does not have
 * @throws {ApiError} `invalid_request` for a bound on the sources: without it the answer is another
 */
export function loseBounds(
  { others, ...bounds }: WebSearch,
  path: string,
  lost: readonly Exclude<keyof WebSearch, "others">[],
  drop: (path: string) => void,
): void {
  for (const name of lost) {
    if (bounds[name] === undefined) continue;
    if (name.endsWith("_domains")) {
      throw invalidField(
        `${path}.${name}`,
        "is not available with this model, whose search has no such bound",
      );
    }
    drop(`${path}.${name}`);
  }
  for (const name of others) drop(`${path}.${name}`);
}
