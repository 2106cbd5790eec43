/**
 * The models of the reference gateway: the ids of the specification, each with the dialect of its
 * upstream.
 */
import type { DialectName } from "@model-gateway/replay/parse_request";
import type { Endpoint } from "../evidence/exchange.ts";
import type { JsonObject } from "@model-gateway/replay/json";

const VENDORS: Readonly<Record<string, DialectName>> = {
  vendora: "messages",
  vendorb: "chat_completions",
  vendorc: "generate_content",
  vendord: "messages",
};

/** A model whose upstream speaks the Responses dialect to clients of the Responses endpoint. */
const RESPONSES_MODEL = "vendorb-5.5";

const IDS: readonly string[] = [
  "vendora-opus-4-8",
  "vendora-haiku-4-5",
  "vendorb-5",
  RESPONSES_MODEL,
  "vendorc-3-flash",
  "vendord-m3",
];

/** The dialect of a model for clients of an endpoint; undefined for an unknown id. */
export function dialectOf(
  model: string,
  endpoint?: Endpoint,
): DialectName | undefined {
  if (model === RESPONSES_MODEL && endpoint === "responses") return "responses";
  return IDS.includes(model) ? VENDORS[model.split("-")[0] ?? ""] : undefined;
}

/** The body of `GET /v1/models`. */
export function modelList(): JsonObject {
  return {
    object: "list",
    data: IDS.map((id) => ({
      id,
      object: "model",
      created: 1_780_000_000,
      owned_by: id.split("-")[0],
    })),
  };
}
