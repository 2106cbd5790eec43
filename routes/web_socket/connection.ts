/**
 * A web socket of the Responses format: several requests through one connection, each answered as
 * over HTTP, and their events as text messages. Requests of one lane run one after the other, those
 * of different lanes beside each other.
 */
import type { Caller } from "../../gateway/accounts/accounts.ts";
import type { HttpReply } from "../../gateway/http/http_reply.ts";
import { newRequestId } from "../../gateway/http/request_id.ts";
import { presentedKeys } from "../../gateway/http/presented_keys.ts";
import { noFacts } from "../../gateway/observability/call_facts.ts";
import type { OpenSocket } from "../../gateway/open_sockets.ts";
import type { ConnectionMemory } from "../../gateway/responses/recent_replies.ts";
import type { TimerId } from "../../gateway/timers.ts";
import { textIn } from "../../translate/bytes/json.ts";
import { responses } from "../../translate/formats/responses/mod.ts";
import { ApiError, invalidField } from "../../translate/model/error.ts";
import { type Frame, sseParser } from "../../translate/stream/sse.ts";
import { isAccepted } from "../account/live_stream.ts";
import type { RouteContext } from "../route.ts";
import { type ClientEvent, readClientEvent } from "./client_event.ts";
import { CLOSED } from "./close_codes.ts";
import type { RawConnection } from "./raw_upgrade.ts";
import {
  type Envelope,
  envelopeHeaders,
  errorMessage,
  message,
  steerRefusal,
} from "./server_event.ts";
import { TextSocket } from "./text_socket.ts";

/** Replies under way at once; further requests wait, as at the vendor. */
const MAX_RUNNING = 16;
/** Names of lanes, as at the vendor. */
const MAX_LANES = 32;
/** Messages that are not handled yet. */
const MAX_WAITING = 64;
/** Messages that are refused while so many wait; one more ends the connection. */
const MAX_REFUSED = 1_000;

/** Why a connection ends, and what its client receives. */
interface Ending {
  readonly code: number;
  readonly error: ApiError;
  /** False: an idle client receives the code alone. */
  readonly isSent: boolean;
}

type Creation = Extract<ClientEvent, { readonly type: "create" }>;

/** A request that waits for its turn. */
interface Waiting extends Creation {
  readonly size: number;
}

/** A connection from its handshake to its end. */
export class Connection implements OpenSocket {
  readonly keyId: string;
  readonly #context: RouteContext;
  readonly #socket: TextSocket;
  readonly #headers: Headers;
  readonly #memory: ConnectionMemory;
  readonly #lanes = new Set<string>();
  /** In order of arrival. */
  #waiting: Waiting[] = [];
  /** Aborts the replies under way, by lane. */
  readonly #running = new Map<string, AbortController>();
  /** Messages that are received and not handled, and their size. */
  #unhandled = 0;
  #unhandledBytes = 0;
  /** Messages refused since none waited. */
  #refused = 0;
  /** Handles messages in order. */
  #received: Promise<void> = Promise.resolve();
  #ending: Ending | undefined;
  #isOver = false;
  readonly #ageTimer: TimerId;

