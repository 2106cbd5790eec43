/**
 * An upstream on a bare connection that does what a test says, call by call, and answers well where nothing is said. It speaks the
 * messages format under `/v1/messages` and the chat format elsewhere.
 *
 * @module
 */
import { isObject, type JsonObject } from "../translate/json.ts";

/** What the upstream does with one call. */
export type Deed =
  /** A good answer, streamed or whole as asked, which says the upstream's name. */
  | "ok"
  /** The connection breaks before any answer. */
  | "reset"
  /** Nothing, until the caller goes away. */
  | "silence"
  /** A stream's first event, then the connection breaks; a whole answer breaks in its middle. */
  | "cut"
  /** A stream's first event, then nothing. */
  | "stall"
  /** A good answer that is whole, also where a stream was asked for. */
  | "whole"
  /** Nothing until then, and then a deed. */
  | { readonly after: Promise<void>; readonly deed: Deed }
  /** A stream whose first frame tells an error; under a whole answer, an error with the status 200. */
  | { readonly inBand: string }
  /** An error with a status; `cut`: the connection breaks in the middle of its body. */
  | {
    readonly status: number;
    readonly cut?: true;
    readonly headers?: Readonly<Record<string, string>>;
  };

/** A call as it arrived. */
export interface ArrivedCall {
  /** Without the host. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed. */
  readonly body: JsonObject;
  /** Resolves when the connection is over; the upstream ends it itself after each answer. */
  readonly over: Promise<void>;
}

/** A running upstream. */
export interface ScriptedUpstream {
  /** Its address, without a slash at the end. */
  readonly url: string;
  /** What arrived so far. */
  readonly calls: readonly ArrivedCall[];
  /** What the next calls get, in order; after the last, `after`. */
  play(deeds: readonly Deed[], after?: Deed): void;
  /** Settles with the call of that number, counted from 0, once it has arrived. */
  arrival(index: number): Promise<ArrivedCall>;
  /** Takes no more connections: a call is then refused. */
  stopListening(): void;
  /** Ends every connection too. */
  close(): Promise<void>;
}

/** Starts one; good answers say the name. */
export function startScriptedUpstream(name: string): ScriptedUpstream {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const calls: ArrivedCall[] = [];
  const waiting = new Set<() => void>();
  const open = new Map<Deno.Conn, Promise<void>>();
  let deeds: Deed[] = [];
  let after: Deed = "ok";
  let listening = true;

  const serve = async (conn: Deno.Conn): Promise<void> => {
    const over = Promise.withResolvers<void>();
    try {
      const request = await readRequest(conn);
      if (request === undefined) return;
      calls.push({ ...request, over: over.promise });
      for (const tell of [...waiting]) tell();
      await act(conn, deeds.shift() ?? after, request, name);
    } catch {
      // The gateway broke the connection off: what it means is the test's to say.
    } finally {
      over.resolve();
      open.delete(conn);
      try {
        conn.close();
      } catch {
        // It was closed from outside.
      }
    }
  };
  const accepting = (async () => {
    for await (const conn of listener) open.set(conn, serve(conn));
  })().catch(() => {});
  const stopListening = (): void => {
    if (listening) listener.close();
    listening = false;
  };
  return {
    url: `http://127.0.0.1:${listener.addr.port}`,
    calls,
    play(next, then = "ok") {
      deeds = [...next];
      after = then;
    },
    arrival: (index) =>
      new Promise((resolve) => {
        const tell = (): void => {
          const call = calls[index];
          if (call === undefined) return;
          waiting.delete(tell);
          resolve(call);
        };
        waiting.add(tell);
        tell();
      }),
    stopListening,
    async close() {
      stopListening();
      await accepting;
      const ends = [...open.values()];
      for (const conn of [...open.keys()]) {
        try {
          conn.close();
        } catch {
          // It closed by itself.
        }
      }
      await Promise.all(ends);
    },
  };
}

type Arrived = Omit<ArrivedCall, "over">;

async function readRequest(conn: Deno.Conn): Promise<Arrived | undefined> {
  const decoder = new TextDecoder("latin1");
  const buffer = new Uint8Array(65_536);
  let text = "";
  for (;;) {
    const end = text.indexOf("\r\n\r\n");
    if (end >= 0) {
      const [first = "", ...lines] = text.slice(0, end).split("\r\n");
      const headers = Object.fromEntries(lines.map((line) => {
        const colon = line.indexOf(":");
        return [
          line.slice(0, colon).toLowerCase(),
          line.slice(colon + 1).trim(),
        ];
      }));
      const body = text.slice(end + 4);
      if (body.length >= Number(headers["content-length"] ?? "0")) {
        const bytes = Uint8Array.from(body, (char) => char.charCodeAt(0));
        const json: unknown = JSON.parse(new TextDecoder().decode(bytes));
        return {
          path: first.split(" ")[1] ?? "",
          headers,
          body: isObject(json) ? json : {},
        };
      }
    }
    const size = await conn.read(buffer);
    if (size === null) return undefined;
    text += decoder.decode(buffer.subarray(0, size));
  }
}

