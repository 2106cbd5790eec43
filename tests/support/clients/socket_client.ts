/**
 * A client of the Responses format over a web socket.
 */
import assert from "node:assert/strict";
import { type JsonObject, objectOr } from "../../../translate/bytes/json.ts";
import { TEST_KEY } from "../test_key.ts";
import { withTimeout } from "../with_timeout.ts";

type Close = Pick<CloseEvent, "code" | "reason">;

export interface SocketClient extends AsyncDisposable {
  readonly socket: WebSocket;
  readonly closed: Promise<Close>;
  /** Sends an event; a string or bytes are sent as they are. */
  send(event: JsonObject | string | Uint8Array<ArrayBuffer>): void;
  next(): Promise<JsonObject>;
  /** The next event that is wanted; those before it are dropped. */
  until(wanted: (event: JsonObject) => boolean): Promise<JsonObject>;
  /** Sends `response.create`, and returns the events up to the end of the reply. */
  create(fields: JsonObject): Promise<readonly JsonObject[]>;
  close(): Promise<void>;
}

const ENDS: ReadonlySet<unknown> = new Set([
  "error",
  "response.completed",
  "response.incomplete",
  "response.failed",
]);

export async function openSocket(
  url: string,
  headers: Readonly<Record<string, string>> = {
    authorization: `Bearer ${TEST_KEY}`,
  },
): Promise<SocketClient> {
  const socket = new WebSocket(
    `${url.replace(/^http/, "ws")}/v1/responses`,
    { headers: { ...headers } },
  );
  const events: JsonObject[] = [];
  let wake = (): void => {};
  const closed = Promise.withResolvers<Close>();
  const opened = Promise.withResolvers<void>();
  let isClosed = false;
  socket.onopen = () => opened.resolve();
  socket.onerror = () => opened.reject(new Error("the socket failed"));
  socket.onmessage = ({ data }) => {
    events.push(JSON.parse(data));
    wake();
  };
  socket.onclose = ({ code, reason }) => {
    isClosed = true;
    closed.resolve({ code, reason });
    wake();
  };
  await withTimeout(opened.promise, "the handshake");
  const next = async (): Promise<JsonObject> => {
    for (;;) {
      const event = events.shift();
      if (event !== undefined) return event;
      assert.ok(!isClosed, "the connection is closed");
      await withTimeout(
        new Promise<void>((resolve) => wake = resolve),
        "an event",
      );
    }
  };
  const send: SocketClient["send"] = (event) =>
    socket.send(
      typeof event === "string" || event instanceof Uint8Array
        ? event
        : JSON.stringify(event),
    );
  const close = async (): Promise<void> => {
    socket.close();
    await withTimeout(closed.promise, "the end of the connection");
  };
  return {
    socket,
    closed: closed.promise,
    send,
    next,
    async until(wanted) {
      for (;;) {
        const event = await next();
        if (wanted(event)) return event;
      }
    },
    async create(fields) {
      send({ type: "response.create", ...fields });
      const reply: JsonObject[] = [];
      do reply.push(await next()); while (!ENDS.has(reply.at(-1)?.["type"]));
      return reply;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The reply that the last of these events repeats. */
export function replyIn(events: readonly JsonObject[]): JsonObject {
  return objectOr(events.at(-1)?.["response"]);
}
