/**
 * Fields of a messages request that change what the vendor bills.
 *
 * Source: type declarations of @anthropic-ai/sdk 1.12.0, 2026-11-20
 */
import {
  arrayOr,
  isObject,
  type JsonObject,
  listOf,
  objectOr,
} from "../../bytes/json.ts";
import {
  type BilledField,
  modeField,
  modelField,
  mostUses,
  partField,
  payerFields,
  toolName,
  useField,
} from "../../model/billed_field.ts";

/** Tools that cost tokens only: the client runs them, or they are a way to write others. */
const FREE_TOOLS: ReadonlySet<string> = new Set([
  "agent_toolset",
  "bash",
  "browser_toolset",
  "computer",
  "computer_toolset",
  "mcp_toolset",
  "memory",
  "text_editor",
  "tool_search_tool_bm25",
  "tool_search_tool_regex",
]);

/** The vendor's search of the web, which models of other formats may have too. */
export const WEB_SEARCH = "web_search";

const NONE: readonly BilledField[] = [];

/** The billed fields, in the order of the request's. */
export function billedFields(body: JsonObject): readonly BilledField[] {
  return [
    ...modeField("service_tier", "tier", body["service_tier"]),
    ...modeField("speed", "speed", body["speed"]),
    ...modeField("inference_geo", "region", body["inference_geo"]),
    ...payerFields(body),
    ...toolFields(body["tools"]),
    ...fallbackFields(body["fallbacks"]),
    ...longMarks(body),
  ];
}

function toolFields(tools: unknown): readonly BilledField[] {
  if (tools === undefined) return NONE;
  const found: BilledField[] = [];
  for (const [at, entry] of arrayOr(tools).entries()) {
    const tool = objectOr(entry);
    const type = tool["type"] ?? "custom";
    if (type === "custom") continue;
    const path = `tools[${at}]`;
    const name = toolName(type);
    if (name === "advisor") {
      found.push(modelField(`${path}.model`, tool["model"]));
    } else if (!FREE_TOOLS.has(name)) {
      const most = mostUses(tool["max_uses"], `${path}.max_uses`);
      found.push({
        ...useField(path, name, most),
        ...(name === WEB_SEARCH ? { isSearch: true } : {}),
      });
    }
  }
  return found;
}

function fallbackFields(fallbacks: unknown): readonly BilledField[] {
  if (fallbacks === undefined) return NONE;
  if (typeof fallbacks === "string") {
    return [modelField("fallbacks", fallbacks)];
  }
  return listOf(fallbacks).flatMap((entry, at) => {
    const { model, speed } = objectOr(entry);
    return [
      modelField(`fallbacks[${at}].model`, model),
      ...modeField(`fallbacks[${at}].speed`, "speed", speed),
    ];
  });
}

/** The first mark with a life of an hour, and the first with an unknown one. */
function longMarks(body: JsonObject): readonly BilledField[] {
  let found: Map<"cacheWrite1h" | "cacheWrite12h", string> | undefined;
  const look = (owner: unknown, path: string, at?: number): void => {
    const { cache_control } = objectOr(owner);
    if (cache_control === undefined) return;
    if (cache_control === null) return;
    const ttl = isObject(cache_control) ? cache_control["ttl"] : cache_control;
    if (ttl === undefined || ttl === null || ttl === "5m") return;
    const figure = ttl === "1h" ? "cacheWrite1h" : "cacheWrite12h";
    if (found?.has(figure) === true) return;
    const place = at === undefined ? path : `${path}[${at}].`;
    found ??= new Map();
    found.set(figure, `${place}cache_control.ttl`);
  };
  const blocks = (list: unknown, path: string): void => {
    if (!Array.isArray(list)) return;
    for (let at = 0; at < list.length; at++) {
      look(list[at], path, at);
      const { content, source, tool } = objectOr(list[at]);
      if (Array.isArray(content)) blocks(content, `${path}[${at}].content`);
      if (source !== undefined) {
        blocks(objectOr(source)["content"], `${path}[${at}].source.content`);
      }
      if (tool !== undefined) look(tool, `${path}[${at}].tool.`);
    }
  };
  look(body, "");
  blocks(body["system"], "system");
  for (const [at, turn] of arrayOr(body["messages"]).entries()) {
    look(turn, "messages", at);
    const { content } = objectOr(turn);
    if (Array.isArray(content)) blocks(content, `messages[${at}].content`);
  }
  for (const [at, tool] of arrayOr(body["tools"]).entries()) {
    look(tool, "tools", at);
  }
  return found === undefined
    ? NONE
    : Array.from(found, ([figure, path]) => partField(path, figure));
}
