/** Mutants for the checks of the area `chat_reply`: the fields of whole replies. */
import { at, listAt, numberAt, textAt } from "../evidence/json_path.ts";
import type { Hooks } from "../golden/hooks.ts";
import { wholeReply, withAt } from "./change_reply.ts";
import type { Mutant } from "./mutant.ts";
import { put } from "./change_chat_reply.ts";
import { CHAT_REPLY_CONTENT_MUTANTS } from "./chat_reply_content.ts";

/** A mutant that renames a finish reason. */
function finish(name: string, from: string, to: string): Mutant {
  return put(
    name,
    `${from} is told as ${to}`,
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

/** The mutants. */
export const CHAT_REPLY_MUTANTS: readonly Mutant[] = [
  {
    name: "chat-reply-as-text",
    about: "Whole replies call themselves plain text",
    hooks: contentType("text/plain"),
  },
  {
    name: "chat-reply-as-stream",
    about: "Whole replies call themselves a stream",
    hooks: contentType("text/event-stream"),
  },
  {
    name: "chat-reply-as-latin1",
    about: "Whole replies tell other characters than they have",
    hooks: contentType("application/json; charset=iso-8859-1"),
  },
  {
    name: "chat-stream-false-streams",
    about: "stream: false is taken for true",
    hooks: {
      ask: (ask, { request }) =>
        request.body.includes('"stream":false')
          ? { ...ask, stream: true }
          : ask,
    },
  },
  put(
    "chat-id-of-messages",
    "The id is of the message format",
    "id",
    () => "msg_1",
  ),
  put("chat-id-missing", "There is no id", "id", () => undefined),
  put(
    "chat-id-only-prefix",
    "The id is only its prefix",
    "id",
    () => "chatcmpl-",
  ),
  put("chat-id-constant", "All replies have one id", "id", () => "chatcmpl-1"),
  put(
    "chat-object-chunk",
    "A reply calls itself a chunk",
    "object",
    () => "chat.completion.chunk",
  ),
  put("chat-object-missing", "There is no object", "object", () => undefined),
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
    "There is no created",
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
  put("chat-model-missing", "There is no model", "model", () => undefined),
  put("chat-model-empty", "The model is an empty string", "model", () => ""),
  put("chat-model-other", "The model is another", "model", () => "some-model"),
  put(
    "chat-model-upper",
    "The model is written in capitals",
    "model",
    (body) => textAt(body, "model").toUpperCase(),
  ),
  put("chat-choices-empty", "There is no choice", "choices", () => []),
  put(
    "chat-choices-object",
    "choices is an object",
    "choices",
    (body) => at(body, "choices.0"),
  ),
  put("chat-choices-missing", "choices is missing", "choices", () => undefined),
  put(
    "chat-choice-twice",
    "The choice comes twice",
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
    "Choices count from 1",
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
    "A delta stands in place of the message",
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
    about: "The text stands where the older format had it",
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
    "The finish reason is in capitals",
    FINISH,
    (body) => textAt(body, FINISH).toUpperCase(),
  ),
  {
    name: "chat-finish-on-message",
    about: "The finish reason stands in the message",
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
    "The total leaves the output out",
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
    "The usage has the message format's names",
    "usage",
    (body) => ({
      input_tokens: at(body, "usage.prompt_tokens"),
      output_tokens: at(body, "usage.completion_tokens"),
    }),
  ),
  ...CHAT_REPLY_CONTENT_MUTANTS,
];
