/** Mutants for the checks of the area `message_reply`: fields of the whole reply. */
import { numberAt, textAt } from "../../evidence/json_path.ts";
import type { Json } from "@model-gateway/replay/json";
import { wholeReply, withAt } from "../../reference_gateway/change_reply.ts";
import { block, reply } from "../../reference_gateway/change_messages.ts";
import { MESSAGE_REPLY_EXACT_MUTANTS } from "./faults_exact.ts";
import type { Mutant } from "../../reference_gateway/mutant.ts";

/** A mutant that puts a value at a path of the reply; undefined removes it. */
function put(
  name: string,
  about: string,
  path: string,
  value: Json | undefined,
): Mutant {
  return reply(name, about, (body) => withAt(body, path, value));
}

function withHeaders(
  name: string,
  about: string,
  change: (headers: Readonly<Record<string, string>>) => Record<string, string>,
): Mutant {
  return {
    name,
    about,
    hooks: {
      reply: (whole, { endpoint }) =>
        endpoint === "messages" && whole.status === 200
          ? { ...whole, headers: change(whole.headers) }
          : whole,
    },
  };
}

const FIELDS: readonly Mutant[] = [
  put(
    "message-id-without-prefix",
    "The id is a bare UUID",
    "id",
    "0b0e7a36-5ad4-4a1f-9c65-3e6a1d1f3c11",
  ),
  put("message-id-prefix-only", "The id is only a prefix", "id", "msg_"),
  put("message-id-constant", "All replies have the same id", "id", "msg_1"),
  put("message-type-missing", "The reply has no type", "type", undefined),
  put(
    "message-type-chat",
    "The type is the chat format's object",
    "type",
    "chat.completion",
  ),
  put("message-role-model", "The role is another vendor's", "role", "model"),
  put("message-role-missing", "The reply has no role", "role", undefined),
  put("message-model-missing", "The reply has no model", "model", undefined),
  put("message-model-empty", "The model is an empty string", "model", ""),
  put(
    "message-model-other",
    "The model is the upstream's own name",
    "model",
    "upstream-model-20260101",
  ),
  put("message-content-text", "The content is a string", "content", "Hello!"),
  put(
    "message-block-type-missing",
    "Blocks have no type",
    "content.0.type",
    undefined,
  ),
  put(
    "message-block-type-other",
    "Text blocks have another vendor's type",
    "content.0.type",
    "output_text",
  ),
  block(
    "message-text-null",
    "The text of text blocks is null",
    "text",
    (each) => ({
      ...each,
      text: null,
    }),
  ),
  block(
    "message-tool-input-text",
    "The input of a call is JSON in a string",
    "tool_use",
    (each) => ({ ...each, input: JSON.stringify(each["input"]) }),
  ),
  block(
    "message-tool-input-null",
    "The input of a call is null",
    "tool_use",
    (each) => ({ ...each, input: null }),
  ),
  block("message-tool-id-missing", "Calls have no id", "tool_use", (each) => ({
    ...each,
    id: undefined,
  })),
  block("message-tool-id-empty", "Calls have an empty id", "tool_use", (
    each,
  ) => ({ ...each, id: "" })),
  block("message-tool-ids-same", "All calls have the same id", "tool_use", (
    each,
  ) => ({ ...each, id: "toolu_1" })),
  block("message-tool-name-missing", "Calls have no name", "tool_use", (
    each,
  ) => ({ ...each, name: undefined })),
  put(
    "stop_reason-of-chat",
    "The stop reason is the chat format's",
    "stop_reason",
    "stop",
  ),
  put("message-stop-null", "The stop reason is null", "stop_reason", null),
  put(
    "message-sequence-missing",
    "stop_sequence is missing",
    "stop_sequence",
    undefined,
  ),
  put(
    "message-sequence-empty",
    "The stop sequence is an empty string",
    "stop_sequence",
    "",
  ),
  put(
    "message-sequence-null",
    "The stop sequence that hit is not reported",
    "stop_sequence",
    null,
  ),
  put(
    "message-usage-as-text",
    "Token counts are strings",
    "usage.output_tokens",
    "12",
  ),
  put(
    "message-input-tokens-0",
    "Input tokens are not reported",
    "usage.input_tokens",
    0,
  ),
  put("message-usage-missing", "The usage is missing", "usage", undefined),
  reply(
    "message-usage-of-chat",
    "The usage has the chat format's field names",
    (body) => ({
      ...body,
      usage: {
        prompt_tokens: numberAt(body, "usage.input_tokens") ?? 0,
        completion_tokens: numberAt(body, "usage.output_tokens") ?? 0,
      },
    }),
  ),
  put(
    "message-usage-fraction",
    "Token counts are not integers",
    "usage.output_tokens",
    12.5,
  ),
  withHeaders(
    "message-json-as-text",
    "The reply has the content type text/plain",
    (headers) => ({ ...headers, "content-type": "text/plain" }),
  ),
  withHeaders(
    "message-type-header-missing",
    "The reply has no content type",
    ({ "content-type": _, ...headers }) => headers,
  ),
  block(
    "message-replacement-character",
    "A character split between two reads is lost",
    "text",
    (each) => ({ ...each, text: `${textAt(each, "text")}\uFFFD` }),
  ),
  reply(
    "message-reply-with-choices",
    "The reply also has the chat format's choices",
    (body) => ({ ...body, object: "chat.completion", choices: [] }),
  ),
  {
    name: "message-text-trimmed",
    about: "The last character of the text is lost",
    hooks: wholeReply("messages", (body) =>
      withAt(
        body,
        "content.0.text",
        textAt(body, "content.0.text").slice(0, -1),
      )),
  },
];

/** All mutants of the area `message_reply`. */
export const MESSAGE_REPLY_MUTANTS: readonly Mutant[] = [
  ...FIELDS,
  ...MESSAGE_REPLY_EXACT_MUTANTS,
];
