/**
 * The place where a scenario makes its requests. It sends, records, hides keys, counts against the caps, and joins each
 * exchange with what the target sent to the replay upstream for it.
 */
import { sendRaw } from "../clients/raw_client.ts";
import { type Ongoing, sendFetch } from "../clients/fetch_client.ts";
import type { Exchange, Header } from "../evidence/exchange.ts";
import type { Redaction } from "../evidence/redaction.ts";
import type { Json } from "../replay/json.ts";
import type { JournalEntry, ReplayServer } from "../replay.ts";
import {
  type Ask,
  bodyOf,
  costOf,
  headersOf,
  methodOf,
  pathOf,
  rawHeadOf,
} from "./ask.ts";
import type { Budget } from "./budget.ts";
import type { ScenarioRecord } from "./evidence.ts";
import { type Patience, waitAskedMs } from "./patience.ts";
import { recordOf, upstreamCalls } from "./recorder.ts";
import type { Route, TargetProfile } from "./scenario.ts";

export type { Ask };

/** What a lab works with. */
export interface LabOptions {
  /** Name of the scenario. */
  readonly scenario: string;
  /** How the target is judged. */
  readonly mode: "live" | "replay";
  /** Base address without a slash at the end. */
  readonly baseUrl: string;
  /** The valid key. */
  readonly key: string;
  /** Headers that every request carries, as given on the command line. */
  readonly headers?: readonly Header[];
  /** What is known of the target. */
  readonly profile: TargetProfile;
  /** The replay upstream; absent in a live run. */
  readonly replay?: ReplayServer;
  /** What hides keys. */
  readonly redaction: Redaction;
  /** The caps. */
  readonly budget: Budget;
  /** What waits where a live target limits the rate; absent, nothing is asked again. */
  readonly patience?: Patience;
  /** A request may last so long. */
  readonly timeoutMs: number;
  /** Makes nonces differ between runs. */
  readonly seed: number;
}

/** A request under way that a scenario steers. */
export interface Underway {
  /** True as soon as the status line is there; false when it does not come in time. */
  answers(withinMs: number): Promise<boolean>;
  /** True as soon as the body holds the text; false when it ends or the time passes first. */
  shows(text: string, withinMs: number): Promise<boolean>;
  /** Closes the connection. */
  hangUp(): void;
  /** The finished exchange. */
  finish(): Promise<Exchange>;
}

/** Stands in the record for the values of given headers: they may hold secrets. */
const UNTOLD = "(as given with --header)";

/** A slow request may last so many times as long as others. */
const SLOW = 6;

const MAX_RETRIES = 2;
let lastNonce = 0;

/** Makes the requests of one scenario. */
export class Lab {
  readonly #options: LabOptions;
  readonly #exchanges: Exchange[] = [];
  readonly #notes: Record<string, Json> = {};

  /** Opens a lab for one scenario. */
  constructor(options: LabOptions) {
    this.#options = options;
  }

  /** How the target is judged. */
  get mode(): "live" | "replay" {
    return this.#options.mode;
  }

  /** What is known of the target. */
  get profile(): TargetProfile {
    return this.#options.profile;
  }

