/**
 * A client of each format that calls a tool in a loop: it returns what the model wrote as it came,
 * with a result for each call.
 */
import {
  arrayOr,
  type JsonObject,
  objectOr,
} from "../../../translate/bytes/json.ts";

/** A client of one format. */
export interface LoopingClient {
  readonly name: string;
  /** The path for whole replies and for streams. */
  path(stream: boolean): string;
  /** The first request. */
  begin(stream: boolean): JsonObject;
  /** The next request, after the reply to `before`, with results and perhaps a text beside them. */
  goOn(before: JsonObject, reply: JsonObject, text?: string): JsonObject;
  /** The reply that the data of a stream's frames make. */
  folded(frames: readonly JsonObject[]): JsonObject;
}

/** The model that all of them call. */
const LOOPING_MODEL = "house-model";
const SCHEMA = { type: "object" };

/** The data of the frames of an event stream. */
export function frameData(text: string): readonly JsonObject[] {
  return text.split("\n").filter((line) =>
    line.startsWith("data: ") && line !== "data: [DONE]"
  ).map((line) => JSON.parse(line.slice(6)));
}

function list(value: unknown): JsonObject[] {
  return arrayOr(value).map(objectOr);
}

const MESSAGES: LoopingClient = {
  name: "messages",
  path: () => "/v1/messages",
  begin: (stream) => ({
    model: LOOPING_MODEL,
    max_tokens: 100,
    stream,
    tools: [{ name: "exec", input_schema: SCHEMA }],
    messages: [{ role: "user", content: "go" }],
  }),
  goOn: (before, reply, text) => ({
    ...before,
    messages: [
      ...list(before["messages"]),
      { role: "assistant", content: reply["content"] },
      {
        role: "user",
        content: [
          ...list(reply["content"]).filter(({ type }) => type === "tool_use")
            .map(({ id }) => ({
              type: "tool_result",
              tool_use_id: id,
              content: "done",
            })),
          ...(text === undefined ? [] : [{ type: "text", text }]),
        ],
      },
    ],
  }),
  folded(frames) {
    const content: { [key: string]: unknown }[] = [];
    let json = "";
    for (const { type, content_block: block, delta } of frames) {
      const open = content.at(-1);
      const {
        text = "",
        thinking = "",
        signature,
        partial_json: args = "",
      } = objectOr(delta);
      if (type === "content_block_start") {
        content.push({ ...objectOr(block) });
        json = "";
      } else if (type === "content_block_delta" && open !== undefined) {
        if (open["type"] === "text") open["text"] += `${text}`;
        if (open["type"] === "thinking") {
          open["thinking"] += `${thinking}`;
          if (signature !== undefined) open["signature"] = signature;
        }
        json += `${args}`;
      } else if (
        type === "content_block_stop" && open?.["type"] === "tool_use"
      ) {
        open["input"] = JSON.parse(json === "" ? "{}" : json);
      }
    }
    return { content };
  },
};

const CHAT: LoopingClient = {
  name: "chat_completions",
  path: () => "/v1/chat/completions",
  begin: (stream) => ({
    model: LOOPING_MODEL,
    stream,
    tools: [{
      type: "function",
      function: { name: "exec", parameters: SCHEMA },
    }],
    messages: [{ role: "user", content: "go" }],
  }),
  goOn(before, reply, text) {
    const message = objectOr(objectOr(arrayOr(reply["choices"])[0])["message"]);
    return {
      ...before,
      messages: [
        ...list(before["messages"]),
        message,
        ...list(message["tool_calls"]).map(({ id }) => ({
          role: "tool",
          tool_call_id: id,
          content: "done",
        })),
        ...(text === undefined ? [] : [{ role: "user", content: text }]),
      ],
    };
  },
  folded(frames) {
    const texts: { [key: string]: string } = {};
    const details: JsonObject[] = [];
    const parts: JsonObject[] = [];
    const calls: { [key: string]: unknown }[] = [];
    for (const { choices } of frames) {
      const delta = objectOr(objectOr(arrayOr(choices)[0])["delta"]);
      for (const key of ["content", "reasoning", "reasoning_content"]) {
        if (typeof delta[key] === "string") {
          texts[key] = `${texts[key] ?? ""}${delta[key]}`;
        }
      }
      parts.push(...list(delta["content"]));
      details.push(...list(delta["reasoning_details"]));
      for (const { index, ...more } of list(delta["tool_calls"])) {
        const known = calls[Number(index)];
        const { arguments: args = "", ...called } = objectOr(more["function"]);
        if (known === undefined) {
          calls[Number(index)] = {
            ...more,
            function: { ...called, arguments: args },
          };
          continue;
        }
        const old = objectOr(known["function"]);
        Object.assign(known, more, {
          function: { ...old, arguments: `${old["arguments"]}${args}` },
        });
      }
    }
    const message = {
      role: "assistant",
      ...texts,
      ...(parts.length === 0 ? {} : { content: parts }),
      ...(details.length === 0 ? {} : { reasoning_details: details }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    };
    return { choices: [{ message }] };
  },
};

const RESPONSES: LoopingClient = {
  name: "responses",
  path: () => "/v1/responses",
  begin: (stream) => ({
    model: LOOPING_MODEL,
    stream,
    store: false,
    include: ["reasoning.encrypted_content"],
    tools: [{ type: "function", name: "exec", parameters: SCHEMA }],
    input: [{ role: "user", content: "go" }],
  }),
  goOn: (before, reply, text) => ({
    ...before,
    input: [
      ...list(before["input"]),
      ...list(reply["output"]),
      ...list(reply["output"]).filter(({ type }) => type === "function_call")
        .map(({ call_id: id }) => ({
          type: "function_call_output",
          call_id: id,
          output: "done",
        })),
      ...(text === undefined ? [] : [{ role: "user", content: text }]),
    ],
  }),
  folded: (frames) =>
    objectOr(
      frames.find(({ type }) =>
        type === "response.completed" || type === "response.incomplete"
      )?.["response"],
    ),
};

const GENERATE_CONTENT: LoopingClient = {
  name: "generate_content",
  path: (stream) =>
    `/v1beta/models/${LOOPING_MODEL}:${
      stream ? "streamGenerateContent?alt=sse" : "generateContent"
    }`,
  begin: () => ({
    tools: [{
      functionDeclarations: [{ name: "exec", parametersJsonSchema: SCHEMA }],
    }],
    contents: [{ role: "user", parts: [{ text: "go" }] }],
  }),
  goOn(before, reply, text) {
    const content = objectOr(
      objectOr(arrayOr(reply["candidates"])[0])["content"],
    );
    return {
      ...before,
      contents: [
        ...list(before["contents"]),
        content,
        {
          role: "user",
          parts: [
            ...list(content["parts"]).filter((part) => "functionCall" in part)
              .map(({ functionCall: call }) => ({
                functionResponse: {
                  id: objectOr(call)["id"],
                  name: objectOr(call)["name"],
                  response: { output: "done" },
                },
              })),
            ...(text === undefined ? [] : [{ text }]),
          ],
        },
      ],
    };
  },
  folded: (frames) => ({
    candidates: [{
      content: {
        role: "model",
        parts: frames.flatMap(({ candidates }) =>
          list(
            objectOr(objectOr(arrayOr(candidates)[0])["content"])["parts"],
          )
        ),
      },
    }],
  }),
};

export const LOOPING_CLIENTS: readonly LoopingClient[] = [
  MESSAGES,
  CHAT,
  RESPONSES,
  GENERATE_CONTENT,
];
