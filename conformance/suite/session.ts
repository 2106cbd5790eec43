/**
 * The session in which a scenario makes its requests. It sends, records, masks keys, enforces the
 * caps, and joins each exchange with the requests upstream that it caused.
 */
import { KeptConnection, sendRaw } from "../clients/raw_client.ts";
import { type Ongoing, sendFetch } from "../clients/fetch_client.ts";
import {
  announcesClose,
  type Exchange,
  type Header,
} from "../evidence/exchange.ts";
import type { Redaction } from "../evidence/redaction.ts";
import type { Json, JsonObject } from "@model-gateway/replay/json";
import { FrameClient } from "../clients/frame_client.ts";
import { webSocketHandshake } from "./web_socket_handshake.ts";
import { WebSocketClient } from "../clients/web_socket_client.ts";
import type { ReplayLogEntry, ReplayServer } from "@model-gateway/replay";
import {
  bodyOf,
  costOf,
  headersOf,
  methodOf,
  pathOf,
  rawHeadOf,
  type Signature,
  type TestRequest,
} from "./test_request.ts";
import type { Budget } from "./budget.ts";
import type { ScenarioRecord } from "./evidence.ts";
import { type RateLimitWait, requestedWaitMs } from "./rate_limit.ts";
import { recordOf, upstreamCalls } from "./recorder.ts";
import type { Route, Routed, TargetProfile } from "./route.ts";

/** The target, and the settings for requests to it. */
export interface Stage {
  /** How the target is judged. */
  readonly mode: "live" | "replay";
  /** Base address without a slash at the end. */
  readonly baseUrl: string;
  /** The valid key. */
  readonly key: string;
  /** A second valid key of the same account; absent where none is given. */
  readonly otherKey?: string;
  /**
   * Silence upstream after which the target sends a sign of life; absent where it is not known.
   */
  readonly keepAliveMs?: number;
  /** Headers that every request carries, as given on the command line. */
  readonly headers?: readonly Header[];
  /** The replay upstream; absent in a live run. */
  readonly replay?: ReplayServer;
  /** Masks keys in everything that is recorded. */
  readonly redaction: Redaction;
  readonly budget: Budget;
  /** Waits when a live target limits the rate; absent: no request is repeated. */
  readonly patience?: RateLimitWait;
  /** Time limit of a request, in milliseconds. */
  readonly timeoutMs: number;
  /** Makes nonces differ between runs. */
  readonly seed: number;
  /** Sees each exchange of a request sent alone, and may end the run; absent: nothing ends it. */
  readonly watch?: Watch;
}

/** Follows the exchanges of a run. */
export interface Watch {
  see(scenario: string, exchange: Exchange): void;
  /** True when no further request is needed. */
  readonly isDecided: boolean;
}

/** The settings of a session. */
interface SessionOptions extends Stage {
  readonly scenario: string;
  /** What is known of the target. */
  readonly profile: TargetProfile;
}

/** A request in progress that a scenario controls. */
interface OngoingRequest {
  /** Resolves to true when the status line arrives, to false when it does not arrive in time. */
  headArrives(withinMs: number): Promise<boolean>;
  /**
   * Resolves to true when the body contains the text, to false when the body ends or the time
   * passes first.
   */
  bodyContains(text: string, withinMs: number): Promise<boolean>;
  disconnect(): void;
  finish(): Promise<Exchange>;
}

/** An open web socket that a scenario controls. */
export interface SocketSession {
  /** Sends messages at once; the exchange ends with as many replies. */
  turn(
    label: string,
    route: Route,
    messages: readonly JsonObject[],
  ): Promise<Exchange>;
  /** The same, while the scenario waits for parts of the replies. */
  begin(
    label: string,
    route: Route,
    messages: readonly JsonObject[],
  ): OngoingRequest;
  close(): Promise<void>;
}

/** Replaces the values of `--header` in the record: they may be secrets. */
const WITHHELD = "(as given with --header)";

/** Time limit of a slow request, as a multiple of the usual one. */
const SLOW = 6;

