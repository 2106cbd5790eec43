/**
 * An agent in each client format: it thinks, has two tools, returns what the model wrote as it
 * came, and shows a picture where its format has a place for it.
 */
import {
  arrayOr,
  type JsonObject,
  objectOr,
} from "../../../translate/bytes/json.ts";
import { LOOPING_CLIENTS } from "../clients/looping_clients.ts";
import { AGENT_TOOLS } from "../upstreams/strict_hosts/server.ts";

/** What an agent adds to its conversation. */
export interface AgentTurn {
  /** The texts of results, one for each call. */
  readonly results?: readonly string[];
  readonly text?: string;
  /** True: a picture, inside the first result or beside it. */
  readonly picture?: boolean;
}

/** An agent of one format. */
export interface AgentClient {
  readonly name: string;
  path(model: string, stream: boolean): string;
  /** The first request, without its model. */
  begin(stream: boolean, text: string): JsonObject;
  /** The conversation so far, the reply, and a turn. */
  goOn(before: JsonObject, reply: JsonObject, turn: AgentTurn): JsonObject;
  /** The request, bound to a schema with a `city`. */
  bound(body: JsonObject): JsonObject;
  /** The reply that the data of a stream's frames make. */
  folded(frames: readonly JsonObject[]): JsonObject;
  /** The names of the tools that a reply calls. */
  called(reply: JsonObject): readonly string[];
  /** The answer of a reply, without its reasoning. */
  answer(reply: JsonObject): string;
}

/** A picture of one pixel. */
export const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** What an answer is to have. */
const AGENT_SCHEMA: JsonObject = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
};

const TEXT: JsonObject = { type: "string" };
/** As MCP servers write them. */
const PARAMETERS: JsonObject = {
  $schema: "http://json-schema.org/draft-07/schema#",
  type: "object",
  properties: { path: TEXT, command: { anyOf: [{ const: "ls" }, TEXT] } },
  additionalProperties: false,
};
const SYSTEM = "You are an agent.";
const tools = (
  tool: (name: string) => JsonObject,
): readonly JsonObject[] => AGENT_TOOLS.map(tool);
const DATA_URL = `data:image/png;base64,${PIXEL}`;
const MARK = { cache_control: { type: "ephemeral" } };

function list(value: unknown): readonly JsonObject[] {
  return arrayOr(value).map(objectOr);
}

function foldedBy(name: string): AgentClient["folded"] {
  const client = LOOPING_CLIENTS.find((one) => one.name === name);
  if (client === undefined) throw new Error(`there is no client ${name}`);
  return client.folded;
}

const textsOf = (
  parts: unknown,
  isText: (part: JsonObject) => boolean,
): string =>
  list(parts).filter(isText).map(({ text }) => `${text}`).join("").trim();

const MESSAGES: AgentClient = {
  name: "messages",
  path: () => "/v1/messages",
  begin: (stream, text) => ({
    max_tokens: 4000,
    stream,
    thinking: { type: "adaptive" },
    output_config: { effort: "high" },
    system: [{ type: "text", text: SYSTEM, ...MARK }],
    tools: tools((name) => ({
      name,
      description: name,
      input_schema: PARAMETERS,
    })),
    messages: [{ role: "user", content: [{ type: "text", text, ...MARK }] }],
  }),
  goOn: (before, reply, { results = [], text, picture }) => ({
    ...before,
    messages: [
      ...list(before["messages"]),
      { role: "assistant", content: reply["content"] },
      {
        role: "user",
        content: [
          ...list(reply["content"]).filter(({ type }) => type === "tool_use")
            .map(({ id }, at) => ({
              type: "tool_result",
              tool_use_id: id,
              content: [
                { type: "text", text: results[at] },
                ...(picture === true && at === 0
                  ? [{
                    type: "image",
                    source: {
                      type: "base64",
                      media_type: "image/png",
                      data: PIXEL,
                    },
                  }]
                  : []),
              ],
            })),
          ...(text === undefined ? [] : [{ type: "text", text }]),
        ],
      },
    ],
  }),
  bound: (body) => ({
    ...body,
    output_config: {
      ...objectOr(body["output_config"]),
      format: { type: "json_schema", schema: AGENT_SCHEMA },
    },
  }),
  folded: foldedBy("messages"),
  called: (reply) =>
    list(reply["content"]).filter(({ type }) => type === "tool_use").map((
      { name },
    ) => `${name}`),
  answer: (reply) => textsOf(reply["content"], ({ type }) => type === "text"),
};

const messageOf = (reply: JsonObject): JsonObject =>
  objectOr(list(reply["choices"])[0]?.["message"]);

