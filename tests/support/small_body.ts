import type { JsonObject } from "../../translate/bytes/json.ts";

/** A call with one turn of the user, `text`, in a format that has `messages`. */
export function smallBody(
  { text = "Hi", ...fields }: { readonly text?: string } & JsonObject = {},
): JsonObject {
  return {
    model: "vendora-opus-4-8",
    max_tokens: 100,
    messages: [{ role: "user", content: text }],
    ...fields,
  };
}
