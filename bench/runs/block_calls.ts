/**
 * Calls whose reply is large, is stored or continues a stored one, or that are counted or streamed:
 * what a body alone does not show of {@linkcode blocks}.
 */
import { planTag } from "../load/reply_plan.ts";
import type { CallerDialect } from "../load/reply_judge.ts";
import type { UpstreamDialect } from "../mock/mock_bodies.ts";
import type { Address } from "../targets/target.ts";
import { CONVERSATION_BODIES } from "./conversation_bodies.ts";

/** A reply of the gateway, read to its end. */
export interface ReadReply {
  readonly status: number;
  readonly text: string;
}

/** Sends bodies to the gateway from one format to another. */
export interface Poster {
  readonly model: string;
  /**
   * @param path absent: that of a whole reply of the format
   */
  post(body: string, path?: string): Promise<ReadReply>;
  get(path: string): Promise<ReadReply>;
  /** Sends an event through a web socket of its own; resolves at the end of its reply. */
  sendEvent(event: string): Promise<ReadReply>;
}

interface BlockCall {
  readonly name: string;
  readonly caller: CallerDialect;
  readonly upstream: UpstreamDialect;
  /** Bytes of the request or of the reply, whichever is larger. */
  readonly bytes: number;
  /** A longer turn, in milliseconds, is a failure; absent: that of all bodies. */
  readonly mostMs?: number;
  /** Makes what comes before the calls that are measured; returns those. */
  prepare(poster: Poster): Promise<() => Promise<ReadReply>>;
}

export function posterAt(
  { host, port, path, headers, model }: Address,
): Poster {
  const pathOf = (method: string): string =>
    path.replace("{model}", model).replace("{method}", method);
  return {
    model,
    async post(body, to = pathOf("generateContent")) {
      const response = await fetch(`http://${host}:${port}${to}`, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body,
      });
      return { status: response.status, text: await response.text() };
    },
    async get(from) {
      const response = await fetch(`http://${host}:${port}${from}`, {
        headers: { ...headers },
      });
      return { status: response.status, text: await response.text() };
    },
    async sendEvent(event) {
      const socket = new WebSocket(`ws://${host}:${port}/v1/responses`, {
        headers: { ...headers },
      });
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      socket.onopen = () => socket.send(event);
      socket.onerror = () => reject(new Error("the web socket failed"));
      socket.onmessage = ({ data }: MessageEvent<string>) => {
        if (LAST_EVENT.test(data)) resolve(data);
      };
      const text = await promise;
      socket.close();
      return { status: text.includes(COMPLETED) ? 200 : 400, text };
    },
  };
}

const COMPLETED = '"type":"response.completed"';
const LAST_EVENT = /"type":"(response\.(completed|incomplete|failed)|error)"/;

const TURNS = "31 turns of 1 MB";

/** The fields of the large conversation of a format. */
function turnsOf(caller: CallerDialect): string {
  return CONVERSATION_BODIES.find((body) =>
    body.caller === caller && body.name === TURNS
  )?.fields() ?? "";
}

/** A conversation that asks the mock upstream for a reply of that many bytes. */
function asking(caller: CallerDialect, bytes: number, events: number): string {
  const text = planTag({ events, textBytes: bytes / events, perWrite: 64 });
  switch (caller) {
    case "generate_content":
      return `"contents":[{"role":"user","parts":[{"text":"${text}"}]}]`;
    case "responses":
      return `"input":"${text}"`;
    case "chat_completions":
    case "messages":
      return `"max_tokens":9,"messages":[{"role":"user","content":"${text}"}]`;
  }
}

const DIRECTIONS: readonly (readonly [CallerDialect, UpstreamDialect])[] = [
  ["chat_completions", "chat_completions"],
  ["messages", "messages"],
  ["responses", "responses"],
  ["generate_content", "generate_content"],
  ["chat_completions", "messages"],
  ["messages", "chat_completions"],
  ["responses", "messages"],
  ["generate_content", "chat_completions"],
];

const REPLY_BYTES = 30e6;

