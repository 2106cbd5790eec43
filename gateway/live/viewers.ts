/**
 * The open connections of the live list: how many there may be, what each is sent, and when it
 * ends. A viewer that does not read is sent nothing more and is dropped: nothing queues up.
 */
import { ApiError } from "../../translate/model/error.ts";
import { nextTurn } from "../accounts/next_turn.ts";
import type { AccountScope } from "../admin/account_scope.ts";
import type { LivePicture, SeenTurns } from "./live_picture.ts";

/** Who looks, and how it is sent. */
export interface ViewerOptions {
  /** The session or credential: its connections are counted. */
  readonly visitor: string;
  /** What may be seen; empty for an operator. */
  readonly scope: Partial<AccountScope>;
  /**
   * Whether the session or credential is still valid. A rejection is no answer: the store does not
   * reply.
   */
  readonly check: () => Promise<boolean>;
  /** The picture as the data of an event. */
  readonly render: (picture: LivePicture) => string;
}

const MAX_VIEWERS = 20;
/** Most viewers of accounts; the rest of the places is for operators. */
const MAX_OF_ACCOUNTS = 16;
const MAX_OF_ACCOUNT = 8;
const MAX_OF_VISITOR = 4;
/** Viewers whose events are rendered in one turn of the event loop: a millisecond or two each. */
const VIEWERS_AT_ONCE = 4;
/** A viewer that leaves an event unread for this long is dropped. */
const SLOW_MS = 15_000;
/** Milliseconds after which a browser connects again. */
const RETRY_MS = 3000;

const encoder = new TextEncoder();

interface Viewer extends ViewerOptions {
  readonly seen: SeenTurns;
  controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  /** When the last event was sent. */
  sentMs: number;
  checking: boolean;
}

export class Viewers {
  readonly #now: () => number;
  readonly #viewers = new Set<Viewer>();

  /** `now` returns the Unix time in milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Number of open connections. */
  get count(): number {
    return this.#viewers.size;
  }

  /**
   * Opens an event stream.
   *
   * @throws {ApiError} `rate_limit` if there are too many
   */
  open(options: ViewerOptions): ReadableStream<Uint8Array> {
    this.#assertRoom(options);
    const nowMs = this.#now();
    const viewer: Viewer = {
      ...options,
      seen: new Map(),
      sentMs: nowMs,
      controller: undefined,
      checking: false,
    };
    this.#viewers.add(viewer);
    return new ReadableStream<Uint8Array>({
      start: (controller) => {
        viewer.controller = controller;
        controller.enqueue(encoder.encode(`retry: ${RETRY_MS}\n\n`));
      },
      cancel: () => {
        this.#viewers.delete(viewer);
      },
      // An event waits for the client only while nothing else does.
    }, { highWaterMark: 2 });
  }

  /** Sends each viewer what it may see, and ends those whose session has ended. */
  async send(
    pictureFor: (
      scope: Partial<AccountScope>,
      seen: SeenTurns,
    ) => LivePicture,
  ): Promise<void> {
    const nowMs = this.#now();
    for (const [at, viewer] of [...this.#viewers].entries()) {
      if (at > 0 && at % VIEWERS_AT_ONCE === 0) await nextTurn();
      const { controller } = viewer;
      if (controller === undefined || !this.#viewers.has(viewer)) continue;
      if ((controller.desiredSize ?? 0) <= 0) {
        if (nowMs - viewer.sentMs >= SLOW_MS) {
          this.#viewers.delete(viewer);
          controller.error(new Error("the client reads too slowly"));
        }
        continue;
      }
      viewer.sentMs = nowMs;
      const data = viewer.render(pictureFor(viewer.scope, viewer.seen));
      controller.enqueue(encoder.encode(`event: calls\ndata: ${data}\n\n`));
      void this.#check(viewer);
    }
  }

  /** Ends every connection. */
  endAll(): void {
    for (const viewer of [...this.#viewers]) this.#end(viewer, "shutdown");
  }

  async #check(viewer: Viewer): Promise<void> {
    if (viewer.checking) return;
    viewer.checking = true;
    try {
      if (!await viewer.check()) this.#end(viewer, "signed_out");
    } catch {
      // While the store is down, what is shown is in this process's memory.
    } finally {
      viewer.checking = false;
    }
  }

  #end(viewer: Viewer, reason: string): void {
    if (!this.#viewers.delete(viewer)) return;
    viewer.controller?.enqueue(
      encoder.encode(`event: end\ndata: ${JSON.stringify({ reason })}\n\n`),
    );
    viewer.controller?.close();
  }

  #assertRoom({ visitor, scope: { accountId } }: ViewerOptions): void {
    const all = [...this.#viewers];
    const ofAccounts = all.filter(({ scope }) => scope.accountId !== undefined);
    const isFull = all.length >= MAX_VIEWERS ||
      all.filter((one) => one.visitor === visitor).length >= MAX_OF_VISITOR ||
      accountId !== undefined &&
        (ofAccounts.length >= MAX_OF_ACCOUNTS ||
          ofAccounts.filter(({ scope }) => scope.accountId === accountId)
              .length >= MAX_OF_ACCOUNT);
    if (!isFull) return;
    throw new ApiError(
      "rate_limit",
      `too many live lists are open: at most ${MAX_OF_VISITOR} of a session or credential, ${MAX_OF_ACCOUNT} of an account and ${MAX_VIEWERS} of a process; close one`,
      { code: "too_many_live_lists", retryAfterSeconds: 5 },
    );
  }
}
