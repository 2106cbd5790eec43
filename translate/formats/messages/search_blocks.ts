/**
 * Searches of the web by models of other formats, as blocks of the messages format: a call that the
 * server ran, and its result. The format's own results carry the vendor's proof, which the gateway
 * has none of; the ids mark its blocks, so that they return to no upstream.
 */
import { isObject, type JsonObject } from "../../bytes/json.ts";
import type { WebSearched } from "../../model/reply.ts";

/** What the ids of the gateway's own searches begin with. */
export const SEARCH_ID = "srvtoolu_gateway_";

const CALLER = { type: "direct" } as const;

/** The block of the call; `input` is empty at its start in a stream. */
export function searchCall(id: string, input: JsonObject): JsonObject {
  return {
    type: "server_tool_use",
    id,
    name: "web_search",
    input,
    caller: CALLER,
  };
}

/** The input of the call: the format has one query. */
export function searchInput({ queries }: WebSearched): JsonObject {
  return { query: queries.join("; ") };
}

/** The block of the result. A source without a title has its address for one. */
export function searchResult(id: string, { sources }: WebSearched): JsonObject {
  return {
    type: "web_search_tool_result",
    tool_use_id: id,
    content: sources.map(({ url, title }) => ({
      type: "web_search_result",
      url,
      title: title ?? url,
      encrypted_content: "",
      page_age: null,
    })),
    caller: CALLER,
  };
}

/** Whether the gateway wrote the block. */
export function isOwnSearch(block: unknown): boolean {
  if (!isObject(block)) return false;
  const id = block["type"] === "server_tool_use"
    ? block["id"]
    : block["type"] === "web_search_tool_result"
    ? block["tool_use_id"]
    : undefined;
  return typeof id === "string" && id.startsWith(SEARCH_ID);
}