const CHAT: AgentClient = {
  name: "chat_completions",
  path: () => "/v1/chat/completions",
  begin: (stream, text) => ({
    max_completion_tokens: 4000,
    stream,
    ...(stream ? { stream_options: { include_usage: true } } : {}),
    reasoning_effort: "high",
    tools: tools((name) => ({
      type: "function",
      function: { name, description: name, parameters: PARAMETERS },
    })),
    parallel_tool_calls: true,
    prompt_cache_key: "session",
    user: "somebody",
    store: false,
    service_tier: "auto",
    frequency_penalty: 0,
    metadata: { session: "1" },
    messages: [
      { role: "developer", content: SYSTEM },
      { role: "system", content: "The folder has two files." },
      { role: "user", content: text },
    ],
  }),
  goOn(before, reply, { results = [], text, picture }) {
    const message = messageOf(reply);
    return {
      ...before,
      messages: [
        ...list(before["messages"]),
        message,
        ...list(message["tool_calls"]).map(({ id }, at) => ({
          role: "tool",
          tool_call_id: id,
          content: results[at],
        })),
        ...(text === undefined ? [] : [{
          role: "user",
          content: picture === true
            ? [{ type: "text", text }, {
              type: "image_url",
              image_url: { url: DATA_URL },
            }]
            : text,
        }]),
      ],
    };
  },
  bound: (body) => ({
    ...body,
    response_format: {
      type: "json_schema",
      json_schema: { name: "place", strict: true, schema: AGENT_SCHEMA },
    },
  }),
  folded: foldedBy("chat_completions"),
  called: (reply) =>
    list(messageOf(reply)["tool_calls"]).map((call) =>
      `${objectOr(call["function"])["name"]}`
    ),
  answer(reply) {
    const { content } = messageOf(reply);
    // A host's own text in this format may begin with its reasoning.
    return typeof content === "string"
      ? content.replace(/^<think>[^]*<\/think>/, "").trim()
      : textsOf(content, ({ type }) => type === "text");
  },
};

const RESPONSES: AgentClient = {
  name: "responses",
  path: () => "/v1/responses",
  begin: (stream, text) => ({
    max_output_tokens: 4000,
    stream,
    store: false,
    include: ["reasoning.encrypted_content"],
    reasoning: { effort: "high", summary: "auto" },
    instructions: SYSTEM,
    tools: tools((name) => ({
      type: "function",
      name,
      description: name,
      parameters: PARAMETERS,
      strict: false,
    })),
    input: [{ role: "developer", content: SYSTEM }, {
      role: "user",
      content: text,
    }],
  }),
  goOn: (before, reply, { results = [], text, picture }) => ({
    ...before,
    input: [
      ...list(before["input"]),
      ...list(reply["output"]),
      ...list(reply["output"]).filter(({ type }) => type === "function_call")
        .map(({ call_id: id }, at) => ({
          type: "function_call_output",
          call_id: id,
          output: picture === true && at === 0
            ? [{ type: "input_text", text: results[at] }, {
              type: "input_image",
              image_url: DATA_URL,
            }]
            : results[at],
        })),
      ...(text === undefined ? [] : [{ role: "user", content: text }]),
    ],
  }),
  bound: (body) => ({
    ...body,
    text: {
      format: {
        type: "json_schema",
        name: "place",
        strict: true,
        schema: AGENT_SCHEMA,
      },
    },
  }),
  folded: foldedBy("responses"),
  called: (reply) =>
    list(reply["output"]).filter(({ type }) => type === "function_call").map((
      { name },
    ) => `${name}`),
  answer: (reply) =>
    list(reply["output"]).filter(({ type }) => type === "message").map((item) =>
      textsOf(item["content"], () => true)
    ).join(""),
};

const contentOf = (reply: JsonObject): JsonObject =>
  objectOr(list(reply["candidates"])[0]?.["content"]);

const GENERATE_CONTENT: AgentClient = {
  name: "generate_content",
  path: (model, stream) =>
    `/v1beta/models/${model}:${
      stream ? "streamGenerateContent?alt=sse" : "generateContent"
    }`,
  begin: (_stream, text) => ({
    systemInstruction: { parts: [{ text: SYSTEM }] },
    generationConfig: {
      maxOutputTokens: 4000,
      thinkingConfig: { thinkingLevel: "HIGH", includeThoughts: true },
    },
    tools: [{
      functionDeclarations: tools((name) => ({
        name,
        description: name,
        parametersJsonSchema: PARAMETERS,
      })),
    }],
    contents: [{ role: "user", parts: [{ text }] }],
  }),
  goOn(before, reply, { results = [], text, picture }) {
    const content = contentOf(reply);
    const calls = list(content["parts"]).filter((part) =>
      part["functionCall"] !== undefined
    );
    return {
      ...before,
      contents: [...list(before["contents"]), content, {
        role: "user",
        parts: [
          ...calls.map(({ functionCall: call }, at) => {
            const { id, name } = objectOr(call);
            return {
              functionResponse: {
                ...(id === undefined ? {} : { id }),
                name,
                response: { output: results[at] },
              },
            };
          }),
          ...(picture === true
            ? [{ inlineData: { mimeType: "image/png", data: PIXEL } }]
            : []),
          ...(text === undefined ? [] : [{ text }]),
        ],
      }],
    };
  },
  bound: (body) => ({
    ...body,
    generationConfig: {
      ...objectOr(body["generationConfig"]),
      responseMimeType: "application/json",
      responseJsonSchema: AGENT_SCHEMA,
    },
  }),
  folded: foldedBy("generate_content"),
  called: (reply) =>
    list(contentOf(reply)["parts"]).flatMap(({ functionCall: call }) =>
      call === undefined ? [] : [`${objectOr(call)["name"]}`]
    ),
  answer: (reply) =>
    textsOf(
      contentOf(reply)["parts"],
      ({ text, thought }) => text !== undefined && thought !== true,
    ),
};

export const AGENT_CLIENTS: readonly AgentClient[] = [
  MESSAGES,
  CHAT,
  RESPONSES,
  GENERATE_CONTENT,
];
