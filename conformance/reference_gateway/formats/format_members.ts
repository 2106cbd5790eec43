/** The form of a reply that a client asks for, as a request upstream has it. */
import type { JsonObject } from "@model-gateway/replay/json";
import type { ModelRequest } from "../part.ts";

/** The form of the reply, in each upstream's words. */
export function formatMembers(format: JsonObject): ModelRequest["own"] {
  const { type, schema = null, name = null, strict = null } = format;
  if (type !== "json_schema" && type !== "json_object") return {};
  const isFree = type === "json_object";
  const mime = { responseMimeType: "application/json" };
  return {
    chat_completions: {
      response_format: isFree
        ? { type }
        : { type, json_schema: { name, schema, strict } },
    },
    generate_content: isFree ? mime : { ...mime, responseJsonSchema: schema },
    messages: {
      output_config: {
        format: {
          type: "json_schema",
          schema: isFree ? { type: "object" } : schema,
        },
      },
    },
  };
}
