/**
 * Fields of a messages request that change what the vendor bills.
 *
 * Source: type declarations of @anthropic-ai/sdk 1.12.0, 2026-11-20
 */
import {
  arrayOr,
  countIn,
  type JsonObject,
  objectOr,
} from "../../bytes/json.ts";
import {
  type BilledField,
  modeField,
  modelField,
  partField,
  payerFields,
  useField,
} from "../../model/billed_field.ts";

/** Prefixes of the types of tools that the vendor runs and may bill; a date follows them. */
const VENDOR_TOOLS: readonly (readonly [begins: string, tool: string])[] = [
  ["web_search_", "web_search"],
  ["web_fetch_", "web_fetch"],
  ["code_execution_", "code_execution"],
];

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
    const type = tool["type"];
    if (typeof type !== "string" || type === "custom") continue;
    const path = `tools[${at}]`;
    const known = VENDOR_TOOLS.find(([begins]) => type.startsWith(begins));
    if (known !== undefined) {
      found.push(useField(path, known[1], countIn(tool["max_uses"])));
    }
    if (type.startsWith("advisor_")) {
      found.push(modelField(`${path}.model`, tool["model"]));
    }
  }
  return found;
}

function fallbackFields(fallbacks: unknown): readonly BilledField[] {
  if (fallbacks === undefined) return NONE;
  if (typeof fallbacks === "string") {
    return [modelField("fallbacks", fallbacks)];
  }
  return arrayOr(fallbacks).flatMap((entry, at) => {
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
    const ttl = objectOr(cache_control)["ttl"];
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
