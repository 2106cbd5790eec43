/**
 * An upstream on plain TCP that acts as a test scripts it, call by call, and gives good answers
 * when the script is empty. It answers in the messages format under `/v1/messages` and in the chat
 * format elsewhere.
 */
import { isObject, type JsonObject } from "../../../translate/bytes/json.ts";

export type Action =
  /** A good answer, streamed or whole as requested; its text contains the upstream's name. */
  | "ok"
  /** Closes the connection before any answer. */
  | "reset"
  /** Sends nothing until the gateway closes the connection. */
  | "silence"
  /** Sends a stream's first event, or part of a whole answer, then closes the connection. */
  | "cut"
  /** Sends a stream's first event, or part of a whole answer, then nothing. */
  | "stall"
  /** A good whole answer, even if a stream was requested. */
  | "whole"
  /** Waits for `after`, then acts as `action`. */
  | { readonly after: Promise<void>; readonly action: Action }
  /**
   * A stream whose first frame is an error of this type; if the call is not streamed, an error with
   * status 200.
   */
  | { readonly inBand: string }
  /** An error status; `cut`: the connection closes in the middle of the body. */
  | {
    readonly status: number;
    readonly cut?: true;
    readonly message?: string;
    readonly headers?: Readonly<Record<string, string>>;
  };

interface ArrivedCall {
  readonly path: string;
  /** Headers by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject;
  /** Resolves when the connection is closed; the upstream closes it after each answer. */
  readonly closed: Promise<void>;
}

export interface ScriptedUpstream extends AsyncDisposable {
  readonly url: string;
  readonly calls: readonly ArrivedCall[];
  /** Scripts the next calls, in order; further calls get `after` (default: `ok`). */
  play(actions: readonly Action[], after?: Action): void;
  /** Resolves with the call of that index, from 0, once it has arrived. */
  arrival(index: number): Promise<ArrivedCall>;
  /** Stops accepting connections: further ones are refused. */
  stopListening(): void;
  close(): Promise<void>;
}

/** Starts an upstream; the text of its good answers is `from NAME`. */
export function startScriptedUpstream(name: string): ScriptedUpstream {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const calls: ArrivedCall[] = [];
  const waiting = new Set<() => void>();
  const open = new Map<Deno.Conn, Promise<void>>();
  let actions: Action[] = [];
  let after: Action = "ok";
  let listening = true;

  const serve = async (conn: Deno.Conn): Promise<void> => {
    const closed = Promise.withResolvers<void>();
    try {
      const request = await readRequest(conn);
      if (request === undefined) return;
      calls.push({ ...request, closed: closed.promise });
      for (const check of [...waiting]) check();
      await perform(conn, actions.shift() ?? after, request, name);
    } catch {
      // The gateway closed the connection; the test checks whether that is right.
    } finally {
      closed.resolve();
      open.delete(conn);
      try {
        conn.close();
      } catch {
        // Already closed by `close()`.
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
      actions = [...next];
      after = then;
    },
    arrival: (index) =>
      new Promise((resolve) => {
        const check = (): void => {
          const call = calls[index];
          if (call === undefined) return;
          waiting.delete(check);
          resolve(call);
        };
        waiting.add(check);
        check();
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
          // Already closed.
        }
      }
      await Promise.all(ends);
    },
    [Symbol.asyncDispose]() {
      return this.close();
    },
  };
}

type Arrived = Omit<ArrivedCall, "closed">;

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

async function perform(
  conn: Deno.Conn,
  action: Action,
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
  if (typeof action === "object" && "after" in action) {
    await action.after;
    return await perform(conn, action.action, request, name);
  }
  switch (action) {
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
      if (action === "stall") await untilGone(conn);
      return;
    case "ok":
    case "whole":
      await send(
        conn,
        isStream && action === "ok"
          ? `${STREAM_HEAD}${events.join("")}`
          : `${JSON_HEAD}content-length: ${whole.length}\r\n\r\n${whole}`,
      );
      return;
  }
  if ("inBand" in action) {
    const error = errorBody(action.inBand);
    await send(
      conn,
      isStream
        ? `${STREAM_HEAD}event: error\ndata: ${error}\n\n`
        : `${JSON_HEAD}content-length: ${error.length}\r\n\r\n${error}`,
    );
    return;
  }
  const error = errorBody("error_by_status", action.message);
  const headers = Object.entries(action.headers ?? {}).map(([key, value]) =>
    `${key}: ${value}\r\n`
  );
  await send(
    conn,
    `HTTP/1.1 ${action.status} X\r\nconnection: close\r\ncontent-type: application/json\r\n${
      headers.join("")
    }content-length: ${error.length}\r\n\r\n${
      action.cut === true ? error.slice(0, 9) : error
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

// No content length, and closed at the end: a cut connection then ends too early for the format.
const STREAM_HEAD =
  "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\n\r\n";
const JSON_HEAD =
  "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/json\r\n";

function errorBody(type: string, message = "scripted error"): string {
  return JSON.stringify({ type: "error", error: { type, message } });
}

/** Token counts that every good answer reports. */
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
