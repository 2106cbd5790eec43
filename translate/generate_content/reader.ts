/**
 * Response objects → neutral events, one object at a time: a whole reply is one object, a stream many. Where the objects come from
 * is `reply.ts`'s and `stream.ts`'s; how an error is read is `error.ts`'s.
 *
 * @module
 */
import type { DecodeContext } from "../dialect.ts";
import { ApiError } from "../error.ts";
import type { LikeFrame } from "../frame_template.ts";
import {
  arrayOr,
  isObject,
  type JsonDraft,
  type JsonObject,
  objectOr,
  textIn,
} from "../json.ts";
import type { ReplyEvent, StopReason, Usage } from "../reply.ts";
import { inBandError } from "./error.ts";
import { type PartialArgs, partialArgs } from "./partial_args.ts";
import { readUsage, sameUsage } from "./usage.ts";
import {
  BLOCK_REASON_NUMBERS,
  FINISH_REASON_NUMBERS,
  FINISH_REASONS,
  UNSPECIFIED_REASONS,
} from "./wire.ts";

/** Reads the response objects of one reply. Made anew for each. */
export interface ReplyReader {
  /** The events of one response object, or of each element of an array of them. Nothing after `end` or `error`. */
  read(value: unknown): readonly ReplyEvent[];
  /** See {@linkcode StreamDecoder.more}. */
  more(like: LikeFrame): readonly ReplyEvent[];
  /**
   * The reply is over. `whole`: it came as one document, so a missing finish reason is no sign of a cut.
   * Gives `end`, or `error` where the answer was not finished; nothing after either.
   */
  finish(whole: boolean): readonly ReplyEvent[];
  /** Gives up: the error, once, and nothing after it. */
  fail(error: ApiError): readonly ReplyEvent[];
}

interface PendingCall {
  readonly id?: string;
  readonly name: string;
  readonly signature?: string;
  readonly args: PartialArgs;
  continues: boolean;
}

