/**
 * Delivers webhooks in the background: looks for due messages in the store, sends them, and
 * retries with growing pauses. Calls never wait for it.
 *
 * Of each account one message at a time is sent. So a receiver that does not answer keeps only its
 * own account's messages waiting; those of other accounts wait only while `MAX_SENDING` receivers
 * are slow for the first time. From then on slow receivers take at most `MAX_SLOW` of the places.
 *
 * Before a process sends a message it moves the message's due time to that of the next
 * attempt, in one write. So no other process sends it at the same time, and if this one dies
 * the message is sent again later, with the same id.
 */
import {
  claimMessages,
  type DueMessage,
  endMessage,
  failMessage,
} from "../rows/webhook_rows.ts";
import type { Store } from "../store/store.ts";
import { startRounds } from "../rounds.ts";
import type { Timer } from "../timer.ts";
import type { PostWebhook } from "./post_webhook.ts";

interface DeliveryOptions {
  readonly store: Store;
  /** Current Unix time in milliseconds. */
  readonly now: () => number;
  /** Waits between two looks at the store. */
  readonly timer: Timer;
  /** Sends a message. */
  readonly post: PostWebhook;
  /** Called when a message is given up, after its last attempt. */
  readonly onGivenUp: (message: DueMessage, reason: string) => void;
}

export interface Deliveries {
  /** Sends the messages that are due. */
  deliver(): Promise<void>;
  /** Stops, and aborts what is being sent: another process, or the next start, sends it again. */
  stop(): Promise<void>;
}

const INTERVAL_MS = 5000;
/** Messages that a process sends at a time. */
const MAX_SENDING = 50;
/** Receivers whose last attempt was slow get a message while fewer than this many are sent. */
const MAX_SLOW = 25;
const SLOW_MS = 1000;

/** Pauses between the attempts; a message is given up after the attempt that follows the last. */
export const RETRY_PAUSES_MS: readonly number[] = [
  30_000,
  120_000,
  600_000,
  3_600_000,
  4 * 3_600_000,
  12 * 3_600_000,
];

/** Looks for due messages every five seconds until it is stopped. */
export function startDeliveries(options: DeliveryOptions): Deliveries {
  const { store, now, timer, post } = options;
  const stopping = new AbortController();
  /** What is being sent, by account. */
  const sending = new Map<string, Promise<void>>();
  /** Accounts whose last attempt was slow. */
  const slow = new Set<string>();
  let looking: Promise<void> = Promise.resolve();

  const send = async (message: DueMessage): Promise<void> => {
    const { id, accountId, body, secret, url } = message;
    const begunMs = now();
    const reason = secret === undefined
      ? "its secret was sealed with another key: set the webhook again"
      : await post(
        { id, body, atMs: begunMs },
        { url, secret },
        stopping.signal,
      );
    if (stopping.signal.aborted && reason !== undefined) return;
    if (now() - begunMs >= SLOW_MS) slow.add(accountId);
    else slow.delete(accountId);
    const isLast = message.attempts > RETRY_PAUSES_MS.length;
    if (reason !== undefined && !isLast) {
      await failMessage(store, id, reason);
      return;
    }
    await endMessage(store, message, now(), reason);
    if (reason !== undefined) options.onGivenUp(message, reason);
  };
  /** Begins to send what is due, except for the accounts `later`; at most `most` at a time. */
  const sendDue = async (
    later: Iterable<string>,
    most: number,
  ): Promise<void> => {
    const free = most - sending.size;
    if (free <= 0 || stopping.signal.aborted) return;
    const messages = await claimMessages(
      store,
      now(),
      RETRY_PAUSES_MS,
      [...sending.keys(), ...later],
      free,
    );
    for (const message of messages) {
      const { accountId } = message;
      const sent = send(message)
        .finally(() => sending.delete(accountId))
        .then(look)
        .catch(() => {});
      sending.set(accountId, sent);
    }
  };
  /**
   * Begins to send what is due. One look runs at a time: a second one would take another message of
   * an account whose message the first is taking. While the store does not answer, nothing is lost:
   * the messages are in it.
   */
  const look = (): Promise<void> => {
    const mine = looking.then(async () => {
      await sendDue(slow, MAX_SENDING);
      if (slow.size > 0) await sendDue([], MAX_SLOW);
    });
    looking = mine.catch(() => {});
    return mine;
  };
  const deliver = async (): Promise<void> => {
    await look();
    while (sending.size > 0) await Promise.all(sending.values());
  };
  const rounds = startRounds(timer, INTERVAL_MS, async () => {
    await look().catch(() => {});
    return INTERVAL_MS;
  });
  return {
    deliver,
    async stop() {
      stopping.abort();
      await rounds.stop();
      await looking;
      await Promise.all(sending.values());
    },
  };
}