/** The longest wait for a part of a reply, as a multiple of a request's time limit. */
const PATIENCE = 1.5;

/** Shorter than the interval of most signs of life. */
const PROMPT_MS = 5_000;

const MAX_RETRIES = 2;
let lastNonce = 0;

export class Session {
  readonly #options: SessionOptions;
  readonly #exchanges: Exchange[] = [];
  readonly #notes: Record<string, Json> = {};
  #followsReplies = false;
  #late = false;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  /** How the target is judged. */
  get mode(): "live" | "replay" {
    return this.#options.mode;
  }

  get answered(): number {
    return this.#exchanges.filter(({ ending }) => ending !== "timeout").length;
  }

  /** What is known of the target. */
  get profile(): TargetProfile {
    return this.#options.profile;
  }

  /** The valid key; a text derived from it must go through `variant()`. */
  get key(): string {
    return this.#options.key;
  }

  /** Silence upstream after which the target sends a sign of life; 0 where it is not known. */
  get keepAliveMs(): number {
    return this.#options.keepAliveMs ?? 0;
  }

  /**
   * Longest wait for something that a correct target does at once. It grows with `--timeout`, and
   * is long enough for a busy machine; only a faulty target reaches it.
   */
  get patienceMs(): number {
    return this.#options.timeoutMs * PATIENCE;
  }

  /**
   * Longest wait for a part of a stream that the next part, or a sign of life, would push out of a
   * buffer. It does not grow when a scenario is played again.
   */
  get promptMs(): number {
    const { keepAliveMs = 0 } = this.#options;
    return keepAliveMs < PROMPT_MS
      ? PROMPT_MS
      : Math.min(PROMPT_MS, keepAliveMs / 2);
  }

  /**
   * The replay upstream.
   * @throws in a live run: a scenario that needs it has the mode `replay`
   */
  get replay(): ReplayServer {
    const { replay } = this.#options;
    if (replay === undefined) {
      throw new Error("Cannot use the replay upstream: this run is live");
    }
    return replay;
  }

  routes(endpoint: Routed): readonly Route[] {
    return this.#options.profile[endpoint];
  }

  /**
   * Marks a text that is derived from the key, so that it is masked in the record, and returns it.
   */
  variant(text: string): string {
    this.#options.redaction.hide(text, "~");
    return text;
  }

  nonce(): string {
    return `${this.#options.seed.toString(36)}-${(++lastNonce).toString(36)}`;
  }

  /**
   * The text of a user turn: the words, in a replay run with the marker of a fixture such as
   * `text?split=1`.
   */
  prompt(fixture: string, words: string, nonce: string = this.nonce()): string {
    return this.mode === "replay"
      ? `${words} [[fx:${fixture}#${nonce}]]`
      : words;
  }

  /** Records a fact that is not part of an exchange. */
  note(name: string, value: Json): void {
    this.#notes[name] = value;
  }

  /** Sends a request and records the whole exchange. */
  async send(request: TestRequest): Promise<Exchange> {
    const patience = this.mode === "live" ? this.#options.patience : undefined;
    const { watch, scenario } = this.#options;
    for (let attempt = 0, billed = true;; attempt++) {
      if (watch?.isDecided === true) throw new Error("The run is decided");
      await patience?.ready();
      const exchange = await this.#record(request, this.#open(request, billed));
      const status = exchange.head?.status ?? 0;
      if (patience !== undefined && status === 429) {
        // A rate-limited call is not billed: only the request counts.
        billed = false;
        patience.limited(exchange, attempt);
        continue;
      }
      const busy = status === 503 || status === 529;
      if (patience === undefined || !busy || attempt >= MAX_RETRIES) {
        this.#exchanges.push(exchange);
        watch?.see(scenario, exchange);
        return this.#watched(exchange);
      }
      const ms = Math.min(
        requestedWaitMs(exchange) ?? 1000 * 2 ** attempt,
        30_000,
      );
      await new Promise((resolve) => setTimeout(resolve, ms));
    }
  }

