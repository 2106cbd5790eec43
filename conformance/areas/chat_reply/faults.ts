/** Mutants for the checks of the area `chat_reply`: the fields of whole replies. */
import { at, listAt, numberAt, textAt } from "../../evidence/json_path.ts";
import type { Hooks } from "../../reference_gateway/hooks.ts";
import { wholeReply, withAt } from "../../reference_gateway/change_reply.ts";
import type { Mutant } from "../../reference_gateway/mutant.ts";
import { put } from "../../reference_gateway/change_chat_reply.ts";
import { CHAT_REPLY_CONTENT_MUTANTS } from "./faults_content.ts";

/** A mutant that renames a finish reason. */
function finish(name: string, from: string, to: string): Mutant {
  return put(
    name,
    `${from} is reported as ${to}`,
    "choices.0.finish_reason",
    (body) => {
      const reason = textAt(body, "choices.0.finish_reason");
      return reason === from ? to : reason;
    },
  );
}

/** Changes the headers of whole replies. */
function contentType(type: string): Hooks {
  return {
    reply: (reply, { endpoint }) =>
      endpoint === "chat"
        ? { ...reply, headers: { ...reply.headers, "content-type": type } }
        : reply,
  };
}

const CONTENT = "choices.0.message.content";
const FINISH = "choices.0.finish_reason";