  /** Answers the handshake. The request's headers are copied: they end with its response. */
  constructor(
    context: RouteContext,
    caller: Caller,
    connection: RawConnection,
  ) {
    const { gateway, request, requestId } = context;
    const { config, timers } = gateway;
    this.keyId = caller.keyId;
    this.#context = context;
    this.#headers = new Headers(request.headers);
    this.#memory = gateway.recentReplies.connect(caller.keyId);
    gateway.sockets.add(this);
    this.#socket = new TextSocket(
      connection,
      request,
      { "request-id": requestId, "x-request-id": requestId },
      {
        maxBytes: config.maxBodyBytes,
        messageMs: config.bodyTimeoutMs,
        idleMs: config.socketIdleMs,
        slowReaderMs: config.slowReaderMs,
      },
      timers,
      {
        text: (message) => this.#onText(message),
        fault: (code, error) => this.#cut(code, error),
        closed: () => this.#closed(),
      },
    );
    this.#ageTimer = timers.set(() => this.#tooOld(), config.socketAgeMs);
  }

  async check(): Promise<void> {
    const { accounts } = this.#context.gateway;
    const keys = presentedKeys(this.#headers);
    try {
      if (await isAccepted(() => accounts.authenticate(keys))) return;
    } catch {
      // The store does not answer: nothing is known of the key.
      return;
    }
    this.#end({
      code: CLOSED.refused,
      error: new ApiError("authentication", "the key is no longer valid"),
      isSent: true,
    });
  }

  drain(): void {
    this.#end({
      code: CLOSED.goingAway,
      error: new ApiError(
        "unavailable",
        "the gateway is shutting down; open another connection",
        { retryAfterSeconds: 1 },
      ),
      isSent: false,
    });
  }

  #tooOld(): void {
    const minutes = Math.round(
      this.#context.gateway.config.socketAgeMs / 60_000,
    );
    this.#end({
      code: CLOSED.normal,
      error: new ApiError(
        "invalid_request",
        `the connection has reached its largest age (${minutes} minutes): open another one to continue`,
        { code: "websocket_connection_limit_reached", retryable: false },
      ),
      isSent: true,
    });
  }

  #onText(message: Uint8Array<ArrayBuffer>): void {
    if (this.#refused > MAX_REFUSED) return;
    if (this.#ending !== undefined) return this.#tell(this.#ending.error);
    const { maxBodyBytes } = this.#context.gateway.config;
    const { length } = message;
    if (
      this.#unhandled >= MAX_WAITING ||
      (this.#unhandled > 0 && this.#unhandledBytes + length > maxBodyBytes)
    ) {
      const error = new ApiError(
        "rate_limit",
        `too many requests wait in this connection: at most ${MAX_WAITING}, and ${maxBodyBytes} bytes`,
        { code: "too_many_waiting_requests", retryAfterSeconds: 1 },
      );
      return ++this.#refused > MAX_REFUSED
        ? this.#cut(CLOSED.refused, error)
        : this.#tell(error);
    }
    this.#unhandled++;
    this.#unhandledBytes += length;
    this.#received = this.#received.then(() => this.#handle(message));
  }

  async #handle(message: Uint8Array<ArrayBuffer>): Promise<void> {
    const event = await readClientEvent(message);
    if (this.#isOver) return;
    const size = message.length;
    switch (event.type) {
      case "create":
        return this.#queue({ ...event, size });
      case "steer":
        this.#send(steerRefusal(event.event));
        break;
      case "refused":
        await this.#refuse(event.error, event.streamId);
        break;
      case "notice":
        break;
    }
    this.#handled(size);
  }

  #handled(size: number): void {
    if (--this.#unhandled === 0) this.#refused = 0;
    this.#unhandledBytes -= size;
  }

  #queue(waiting: Waiting): void {
    const { streamId } = waiting;
    if (streamId !== undefined && !this.#lanes.has(streamId)) {
      if (this.#lanes.size >= MAX_LANES) {
        this.#handled(waiting.size);
        void this.#refuse(
          invalidField(
            "stream_id",
            `the connection has had ${MAX_LANES} of them, the most that it may: use one of them again, or open another connection`,
            "websocket_stream_limit_reached",
          ),
          streamId,
        );
        return;
      }
      this.#lanes.add(streamId);
    }
    this.#waiting.push(waiting);
    this.#startNext();
  }

  #startNext(): void {
    for (const one of [...this.#waiting]) {
      if (this.#running.size >= MAX_RUNNING) return;
      if (this.#running.has(laneOf(one))) continue;
      this.#waiting.splice(this.#waiting.indexOf(one), 1);
      void this.#run(one);
    }
  }

  /** Never rejects. */
  async #run(one: Waiting): Promise<void> {
    const lane = laneOf(one);
    const abort = new AbortController();
    this.#running.set(lane, abort);
    this.#handled(one.size);
    try {
      await this.#reply(one, this.#memory.lane(lane), abort.signal);
    } catch (error) {
      // Its end is unknown to the client: no further request may follow it.
      this.#cut(
        CLOSED.failed,
        error instanceof ApiError
          ? error
          : new ApiError("internal", "the gateway failed during the reply"),
      );
    }
    this.#running.delete(lane);
    if (this.#isOver) return;
    if (this.#ending === undefined) this.#startNext();
    else if (this.#running.size === 0) this.#finish(this.#ending);
  }

  async #reply(
    { body, generates, streamId }: Creation,
    memory: ReturnType<ConnectionMemory["lane"]>,
    signal: AbortSignal,
  ): Promise<void> {
    const previousId = textIn(body.json["previous_response_id"]);
    const { requestId, reply } = await this.#respond(
      {
        readBody: () => Promise.resolve(body),
        connection: { memory, generates },
      },
      signal,
    );
    const envelope: Envelope = {
      ...(streamId === undefined ? {} : { stream_id: streamId }),
      headers: envelopeHeaders(reply.headers, requestId),
    };
    if (reply.status === 200) {
      return await this.#stream(reply.body, envelope, signal);
    }
    // A client that does not know what has failed sends the whole conversation.
    if (previousId !== undefined) memory.forget(previousId);
    this.#send(errorMessage(reply, envelope));
  }

  /** An answer without a generation, with its entry in the log. */
  async #refuse(error: ApiError, streamId?: string): Promise<void> {
    const { requestId, reply } = await this.#respond(
      { readBody: () => Promise.reject(error) },
      new AbortController().signal,
    );
    this.#send(errorMessage(reply, {
      ...(streamId === undefined ? {} : { stream_id: streamId }),
      headers: envelopeHeaders(reply.headers, requestId),
    }));
  }

  async #respond(
    turn: NonNullable<RouteContext["turn"]>,
    signal: AbortSignal,
  ): Promise<{ readonly requestId: string; readonly reply: HttpReply }> {
    const { gateway, request: { url }, respond } = this.#context;
    const arrivedMs = gateway.now();
    const requestId = newRequestId(arrivedMs);
    const reply = await respond({
      gateway,
      request: new Request(url, {
        method: "POST",
        headers: this.#headers,
        signal,
      }),
      requestId,
      arrivedMs,
      facts: noFacts(),
      turn,
    });
    return { requestId, reply };
  }

  async #stream(
    body: HttpReply["body"],
    envelope: Envelope,
    signal: AbortSignal,
  ): Promise<void> {
    const parser = sseParser();
    const { headers: _, ...later } = envelope;
    let now = envelope;
    const send = async (frames: readonly Frame[]): Promise<void> => {
      for (const { data } of frames) {
        if (!data.startsWith("{")) continue;
        if (!this.#socket.hasRoom() && !await this.#socket.room()) {
          this.#dropSlowReader();
        }
        if (signal.aborted) return;
        this.#send(message(data, now));
        now = later;
      }
    };
    if (!(body instanceof ReadableStream)) {
      return await send(parser.push(new TextEncoder().encode(String(body))));
    }
    const reader = body.getReader();
    const stop = (): void => void reader.cancel().catch(() => {});
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop);
    try {
      for (;;) {
        const next = await reader.read().catch(() => undefined);
        // The pump, too, cuts off a client that reads too slowly.
        if (next === undefined) return this.#dropSlowReader();
        if (next.done) break;
        await send(parser.push(next.value));
      }
      await send(parser.end());
    } catch (error) {
      stop();
      throw error;
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  #end(ending: Ending): void {
    if (this.#ending !== undefined || this.#isOver) return;
    this.#ending = ending;
    for (const { streamId, size } of this.#waiting) {
      this.#handled(size);
      this.#tell(ending.error, streamId);
    }
    this.#waiting = [];
    if (this.#running.size === 0) this.#finish(ending);
  }

  #finish({ code, error, isSent }: Ending): void {
    if (isSent) this.#tell(error);
    this.#socket.close(code, error.message);
  }

  /** Ends the connection at once, with everything that is under way. */
  #cut(code: number, error: ApiError): void {
    this.#tell(error);
    this.#drop(code, error);
  }

  #drop(code: number, error: ApiError): void {
    this.#ending = { code, error, isSent: false };
    this.#socket.close(code, error.message);
    this.#waiting = [];
    this.#abortAll();
  }

  /** Sends an error without an entry in the log. */
  #tell(error: ApiError, streamId?: string): void {
    const { requestId } = this.#context;
    const { status, headers, body } = responses.encodeError(error, requestId);
    this.#send(
      errorMessage({ status, body: JSON.stringify(body) }, {
        ...(streamId === undefined ? {} : { stream_id: streamId }),
        headers,
      }),
    );
  }

  #send(text: string): void {
    if (!this.#socket.send(text)) this.#dropSlowReader();
  }

  #dropSlowReader(): void {
    this.#drop(
      CLOSED.refused,
      new ApiError("request_timeout", "the client reads too slowly"),
    );
  }

  #abortAll(): void {
    for (const abort of this.#running.values()) abort.abort();
  }

  #closed(): void {
    this.#isOver = true;
    const { sockets, timers } = this.#context.gateway;
    timers.clear(this.#ageTimer);
    this.#waiting = [];
    this.#abortAll();
    this.#memory.close();
    sockets.remove(this);
  }
}

/** The lane without a name has the one that no client can choose. */
function laneOf({ streamId = "" }: Creation): string {
  return streamId;
}