/** Makes a {@linkcode ReplyReader}. */
export function replyReader(context: DecodeContext): ReplyReader {
  let events: ReplyEvent[] = [];
  let started = false;
  let over = false;
  let open: "text" | "reasoning" | undefined;
  let pending: PendingCall | undefined;
  let sawCandidate = false;
  let sawTool = false;
  let sawText = false;
  let sawAnswer = false;
  let finishReason: string | undefined;
  let finishMessage: string | undefined;
  let blockReason: string | undefined;
  let usage: ReturnType<typeof readUsage>;
  /** The `usageMetadata` of the last object. */
  let counts: unknown;

  const take = (): readonly ReplyEvent[] => {
    const taken = events;
    events = [];
    return taken;
  };
  const close = (): void => {
    if (open === undefined) return;
    events.push({ type: "close" });
    open = undefined;
  };
  const giveUp = (error: ApiError): void => {
    if (over) return;
    over = true;
    events.push({ type: "error", error });
  };
  const fail = (error: ApiError): readonly ReplyEvent[] => {
    giveUp(error);
    return take();
  };

  const say = (kind: "text" | "reasoning", text: string): void => {
    completeCall();
    if (open !== kind) {
      close();
      events.push({ type: "open", kind });
      open = kind;
    }
    events.push({ type: "delta", text });
    if (kind === "text") sawText = true;
  };
  const call = (
    name: string,
    id: string | undefined,
    args: string,
    signature: string | undefined,
  ): void => {
    close();
    if (name === context.formatTool) {
      // The answer itself: a second one would make two JSON texts in a row.
      if (sawAnswer) return;
      sawAnswer = true;
      say("text", args);
      close();
      return;
    }
    sawTool = true;
    events.push({
      type: "open",
      kind: "tool",
      ...(id === undefined ? {} : { id }),
      name: context.toolNames.get(name) ?? name,
    }, { type: "delta", text: args });
    if (signature !== undefined) {
      events.push({
        type: "sign",
        signature: { from: "generate_content", value: signature },
      });
    }
    events.push({ type: "close" });
  };
  /** A call that came in pieces is told once no more of it can come. */
  const completeCall = (): void => {
    if (pending === undefined) return;
    const { name, id, args, signature } = pending;
    pending = undefined;
    call(name, id, JSON.stringify(args.whole()), signature);
  };
  const readCall = (
    given: JsonObject,
    signature: string | undefined,
  ): void => {
    const name = textIn(given["name"]);
    const goesOn = pending !== undefined &&
      (name === undefined || (pending.continues && name === pending.name));
    if (!goesOn) completeCall();
    if (name !== undefined && !goesOn) {
      const id = textIn(given["id"]);
      const args = given["args"];
      if (args !== undefined && given["willContinue"] !== true) {
        call(name, id, argumentsText(args), signature);
        return;
      }
      pending = {
        ...(id === undefined ? {} : { id }),
        name,
        ...(signature === undefined ? {} : { signature }),
        args: partialArgs(),
        continues: true,
      };
    }
    if (pending === undefined) return;
    for (const piece of arrayOr(given["partialArgs"])) pending.args.add(piece);
    pending.continues = given["willContinue"] === true;
    // `functionCall: {}` says only that the call is complete.
    if (Object.keys(given).length === 0) completeCall();
  };
  const readPart = (part: unknown): void => {
    if (!isObject(part)) return;
    const signature = textIn(part["thoughtSignature"]);
    if (isObject(part["functionCall"])) {
      readCall(part["functionCall"], signature);
      return;
    }
    // Everything else but text (code that the vendor ran, its server tools, pictures) has no neutral word and is passed over.
    const text = textIn(part["text"]);
    if (part["thought"] === true) {
      if (text !== undefined) say("reasoning", text);
      if (signature !== undefined && open === "reasoning") {
        events.push({
          type: "sign",
          signature: { from: "generate_content", value: signature },
        });
        close();
      }
    } else if (text !== undefined) say("text", text);
  };
  const takeCounts = (metadata: unknown): void => {
    counts = metadata;
    const read = readUsage(metadata);
    if (read === undefined) return;
    // Zero counts are left out on this wire, so one that was told before and is missing now has become zero.
    const told: Usage = {
      ...read,
      ...(read.input !== undefined && read.cacheRead === undefined &&
          usage?.cacheRead !== undefined
        ? { cacheRead: 0 }
        : {}),
    };
    if (sameUsage(told, usage)) return;
    usage = told;
    if (started) events.push({ type: "usage", usage: told });
  };
  const readResponse = (response: JsonObject): void => {
    const error = response["error"];
    if (isObject(error) || typeof error === "string") {
      giveUp(inBandError(response));
      return;
    }
    takeCounts(response["usageMetadata"]);
    if (!started) {
      started = true;
      const id = textIn(response["responseId"]);
      const model = textIn(response["modelVersion"]);
      events.push({
        type: "start",
        ...(id === undefined ? {} : { id }),
        ...(model === undefined ? {} : { model }),
        ...(usage === undefined ? {} : { usage }),
      });
    }
    const feedback = objectOr(response["promptFeedback"]);
    blockReason = reasonWord(feedback["blockReason"], BLOCK_REASON_NUMBERS) ??
      blockReason;
    const candidate = arrayOr(response["candidates"]).find(isFirstCandidate);
    if (candidate === undefined) return;
    sawCandidate = true;
    for (const part of arrayOr(objectOr(candidate["content"])["parts"])) {
      readPart(part);
    }
    // The last one counts: older models say STOP in every frame.
    finishReason =
      reasonWord(candidate["finishReason"], FINISH_REASON_NUMBERS) ??
        finishReason;
    finishMessage = textIn(candidate["finishMessage"]) ?? finishMessage;
  };

  return {
    read(value) {
      for (const response of Array.isArray(value) ? value : [value]) {
        if (!over && isObject(response)) readResponse(response);
      }
      return take();
    },
    more(like) {
      if (over) return [];
      if (isObject(counts)) {
        const recounted: JsonDraft = { ...counts };
        like.eachCount((key, count) => {
          if (Object.hasOwn(recounted, key)) recounted[key] = count;
        });
        takeCounts(recounted);
      }
      const text = like.text();
      if (text !== "") events.push({ type: "delta", text });
      return take();
    },
    finish(whole) {
      if (over) return [];
      const raw = finishReason ?? blockReason;
      if (raw === undefined && !(whole && sawCandidate)) {
        return fail(
          new ApiError(
            "upstream",
            whole
              ? "the upstream's reply holds no answer"
              : "the upstream's stream ended before its answer was finished",
          ),
        );
      }
      completeCall();
      close();
      const meaning = finishReason === undefined
        ? (blockReason === undefined ? "end" : "refusal")
        : FINISH_REASONS.get(finishReason.toUpperCase()) ?? "other";
      if (meaning === "failed" && !sawText && !sawTool) {
        return fail(failedCall(raw ?? "", finishMessage));
      }
      const reason: StopReason = meaning === "failed"
        ? "end"
        : meaning === "end" && sawTool
        ? "tool_use"
        : meaning;
      over = true;
      events.push({ type: "stop", reason, raw: raw ?? "" }, { type: "end" });
      return take();
    },
    fail,
  };
}

/** Only one answer is ever asked for; an upstream that gives more numbers them. */
function isFirstCandidate(candidate: unknown): candidate is JsonObject {
  return isObject(candidate) &&
    (candidate["index"] === undefined || candidate["index"] === null ||
      candidate["index"] === 0);
}

/** A reason as its word, whether it was sent as a word or a number; undefined where none was told. */
function reasonWord(
  value: unknown,
  numbers: readonly (string | undefined)[],
): string | undefined {
  if (typeof value === "number") {
    return value === 0 ? undefined : numbers[value] ?? String(value);
  }
  const word = textIn(value);
  return word === undefined || UNSPECIFIED_REASONS.has(word) ? undefined : word;
}

function argumentsText(args: unknown): string {
  return typeof args === "string" ? args : JSON.stringify(objectOr(args));
}

function failedCall(raw: string, message: string | undefined): ApiError {
  return new ApiError(
    "upstream",
    `the model's answer was lost: ${raw}${
      message === undefined ? "" : ` (${message.slice(0, 500)})`
    }`,
  );
}
