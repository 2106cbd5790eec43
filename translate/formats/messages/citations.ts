/**
 * Sources of a text block in the messages format.
 */
import { isObject, type JsonObject, textIn } from "../../bytes/json.ts";
import type { Citation } from "../../model/citation.ts";

/** A result of a web search: the citation with an address. */
const TYPE = "web_search_result_location";
/**
 * The format's own proof of a search. The gateway has none for other formats' citations; an empty
 * one is its mark, so that they do not return to an upstream, which would refuse them.
 */
const PROOF = "encrypted_index";

/** Reads a citation; undefined without an address, such as a place in the client's document. */
export function readCitation(value: JsonObject): Citation | undefined {
  const url = textIn(value["url"]) ?? textIn(value["source"]);
  if (url === undefined || !/^https?:/i.test(url)) return undefined;
  const title = textIn(value["title"]);
  const quote = textIn(value["cited_text"]);
  return {
    url,
    ...(title === undefined ? {} : { title }),
    ...(quote === undefined ? {} : { quote }),
  };
}

export function encodeCitation({ url, title, quote }: Citation): JsonObject {
  return {
    type: TYPE,
    cited_text: quote ?? "",
    url,
    title: title ?? null,
    [PROOF]: "",
  };
}

/** Whether the gateway wrote the citation. */
export function isOwnCitation(value: unknown): boolean {
  return isObject(value) && value["type"] === TYPE && value[PROOF] === "";
}