/** A whole reply, and a stream of many events. */
const REPLIES: readonly BlockCall[] = DIRECTIONS.flatMap((
  [caller, upstream],
) =>
  ([[1, "whole"], [30, "stream"]] as const).map(([events, kind]) => ({
    name: `a ${kind === "whole" ? "whole reply" : "stream"} of 30 MB`,
    caller,
    upstream,
    bytes: REPLY_BYTES,
    // The last frames of this format repeat the whole text.
    ...(caller === "responses" && kind === "stream" ? { mostMs: 400 } : {}),
    prepare({ model, post }) {
      const fields = asking(caller, REPLY_BYTES, events);
      const isStream = kind === "stream";
      const body = caller === "generate_content"
        ? `{${fields}}`
        : `{"model":"${model}",${
          caller === "responses" ? '"store":false,' : ""
        }"stream":${isStream},${fields}}`;
      const path = caller === "generate_content" && isStream
        ? `/v1beta/models/${model}:streamGenerateContent?alt=sse`
        : undefined;
      return Promise.resolve(() => post(body, path));
    },
  }))
);

function idOf({ text }: ReadReply): string {
  const reply: unknown = JSON.parse(text);
  return typeof reply === "object" && reply !== null && "id" in reply
    ? String(reply.id)
    : "";
}

const STORED = {
  caller: "responses",
  upstream: "messages",
} as const;

const STORING: readonly BlockCall[] = [
  {
    ...STORED,
    name: `${TURNS}, stored`,
    bytes: 31e6,
    prepare: ({ model, post }) => {
      const body = `{"model":"${model}",${turnsOf("responses")}}`;
      return Promise.resolve(() => post(body));
    },
  },
  {
    ...STORED,
    name: `a stored conversation of ${TURNS}, continued`,
    bytes: 31e6,
    async prepare({ model, post }) {
      const first = await post(
        `{"model":"${model}",${turnsOf("responses")}}`,
      );
      const body = `{"model":"${model}","previous_response_id":"${
        idOf(first)
      }","store":false,"input":"go on"}`;
      return () => post(body);
    },
  },
  {
    ...STORED,
    name: "a reply of 30 MB, stored",
    bytes: REPLY_BYTES,
    prepare: ({ model, post }) => {
      const body = `{"model":"${model}",${
        asking("responses", REPLY_BYTES, 1)
      }}`;
      return Promise.resolve(() => post(body));
    },
  },
  ...["", "/input_items?limit=100"].map((below): BlockCall => ({
    ...STORED,
    name: `${TURNS} and a reply, read at /v1/responses/{id}${below}`,
    bytes: 31e6,
    async prepare({ model, post, get }) {
      const stored = await post(
        `{"model":"${model}",${turnsOf("responses")}}`,
      );
      return () => get(`/v1/responses/${idOf(stored)}${below}`);
    },
  })),
];

const COUNTED: readonly BlockCall[] = [{
  name: `${TURNS}, counted`,
  caller: "messages",
  upstream: "chat_completions",
  bytes: 31e6,
  prepare: ({ model, post }) => {
    const body = `{"model":"${model}",${turnsOf("messages")}}`;
    return Promise.resolve(() => post(body, "/v1/messages/count_tokens"));
  },
}];

/** A large request whose reply is a stream. */
const STREAMED: readonly BlockCall[] = ([
  ["chat_completions", "chat_completions"],
  ["messages", "chat_completions"],
  ["responses", "messages"],
] as const).map(([caller, upstream]) => ({
  name: `${TURNS}, streamed`,
  caller,
  upstream,
  bytes: 31e6,
  prepare: ({ model, post }) => {
    const own = caller === "responses" ? '"store":false' : '"max_tokens":9';
    const body = `{"model":"${model}","stream":true,${own},${turnsOf(caller)}}`;
    return Promise.resolve(() => post(body));
  },
}));

/** A large request through a web socket. */
const SOCKETS: readonly BlockCall[] = (["responses", "messages"] as const).map(
  (upstream) => ({
    name: `${TURNS}, through a web socket`,
    caller: "responses",
    upstream,
    bytes: 31e6,
    prepare: ({ model, sendEvent }) => {
      const event = `{"type":"response.create","model":"${model}",${
        turnsOf("responses")
      },"store":false}`;
      return Promise.resolve(() => sendEvent(event));
    },
  }),
);

export const BLOCK_CALLS: readonly BlockCall[] = [
  ...STORING,
  ...SOCKETS,
  ...COUNTED,
  ...STREAMED,
  ...REPLIES,
];