async function act(
  conn: Deno.Conn,
  deed: Deed,
  request: Arrived,
  name: string,
): Promise<void> {
  const isStream = request.body["stream"] === true;
  const events = request.path.endsWith("/messages")
    ? messageEvents(name)
    : chatEvents(name);
  const whole = request.path.endsWith("/messages")
    ? messageReply(name)
    : chatReply(name);
  if (typeof deed === "object" && "after" in deed) {
    await deed.after;
    return await act(conn, deed.deed, request, name);
  }
  switch (deed) {
    case "reset":
      return;
    case "silence":
      await untilGone(conn);
      return;
    case "cut":
    case "stall":
      await send(
        conn,
        isStream
          ? `${STREAM_HEAD}${events[0]}`
          : `${JSON_HEAD}content-length: 9999\r\n\r\n${whole.slice(0, 20)}`,
      );
      if (deed === "stall") await untilGone(conn);
      return;
    case "ok":
    case "whole":
      await send(
        conn,
        isStream && deed === "ok"
          ? `${STREAM_HEAD}${events.join("")}`
          : `${JSON_HEAD}content-length: ${whole.length}\r\n\r\n${whole}`,
      );
      return;
  }
  if ("inBand" in deed) {
    const error = errorBody(deed.inBand);
    await send(
      conn,
      isStream
        ? `${STREAM_HEAD}event: error\ndata: ${error}\n\n`
        : `${JSON_HEAD}content-length: ${error.length}\r\n\r\n${error}`,
    );
    return;
  }
  const error = errorBody("told_by_status");
  const headers = Object.entries(deed.headers ?? {}).map(([key, value]) =>
    `${key}: ${value}\r\n`
  );
  await send(
    conn,
    `HTTP/1.1 ${deed.status} X\r\nconnection: close\r\ncontent-type: application/json\r\n${
      headers.join("")
    }content-length: ${error.length}\r\n\r\n${
      deed.cut === true ? error.slice(0, 9) : error
    }`,
  );
}

async function untilGone(conn: Deno.Conn): Promise<void> {
  while (await conn.read(new Uint8Array(1024)) !== null);
}

async function send(conn: Deno.Conn, text: string): Promise<void> {
  let rest = new TextEncoder().encode(text);
  while (rest.length > 0) rest = rest.subarray(await conn.write(rest));
}

// Without a length and closed at the end: a cut is then a connection that ends too early for the format.
const STREAM_HEAD =
  "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\n\r\n";
const JSON_HEAD =
  "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/json\r\n";

function errorBody(type: string): string {
  return JSON.stringify({
    type: "error",
    error: { type, message: "the script says so" },
  });
}

/** Tokens that every good answer tells. */
export const SCRIPTED_USAGE = { input: 11, output: 7 } as const;

function messageReply(name: string): string {
  return JSON.stringify({
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "theirs",
    content: [{ type: "text", text: `from ${name}` }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: {
      input_tokens: SCRIPTED_USAGE.input,
      output_tokens: SCRIPTED_USAGE.output,
    },
  });
}

function messageEvents(name: string): readonly string[] {
  const events = [
    {
      type: "message_start",
      message: {
        ...JSON.parse(messageReply(name)),
        content: [],
        stop_reason: null,
        usage: { input_tokens: SCRIPTED_USAGE.input, output_tokens: 1 },
      },
    },
    {
      type: "content_block_start",
      index: 0,
      content_block: { type: "text", text: "" },
    },
    {
      type: "content_block_delta",
      index: 0,
      delta: { type: "text_delta", text: `from ${name}` },
    },
    { type: "content_block_stop", index: 0 },
    {
      type: "message_delta",
      delta: { stop_reason: "end_turn", stop_sequence: null },
      usage: { output_tokens: SCRIPTED_USAGE.output },
    },
    { type: "message_stop" },
  ];
  return events.map((event) =>
    `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
  );
}

const CHAT_USAGE = {
  prompt_tokens: SCRIPTED_USAGE.input,
  completion_tokens: SCRIPTED_USAGE.output,
  total_tokens: SCRIPTED_USAGE.input + SCRIPTED_USAGE.output,
};

function chatReply(name: string): string {
  return JSON.stringify({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1_800_000_000,
    model: "theirs",
    choices: [{
      index: 0,
      message: { role: "assistant", content: `from ${name}` },
      finish_reason: "stop",
    }],
    usage: CHAT_USAGE,
  });
}

function chatEvents(name: string): readonly string[] {
  const chunk = (choices: readonly unknown[], more: object = {}): string =>
    `data: ${
      JSON.stringify({
        id: "chatcmpl-1",
        object: "chat.completion.chunk",
        created: 1_800_000_000,
        model: "theirs",
        choices,
        usage: null,
        ...more,
      })
    }\n\n`;
  return [
    chunk([{
      index: 0,
      delta: { role: "assistant", content: "" },
      finish_reason: null,
    }]),
    chunk([{
      index: 0,
      delta: { content: `from ${name}` },
      finish_reason: null,
    }]),
    chunk([{ index: 0, delta: {}, finish_reason: "stop" }]),
    chunk([], { usage: CHAT_USAGE }),
    "data: [DONE]\n\n",
  ];
}