/** All mutants of the area `chat_reply`. */
export const CHAT_REPLY_MUTANTS: readonly Mutant[] = [
  {
    name: "chat-reply-as-text",
    about: "Whole replies have the content type text/plain",
    hooks: contentType("text/plain"),
  },
  {
    name: "chat-reply-as-stream",
    about: "Whole replies have the content type text/event-stream",
    hooks: contentType("text/event-stream"),
  },
  {
    name: "chat-reply-as-latin1",
    about: "Whole replies declare a wrong charset",
    hooks: contentType("application/json; charset=iso-8859-1"),
  },
  {
    name: "chat-stream-false-streams",
    about: "stream: false is read as true",
    hooks: {
      modelRequest: (modelRequest, { request }) =>
        request.body.includes('"stream":false')
          ? { ...modelRequest, stream: true }
          : modelRequest,
    },
  },
  put(
    "chat-id-of-messages",
    "The id has the message format's prefix",
    "id",
    () => "msg_1",
  ),
  put("chat-id-missing", "The id is missing", "id", () => undefined),
  put(
    "chat-id-only-prefix",
    "The id is only its prefix",
    "id",
    () => "chatcmpl-",
  ),
  put(
    "chat-id-constant",
    "All replies have the same id",
    "id",
    () => "chatcmpl-1",
  ),
  put(
    "chat-object-chunk",
    "The object of a reply is that of a chunk",
    "object",
    () => "chat.completion.chunk",
  ),
  put(
    "chat-object-missing",
    "The object is missing",
    "object",
    () => undefined,
  ),
  put(
    "chat-created-in-ms",
    "created is in milliseconds",
    "created",
    () => 1_780_000_000_000,
  ),
  put(
    "chat-created-as-text",
    "created is a string",
    "created",
    () => "1780000000",
  ),
  put(
    "chat-created-missing",
    "created is missing",
    "created",
    () => undefined,
  ),
  put("chat-created-zero", "created is 0", "created", () => 0),
  put(
    "chat-created-fraction",
    "created has a fraction",
    "created",
    () => 1_780_000_000.5,
  ),
  put("chat-model-missing", "The model is missing", "model", () => undefined),
  put("chat-model-empty", "The model is an empty string", "model", () => ""),
  put(
    "chat-model-other",
    "The model is another one than requested",
    "model",
    () => "some-model",
  ),
  put(
    "chat-model-upper",
    "The model is in upper case",
    "model",
    (body) => textAt(body, "model").toUpperCase(),
  ),
  put("chat-choices-empty", "choices is empty", "choices", () => []),
  put(
    "chat-choices-object",
    "choices is an object",
    "choices",
    (body) => at(body, "choices.0"),
  ),
  put("chat-choices-missing", "choices is missing", "choices", () => undefined),
  put(
    "chat-choice-twice",
    "The choice is repeated",
    "choices",
    (body) => [...listAt(body, "choices"), ...listAt(body, "choices")],
  ),
  put(
    "chat-choice-index-missing",
    "The choice has no index",
    "choices.0.index",
    () => undefined,
  ),
  put(
    "chat-choice-index-1",
    "Choices are numbered from 1",
    "choices.0.index",
    () => 1,
  ),
  put(
    "chat-choice-index-text",
    "The index is a string",
    "choices.0.index",
    () => "0",
  ),
  put(
    "chat-role-missing",
    "The message has no role",
    "choices.0.message.role",
    () => undefined,
  ),
  put(
    "chat-role-model",
    "The message's role is model",
    "choices.0.message.role",
    () => "model",
  ),
  put(
    "chat-message-missing",
    "A delta replaces the message",
    "choices.0",
    (body) => ({
      index: 0,
      delta: at(body, "choices.0.message"),
      finish_reason: at(body, FINISH),
    }),
  ),
  put(
    "chat-content-null",
    "The content is null",
    CONTENT,
    (body) =>
      listAt(body, "choices.0.message.tool_calls").length > 0 ? "" : null,
  ),
  put(
    "chat-content-parts",
    "The content is an array of parts",
    CONTENT,
    (body) => [{ type: "text", text: textAt(body, CONTENT) }],
  ),
  put(
    "chat-content-missing",
    "The content is missing",
    CONTENT,
    () => undefined,
  ),
  {
    name: "chat-content-as-text",
    about: "The text is in the field of the older format",
    hooks: wholeReply("chat", (body) =>
      withAt(
        withAt(body, "choices.0.text", at(body, CONTENT)),
        CONTENT,
        "",
      )),
  },
  put("chat-finish-null", "The finish reason is null", FINISH, () => null),
  finish("chat-finish-end_turn", "stop", "end_turn"),
  put(
    "chat-finish-upper",
    "The finish reason is in upper case",
    FINISH,
    (body) => textAt(body, FINISH).toUpperCase(),
  ),
  {
    name: "chat-finish-on-message",
    about: "The finish reason is inside the message",
    hooks: wholeReply("chat", (body) =>
      withAt(
        withAt(body, "choices.0.message.finish_reason", at(body, FINISH)),
        FINISH,
        undefined,
      )),
  },
  finish("chat-length-as-stop", "length", "stop"),
  finish("chat-length-as-max_tokens", "length", "max_tokens"),
  finish("chat-filter-as-stop", "content_filter", "stop"),
  finish("chat-reply-tools-as-stop", "tool_calls", "stop"),
  finish("chat-stop-as-length", "stop", "length"),
  put(
    "chat-total-is-prompt",
    "The total excludes the output",
    "usage.total_tokens",
    (body) => at(body, "usage.prompt_tokens"),
  ),
  put("chat-usage-missing", "The usage is missing", "usage", () => undefined),
  put("chat-usage-null", "The usage is null", "usage", () => null),
  put(
    "chat-total-missing",
    "The total is missing",
    "usage.total_tokens",
    () => undefined,
  ),
  put(
    "chat-usage-as-text",
    "A figure of the usage is a string",
    "usage.completion_tokens",
    (body) => `${numberAt(body, "usage.completion_tokens")}`,
  ),
  put(
    "chat-usage-of-messages",
    "The usage has the message format's field names",
    "usage",
    (body) => ({
      input_tokens: at(body, "usage.prompt_tokens"),
      output_tokens: at(body, "usage.completion_tokens"),
    }),
  ),
  ...CHAT_REPLY_CONTENT_MUTANTS,
];
