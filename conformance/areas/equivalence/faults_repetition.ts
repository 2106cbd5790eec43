/** Mutants for the checks of the area `equivalence` over a repeated request. */
import type { Hooks } from "../../reference_gateway/hooks.ts";
import type { Json } from "@model-gateway/replay/json";

/** Changes the text of streams of one endpoint as it comes from the upstream. */
export function streamed(
  type: "text" | "args",
  endpoint: string,
  change: (text: string) => string,
): Hooks {
  return {
    part: (part, x) =>
      part.type === type && x.stream && x.endpoint === endpoint
        ? [{ ...part, text: change(part.text) }]
        : [part],
  };
}

export function trimmed(value: Json): Json {
  return typeof value === "string" ? value.trim() : value;
}
