/**
 * Large conversations in the four formats of clients, as the fields of a body beside the model and
 * the most tokens: long histories, calls of tools, pictures, long texts.
 */
import type { CallerDialect } from "../load/reply_judge.ts";

/** How a format writes a conversation. */
interface Writing {
  /** The key of the conversation. */
  readonly key: string;
  turn(text: string, isReply: boolean): string;
  /** A call of a tool and its result. */
  call(id: string, text: string): string;
  /** A result with a picture in base64; absent where the format has none. */
  seen?(id: string, base64: string): string;
  /** A user's turn with pictures in base64. */
  pictures(base64: string, count: number): string;
}

/** The entries of a JSON list. */
export function many(count: number, one: (i: number) => string): string {
  return Array.from({ length: count }, (_, i) => one(i)).join(",");
}

const ARGUMENTS = '{\\"path\\":\\"/a\\",\\"offset\\":1}';
const INPUT = '{"path":"/a","offset":1}';

const WRITINGS: Readonly<Record<CallerDialect, Writing>> = {
  chat_completions: {
    key: "messages",
    turn: (text, isReply) =>
      `{"role":"${isReply ? "assistant" : "user"}","content":"${text}"}`,
    call: (id, text) =>
      `{"role":"assistant","content":null,"tool_calls":[{"id":"${id}","type":"function","function":{"name":"read","arguments":"${ARGUMENTS}"}}]},{"role":"tool","tool_call_id":"${id}","content":"${text}"}`,
    pictures: (base64, count) =>
      `{"role":"user","content":[${
        many(
          count,
          () =>
            `{"type":"image_url","image_url":{"url":"data:image/png;base64,${base64}"}}`,
        )
      }]}`,
  },
  messages: {
    key: "messages",
    turn: (text, isReply) =>
      `{"role":"${isReply ? "assistant" : "user"}","content":"${text}"}`,
    call: (id, text) =>
      `{"role":"assistant","content":[{"type":"tool_use","id":"${id}","name":"read","input":${INPUT}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"${id}","content":"${text}"}]}`,
    seen: (id, base64) =>
      `{"role":"assistant","content":[{"type":"tool_use","id":"${id}","name":"read","input":${INPUT}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"${id}","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"${base64}"}}]}]}`,
    pictures: (base64, count) =>
      `{"role":"user","content":[${
        many(
          count,
          () =>
            `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"${base64}"}}`,
        )
      }]}`,
  },
  responses: {
    key: "input",
    turn: (text, isReply) =>
      `{"role":"${isReply ? "assistant" : "user"}","content":"${text}"}`,
    call: (id, text) =>
      `{"type":"function_call","call_id":"${id}","name":"read","arguments":"${ARGUMENTS}"},{"type":"function_call_output","call_id":"${id}","output":"${text}"}`,
    seen: (id, base64) =>
      `{"type":"function_call","call_id":"${id}","name":"read","arguments":"${ARGUMENTS}"},{"type":"function_call_output","call_id":"${id}","output":[{"type":"input_image","image_url":"data:image/png;base64,${base64}"}]}`,
    pictures: (base64, count) =>
      `{"role":"user","content":[${
        many(
          count,
          () =>
            `{"type":"input_image","image_url":"data:image/png;base64,${base64}"}`,
        )
      }]}`,
  },
  generate_content: {
    key: "contents",
    turn: (text, isReply) =>
      `{"role":"${isReply ? "model" : "user"}","parts":[{"text":"${text}"}]}`,
    call: (id, text) =>
      `{"role":"model","parts":[{"functionCall":{"id":"${id}","name":"read","args":${INPUT}}}]},{"role":"user","parts":[{"functionResponse":{"id":"${id}","name":"read","response":{"result":"${text}"}}}]}`,
    pictures: (base64, count) =>
      `{"role":"user","parts":[${
        many(
          count,
          () => `{"inlineData":{"mimeType":"image/png","data":"${base64}"}}`,
        )
      }]}`,
  },
};

const SENTENCE = "The quick brown fox jumps over the lazy dog; ".repeat(7);
const BASE64 = "iVBORw0KGgoAAAANSUhEUgAAAB4".repeat(40);

/** A conversation at the bounds of what a body may have. */
interface Conversation {
  readonly name: string;
  /** Undefined where the format cannot express it. */
  turns(writing: Writing): string | undefined;
}

const CONVERSATIONS: readonly Conversation[] = [
  {
    name: "a history of 15,000 turns",
    turns: ({ turn }) =>
      many(15_000, (i) => turn(`${i} ${SENTENCE}`, i % 2 === 1)),
  },
  {
    name: "5,000 calls with results",
    turns: ({ turn, call }) =>
      `${turn("go", false)},${many(5_000, (i) => call(`c${i}`, SENTENCE))}`,
  },
  {
    name: "a picture of 25 MB",
    turns: ({ pictures }) =>
      pictures(BASE64.repeat(Math.ceil(25e6 / BASE64.length)), 1),
  },
  {
    name: "25 pictures of 1 MB",
    turns: ({ pictures }) =>
      pictures(BASE64.repeat(Math.ceil(1e6 / BASE64.length)), 25),
  },
  {
    name: "25 results with pictures of 1 MB",
    turns: ({ turn, seen }) =>
      seen &&
      `${turn("go", false)},${
        many(
          25,
          (i) => seen(`c${i}`, BASE64.repeat(Math.ceil(1e6 / BASE64.length))),
        )
      }`,
  },
  {
    name: "31 turns of 1 MB",
    turns: ({ turn }) =>
      many(31, (i) => turn("some text ".repeat(1e5), i % 2 === 1)),
  },
];

/** Each conversation in each format. */
export const CONVERSATION_BODIES: readonly {
  readonly name: string;
  readonly caller: CallerDialect;
  /** The fields of a body, without the model. */
  fields(): string;
}[] = CONVERSATIONS.flatMap(({ name, turns }) =>
  // The keys of the table are the formats.
  (Object.keys(WRITINGS) as CallerDialect[]).flatMap((caller) => {
    const writing = WRITINGS[caller];
    const written = turns(writing);
    return written === undefined ? [] : [{
      name,
      caller,
      fields: () => `"${writing.key}":[${written}]`,
    }];
  })
);