  /** The valid key; whatever is made from it must go through `variant()`. */
  get key(): string {
    return this.#options.key;
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

  /** The routes of an endpoint. */
  routes(endpoint: "messages" | "chat"): readonly Route[] {
    return this.#options.profile[endpoint];
  }

  /** A text made from the key, hidden in the record as the key is. */
  variant(text: string): string {
    this.#options.redaction.hide(text, "~");
    return text;
  }

  /** A nonce that no other request has. */
  nonce(): string {
    return `${this.#options.seed.toString(36)}-${(++lastNonce).toString(36)}`;
  }

  /** The words of a user turn: in a replay run the marker of a fixture, such as `text?split=1`, otherwise the plain words. */
  prompt(fixture: string, words: string, nonce: string = this.nonce()): string {
    return this.mode === "replay"
      ? `${words} [[fx:${fixture}#${nonce}]]`
      : words;
  }

  /** Keeps a fact beside the exchanges. */
  note(name: string, value: Json): void {
    this.#notes[name] = value;
  }

  /** Sends a request and records the whole exchange. */
  async send(ask: Ask): Promise<Exchange> {
    const patience = this.mode === "live" ? this.#options.patience : undefined;
    for (let attempt = 0, billed = true;; attempt++) {
      await patience?.ready();
      const exchange = await this.#record(ask, this.#open(ask, billed));
      const status = exchange.head?.status ?? 0;
      if (patience !== undefined && status === 429) {
        // What was limited was not billed: only the request counts.
        billed = false;
        patience.limited(exchange, attempt);
        continue;
      }
      const busy = status === 503 || status === 529;
      if (patience === undefined || !busy || attempt >= MAX_RETRIES) {
        this.#exchanges.push(exchange);
        return exchange;
      }
      const ms = Math.min(waitAskedMs(exchange) ?? 1000 * 2 ** attempt, 30_000);
      await new Promise((resolve) => setTimeout(resolve, ms));
    }
  }

  /** Sends a request and leaves it to the scenario to wait for parts of the reply, or to hang up. */
  begin(ask: Ask): Underway {
    const ongoing = this.#open(ask);
    let finished: Promise<Exchange> | undefined;
    const finish = async (): Promise<Exchange> => {
      const exchange = await this.#record(ask, ongoing);
      this.#exchanges.push(exchange);
      return exchange;
    };
    return {
      answers: (withinMs) => ongoing.transfer.answers(withinMs),
      shows: (text, withinMs) => ongoing.transfer.shows(text, withinMs),
      hangUp: () => ongoing.hangUp(),
      finish: () => finished ??= finish(),
    };
  }

  /** The journal entry of a nonce as soon as it is there; undefined when it does not come in time. */
  async arrived(
    nonce: string,
    withinMs: number,
  ): Promise<JournalEntry | undefined> {
    return await within(
      this.replay.journal.waitForNonce(nonce).catch(() => undefined),
      withinMs,
    );
  }

  /** How the upstream exchange of a nonce ended; undefined when it still lasts. */
  async upstreamEnding(
    nonce: string,
    withinMs: number,
  ): Promise<string | undefined> {
    const entry = await this.arrived(nonce, withinMs);
    return entry === undefined
      ? undefined
      : await within(entry.ended, withinMs);
  }

  /** The record of the scenario; upstream calls are read now. */
  finish(stopped?: string): ScenarioRecord {
    const { replay, redaction } = this.#options;
    return {
      scenario: this.#options.scenario,
      exchanges: this.#exchanges.map((exchange) => ({
        ...exchange,
        upstream: upstreamCalls(replay, exchange, redaction),
      })),
      notes: this.#notes,
      ...(stopped === undefined ? {} : { stopped }),
    };
  }

  #open(ask: Ask, billed: boolean = true): Ongoing {
    const { budget, baseUrl } = this.#options;
    const timeoutMs = this.#options.timeoutMs * (ask.slow === true ? SLOW : 1);
    const body = bodyOf(ask);
    const cost = costOf(ask, body);
    budget.take(
      billed ? cost : { ...cost, inputTokens: 0, outputTokens: 0 },
    );
    const method = methodOf(ask);
    const url = new URL(baseUrl + pathOf(ask));
    if (ask.rawLines === undefined) {
      const headers = headersOf(ask, this.#options);
      return sendFetch({ url: url.href, method, headers, body, timeoutMs });
    }
    return sendRaw({
      origin: url,
      head: rawHeadOf(ask, url, body, this.#options),
      body: body ?? new Uint8Array(),
      timeoutMs,
    });
  }

  async #record(ask: Ask, ongoing: Ongoing): Promise<Exchange> {
    const { scenario, redaction, baseUrl, replay, key } = this.#options;
    const body = bodyOf(ask);
    const path = pathOf(ask);
    const received = await ongoing.received;
    const shown = {
      key,
      headers: this.#options.headers?.map(([name]): Header => [name, UNTOLD]) ??
        [],
    };
    const exchange = recordOf({
      label: ask.label,
      scenario,
      endpoint: ask.endpoint,
      via: ask.route?.via,
      request: {
        client: ask.rawLines === undefined ? "fetch" : "raw",
        method: methodOf(ask),
        path,
        headers: headersOf(ask, shown),
        body: body === undefined ? "" : new TextDecoder().decode(body),
        ...(ask.rawLines === undefined ? {} : {
          rawHead: rawHeadOf(ask, new URL(baseUrl + path), body, shown),
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
