/**
 * Decodes an upstream's reply into neutral events: the frames of a stream one by one, or a whole
 * reply. This module handles the beginning, the end and the failures of a reply; `item_reader.ts`
 * handles its items.
 */
import type { DecodeContext } from "../../dialect.ts";
import { ApiError } from "../../model/error.ts";
import {
  arrayOr,
  countIn,
  isObject,
  type JsonObject,
  objectOr,
  textIn,
} from "../../bytes/json.ts";
import type { ReplyEvent } from "../../model/reply.ts";
import { inBandError } from "./error.ts";
import { itemReader } from "./item_reader.ts";
import { decodeIncomplete } from "./stop_reason.ts";
import { usageOf } from "./usage.ts";
import {
  cutStream,
  unknownEnd,
  unreadableReply,
} from "../../model/reply_faults.ts";

/** Converts data to events. After `end` or `error` it returns no more events. */
interface ReplyReader {
  /** The events of one frame's data. `event` is the name in its event line. */
  read(data: JsonObject, event: string | undefined): readonly ReplyEvent[];
  /** The events of a delta like the one before, with another text. */
  more(text: string): readonly ReplyEvent[];
  /** The text so far of the item that was read last, if it is incomplete. */
  partialText(): string;
  whole(reply: JsonObject): readonly ReplyEvent[];
  /** The `error` event; nothing if the reply has already ended. */
  fail(error: ApiError): readonly ReplyEvent[];
  /** Called when the body ends. Returns an error event unless the reply was complete. */
  end(): readonly ReplyEvent[];
}

/** Statuses that take precedence over the type of a `completed` event. */
const OVERRIDING_STATUSES: ReadonlySet<string> = new Set([
  "incomplete",
  "failed",
  "cancelled",
]);

/** Statuses of a complete reply. The first is the format's, the others are hosts'. */
const COMPLETE: ReadonlySet<string> = new Set([
  "completed",
  "complete",
  "done",
  "succeeded",
  "success",
]);

/**
 * Statuses of a reply that has failed or is not there yet. Any other unknown word marks an
 * incomplete reply.
 */
const UNFINISHED: ReadonlySet<string> = new Set([
  "failed",
  "cancelled",
  "canceled",
  "error",
  "expired",
  "queued",
  "in_progress",
]);

export function replyReader(context: DecodeContext): ReplyReader {
  let events: ReplyEvent[] = [];
  /**
   * The reply as its first frames describe it. No event is emitted for them yet: an error may
   * follow, which can then still be sent as an HTTP status.
   */
  let announced: JsonObject = {};
  let started = false;
  let over = false;

  const takeEvents = (): readonly ReplyEvent[] => {
    const out = events;
    events = [];
    return out;
  };
  const failWith = (error: ApiError): void => {
    if (over) return;
    over = true;
    events.push({ type: "error", error });
  };
  const start = (): void => {
    if (started) return;
    started = true;
    const id = textIn(announced["id"]);
    const model = textIn(announced["model"]);
    events.push({
      type: "start",
      ...(id === undefined ? {} : { id }),
      ...(model === undefined ? {} : { model }),
    });
  };

  const items = itemReader(context, {
    begin: start,
    push(event) {
      if (!over) events.push(event);
    },
    fail: failWith,
  });
  const report = (response: JsonObject): void => {
    const usage = usageOf(response);
    if (usage !== undefined) events.push({ type: "usage", usage });
  };
  const finish = (
    response: JsonObject,
    status: string,
    raw: string = status,
  ): void => {
    if (!started) announced = { ...announced, ...response };
    const failure = response["error"];
    const hasFailed = isObject(failure) || textIn(failure) !== undefined;
    if (hasFailed || UNFINISHED.has(status)) {
      // A reply that failed before it began is left out.
      if (started) report(response);
      return failWith(inBandError({ response: { ...response, status } }));
    }
    items.reconcile(arrayOr(response["output"]));
    if (items.hasCutCall() && status !== "incomplete") {
      return failWith(
        new ApiError(
          "upstream",
          "the upstream ended its answer in the middle of a tool call",
        ),
      );
    }
    items.close();
    if (over) return;
    const usage = objectOr(response["usage"]);
    const isEmpty = items.isEmpty() && status !== "incomplete" &&
      (countIn(usage["output_tokens"]) ?? 0) === 0;
    if (isEmpty) {
      return failWith(
        new ApiError("upstream", "the upstream's answer holds nothing"),
      );
    }
    start();
    report(response);
    const why = textIn(objectOr(response["incomplete_details"])["reason"]);
    over = true;
    const word = status === "incomplete" ? why ?? status : raw;
    const reason = status === "incomplete"
      ? why === undefined ? "max_tokens" : decodeIncomplete(why)
      : COMPLETE.has(status)
      ? items.stopReason()
      : undefined;
    events.push(
      reason === undefined
        ? {
          type: "stop",
          reason: "other",
          raw: word,
          failure: unknownEnd(word),
        }
        : { type: "stop", reason, raw: word },
      { type: "end" },
    );
  };

  const readEvent = (type: string, data: JsonObject): void => {
    if (items.part(type, data)) return;
    switch (type) {
      case "created":
      case "queued":
      case "in_progress":
        announced = objectOr(data["response"]);
        return;
      case "output_item.added":
        return items.added(data);
      case "output_item.done":
        return items.done(data);
      case "completed": {
        const response = objectOr(data["response"]);
        const status = textIn(response["status"]) ?? type;
        return finish(
          response,
          OVERRIDING_STATUSES.has(status) ? status : type,
        );
      }
      case "incomplete":
      case "failed":
      case "cancelled":
        return finish(objectOr(data["response"]), type);
      case "done": {
        // An older backend sends `response.done` for every ending.
        const response = objectOr(data["response"]);
        return finish(response, textIn(response["status"]) ?? "completed");
      }
    }
  };
  return {
    read(data, event) {
      if (over) return [];
      const type = textIn(data["type"]) ?? event ?? "";
      const { error } = data;
      const isFailure = type === "error" || type === "response.error" ||
        (textIn(data["type"]) === undefined &&
          (isObject(error) || textIn(error) !== undefined));
      if (isFailure) failWith(inBandError(data));
      else readEvent(type.replace(/^response\./, ""), data);
      return takeEvents();
    },
    more(text) {
      if (over) return [];
      items.more(text);
      return takeEvents();
    },
    partialText: () => items.partialText(),
    whole(reply) {
      const status = textIn(reply["status"]);
      const { error } = reply;
      if (
        status === undefined && !Array.isArray(reply["output"])
      ) {
        failWith(
          isObject(error) || textIn(error) !== undefined
            ? inBandError(reply)
            : unreadableReply("it holds no output"),
        );
        return takeEvents();
      }
      finish(reply, status ?? "completed", status ?? "");
      return takeEvents();
    },
    fail(error) {
      failWith(error);
      return takeEvents();
    },
    end() {
      failWith(cutStream());
      return takeEvents();
    },
  };
}