  /**
   * Sends raw requests over one connection, each after the reply to the previous one, until a reply
   * announces that the connection closes.
   */
  async sendInTurn(
    requests: readonly TestRequest[],
  ): Promise<readonly Exchange[]> {
    this.#followsReplies = true;
    const kept = new KeptConnection();
    const exchanges: Exchange[] = [];
    for (const request of requests.map((each) => ({ ...each, keeps: true }))) {
      await this.#options.patience?.ready();
      const exchange = await this.#record(
        request,
        this.#open(request, true, kept),
      );
      exchanges.push(exchange);
      this.#exchanges.push(exchange);
      if (exchange.ending !== "complete" || announcesClose(exchange)) break;
    }
    kept.close();
    return exchanges;
  }

  /** Sends a request and lets the scenario wait for parts of the reply, or disconnect. */
  begin(request: TestRequest): OngoingRequest {
    this.#followsReplies = true;
    return this.#controlled(request, this.#open(request));
  }

  #controlled(request: TestRequest, ongoing: Ongoing): OngoingRequest {
    let finished: Promise<Exchange> | undefined;
    const finish = async (): Promise<Exchange> => {
      const exchange = await this.#record(request, ongoing);
      this.#exchanges.push(exchange);
      return exchange;
    };
    return {
      headArrives: (withinMs) =>
        this.#noteLate(ongoing.transfer.headArrives(withinMs)),
      bodyContains: (text, withinMs) =>
        this.#noteLate(ongoing.transfer.bodyContains(text, withinMs)),
      disconnect: () => ongoing.disconnect(),
      finish: () => finished ??= finish(),
    };
  }

  /**
   * Opens a web socket of the Responses format.
   * @throws when the handshake fails, which stops the scenario
   */
  async openSocket(): Promise<SocketSession> {
    this.#followsReplies = true;
    const { baseUrl, budget, timeoutMs } = this.#options;
    const one: TestRequest = { label: "", endpoint: "responses" };
    budget.take({ requests: 1, inputTokens: 0, outputTokens: 0 });
    const client = await WebSocketClient.open(
      `${baseUrl.replace(/^http/, "ws")}${pathOf(one)}`,
      Object.fromEntries(headersOf(one, this.#signature(one))),
      timeoutMs,
    );
    const begin = (
      label: string,
      route: Route,
      messages: readonly JsonObject[],
    ): OngoingRequest => {
      const texts = messages.map((message) => JSON.stringify(message));
      const request: TestRequest = {
        ...one,
        label,
        route,
        body: { text: texts.join("\n") },
      };
      const calls = messages.some(({ type }) => type === "response.create");
      budget.take(costOf(request, calls ? bodyOf(request) : undefined));
      return this.#controlled(
        { ...request, method: "GET" },
        client.turn(texts),
      );
    };
    return {
      begin,
      turn: (label, route, messages) => begin(label, route, messages).finish(),
      close: () => client.close(),
    };
  }

  /**
   * Opens a web socket whose frames the scenario writes.
   * @throws when the handshake fails, which stops the scenario
   */
  async openFrames(): Promise<FrameClient> {
    const { baseUrl, budget, key, timeoutMs } = this.#options;
    const handshake = webSocketHandshake(key);
    budget.take({ requests: 1, inputTokens: 0, outputTokens: 0 });
    const url = new URL(baseUrl + pathOf(handshake));
    return await FrameClient.open(
      url,
      rawHeadOf(handshake, url, undefined, this.#signature(handshake)),
      timeoutMs,
    );
  }

  /** Counts a turn that a scenario sends in frames of its own. */
  takeTurn(inputTokens: number, outputTokens: number): void {
    this.#options.budget.take({ requests: 1, inputTokens, outputTokens });
  }

  /**
   * The request log's entry of a nonce as soon as it exists; undefined when it does not appear in
   * time.
   */
  async logEntryOf(
    nonce: string,
    withinMs: number,
  ): Promise<ReplayLogEntry | undefined> {
    return await this.#noteLate(within(
      this.replay.requestLog.waitForNonce(nonce).catch(() => undefined),
      withinMs,
    ));
  }

  /** How the upstream exchange of a nonce ended; undefined while it lasts. */
  async upstreamEnding(
    nonce: string,
    withinMs: number,
  ): Promise<string | undefined> {
    const entry = await this.logEntryOf(nonce, withinMs);
    return entry === undefined
      ? undefined
      : await this.#noteLate(within(entry.ended, withinMs));
  }

  /** Notes that something did not come in time. */
  async #noteLate<T>(waiting: Promise<T>): Promise<T> {
    const came = await waiting;
    if (came === false || came === undefined) this.#late = true;
    return came;
  }

  /** The record of the scenario; upstream calls are read from the request log now. */
  finish(stopped?: string): ScenarioRecord {
    const { replay, redaction } = this.#options;
    return {
      scenario: this.#options.scenario,
      exchanges: this.#exchanges.map((exchange) => ({
        ...exchange,
        upstream: upstreamCalls(replay, exchange, redaction),
      })),
      notes: this.#notes,
      ...(this.#followsReplies ? { followsReplies: true } : {}),
      ...(stopped === undefined ? {} : { stopped }),
      ...(this.#late ? { late: true } : {}),
    };
  }

  /** The exchange for the scenario; it notes that the scenario reads it. */
  #watched(exchange: Exchange): Exchange {
    return new Proxy(exchange, {
      get: (target, name) => {
        // A promise asks whether its value has a method `then`.
        if (name !== "then") this.#followsReplies = true;
        return Reflect.get(target, name);
      },
    });
  }

  #signature({ by }: TestRequest): Signature {
    const { key, otherKey, headers } = this.#options;
    const given = headers === undefined ? {} : { headers };
    if (by === undefined) return { key, ...given };
    if (otherKey === undefined) {
      throw new Error("Cannot sign with the other key: none is given");
    }
    return { key: otherKey, ...given };
  }

  #open(
    request: TestRequest,
    billed: boolean = true,
    kept?: KeptConnection,
  ): Ongoing {
    const { budget, baseUrl } = this.#options;
    const timeoutMs = this.#options.timeoutMs *
      (request.slow === true ? SLOW : 1);
    const body = bodyOf(request);
    const cost = costOf(request, body);
    budget.take(billed ? cost : { ...cost, inputTokens: 0, outputTokens: 0 });
    const method = methodOf(request);
    const url = new URL(baseUrl + pathOf(request));
    if (request.rawLines === undefined) {
      const headers = headersOf(request, this.#signature(request));
      return sendFetch({ url: url.href, method, headers, body, timeoutMs });
    }
    return sendRaw({
      origin: url,
      head: rawHeadOf(request, url, body, this.#signature(request)),
      body: body ?? new Uint8Array(),
      timeoutMs,
      ...(kept === undefined ? {} : { kept }),
    });
  }

  async #record(request: TestRequest, ongoing: Ongoing): Promise<Exchange> {
    const { scenario, redaction, baseUrl, replay } = this.#options;
    const { key } = this.#signature(request);
    const body = bodyOf(request);
    const path = pathOf(request);
    const received = await ongoing.received;
    const shown = {
      key,
      headers:
        this.#options.headers?.map(([name]): Header => [name, WITHHELD]) ??
          [],
    };
    const exchange = recordOf({
      label: request.label,
      scenario,
      endpoint: request.endpoint,
      via: request.route?.via,
      request: {
        client: request.rawLines === undefined ? "fetch" : "raw",
        method: methodOf(request),
        path,
        headers: headersOf(request, shown),
        body: body === undefined ? "" : new TextDecoder().decode(body),
        ...(request.rawLines === undefined ? {} : {
          rawHead: rawHeadOf(request, new URL(baseUrl + path), body, shown),
        }),
      },
      received,
      redaction,
    });
    return {
      ...exchange,
      upstream: upstreamCalls(replay, exchange, redaction),
    };
  }
}

/** The value of a promise, or undefined when it does not settle in time. */
async function within<T>(
  promise: Promise<T>,
  ms: number,
): Promise<T | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), ms);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
