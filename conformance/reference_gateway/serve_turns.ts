/** Turns through a web socket: each is handled as the same request over HTTP. */
import type { Socket } from "node:net";
import {
  isObject,
  type JsonObject,
  objectOf,
  parseJson,
} from "@model-gateway/replay/json";
import type { ReplayRequest } from "@model-gateway/replay/script";
import type { Arrived } from "./connection.ts";
import type { Context, Hooks, Writer } from "./hooks.ts";
import { problemBody, problemOf } from "./problems.ts";
import { StoredResponses } from "./stored_responses.ts";
import { acceptOf, speakWebSocket } from "./web_socket.ts";
import { requestIds } from "./formats/write_reply.ts";

/** Handles a request, with the replies that it may continue. */
type Handle = (arrived: Arrived, stored: StoredResponses) => Promise<void>;

/** Replies that a connection remembers, beside those that are kept for all. */
class ConnectionResponses extends StoredResponses {
  readonly #kept: StoredResponses;

  constructor(kept: StoredResponses) {
    super();
    this.#kept = kept;
  }

  override expand(body: JsonObject, owner: string): JsonObject {
    try {
      return super.expand(body, owner);
    } catch {
      return this.#kept.expand(body, owner);
    }
  }

  override keep(asked: JsonObject, reply: JsonObject, owner: string): void {
    super.keep(asked, { ...reply, store: true }, owner);
    this.#kept.keep(asked, reply, owner);
  }
}

/** Accepts the handshake of a request and answers its turns, one after another. */
export function serveTurns(
  socket: Socket,
  x: Context,
  hooks: Hooks,
  kept: StoredResponses,
  handle: Handle,
): void {
  const { headers } = x.request;
  const left = new AbortController();
  const key = headers["sec-websocket-key"] ?? "";
  const lines = Object.entries({
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-accept": acceptOf(hooks.handshake?.(key, x) ?? key),
    ...requestIds(),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join("")}\r\n`);
  const remembered = hooks.remembers?.(x) === false
    ? kept
    : new ConnectionResponses(kept);
  let turns: Promise<void> = Promise.resolve();
  const send = speakWebSocket(socket, {
    closed: () => {
      if (hooks.hangUpCancels?.(x) !== false) left.abort();
    },
    text: (message) => {
      const answer = (): Promise<void> =>
        turn(
          message,
          x.request,
          left.signal,
          say,
          (arrived) => handle(arrived, remembered),
        );
      turns = hooks.inOrder?.(x) === false
        ? Promise.all([turns, answer()]).then(() => {})
        : turns.then(answer);
    },
  }, hooks.frames);
  const say = (event: JsonObject): void => {
    const changed = hooks.message?.(event, x);
    for (const each of changed ?? [event]) {
      send(typeof each === "string" ? each : JSON.stringify(each));
    }
    if (hooks.endsAfter?.(event) === true) socket.end();
  };
}

async function turn(
  message: string,
  request: ReplayRequest,
  left: AbortSignal,
  say: (event: JsonObject) => void,
  handle: (arrived: Arrived) => Promise<void>,
): Promise<void> {
  const event = parseJson(message);
  const { type, ...body } = objectOf(event);
  if (type === "response.steer") {
    return say({
      type: "response.steer.failed",
      sequence_number: 0,
      error: {
        type: "invalid_request_error",
        code: "steering_not_supported",
        message: "A reply cannot be steered here",
      },
    });
  }
  if (type !== "response.create") {
    const problem = problemOf(400, "type: must be response.create", {
      param: "type",
    });
    return say({ ...problemBody(problem), status: 400 });
  }
  const asked = body["generate"] === false ? { input: [], ...body } : body;
  const { "upgrade": _, ...headers } = request.headers;
  await handle({
    request: {
      ...request,
      method: "POST",
      headers,
      body: JSON.stringify({ ...asked, stream: true }),
    },
    badStatus: 0,
    writer: eventWriter(say),
    left,
  });
}

/** Writes a reply as events: the frames of a stream, or the error in place of one. */
function eventWriter(say: (event: JsonObject) => void): Writer {
  let status = 200;
  let headers: Readonly<Record<string, string>> = {};
  return {
    head: (given, all) => {
      status = given;
      headers = all;
    },
    piece: (bytes) => {
      const text = new TextDecoder().decode(bytes);
      // A frame's data follows its name; an error is JSON alone.
      const event = parseJson(text.replace(/^(event: .*\n)?data: /, ""));
      if (!isObject(event)) return;
      const after = headers["retry-after"];
      say(
        status === 200 ? event : {
          ...event,
          type: "error",
          status,
          headers: after === undefined ? {} : { "retry-after": after },
        },
      );
    },
    end: () => {},
    reset: () => {},
  };
}
