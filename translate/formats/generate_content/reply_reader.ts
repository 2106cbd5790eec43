/**
 * Decodes response objects one at a time: a whole reply is one object, a stream many.
 * `decode_reply.ts` and `decode_stream.ts` provide the objects; `error.ts` decodes errors.
 */
import type { DecodeContext } from "../../dialect.ts";
import { ApiError } from "../../model/error.ts";
import type { MatchedFrame } from "../../stream/frame_template.ts";
import { upstreamJson } from "../../bytes/exact_json.ts";
import {
  arrayOr,
  isObject,
  type JsonDraft,
  type JsonObject,
  objectOr,
  stringIn,
  textIn,
} from "../../bytes/json.ts";
import type {
  RanCode,
  ReplyEvent,
  StopReason,
  Usage,
  WebSearched,
} from "../../model/reply.ts";
import {
  cutStream,
  unendedReply,
  unknownEnd,
} from "../../model/reply_faults.ts";
import {
  citationsOf,
  groundingOf,
  searchOf,
  splitGrounding,
} from "./grounding.ts";
import { inBandError } from "./error.ts";
import { decodeLogprobs } from "./logprobs.ts";
import { withProbabilities } from "../../model/with_probabilities.ts";
import { type PartialArgs, partialArgs } from "./partial_args.ts";
import { decodeUsage, sameUsage } from "./usage.ts";
import {
  BLOCK_REASON_NUMBERS,
  FINISH_REASON_NUMBERS,
  FINISH_REASONS,
  UNSPECIFIED_REASONS,
} from "./wire.ts";

/** Decodes the response objects of one reply. */
interface ReplyReader {
  /**
   * The events of one response object, or of each element of an array of them. None after `end` or
   * `error`.
   */
  read(value: unknown): readonly ReplyEvent[];
  /** See {@linkcode StreamDecoder.pushMatched}. */
  readMatched(matched: MatchedFrame): readonly ReplyEvent[];
  /**
   * Ends the reply: gives `end`, or `error` if the reply was not complete; nothing after
   * either. `whole`: it came as one document, not in frames.
   */
  finish(whole: boolean): readonly ReplyEvent[];
  /** Ends the reply with the error, unless it has ended already. */
  fail(error: ApiError): readonly ReplyEvent[];
}

interface PendingCall {
  readonly id?: string;
  readonly name: string;
  readonly signature?: string;
  readonly args: PartialArgs;
  continues: boolean;
}

export function replyReader(context: DecodeContext): ReplyReader {
  let events: ReplyEvent[] = [];
  let started = false;
  let over = false;
  let open: "text" | "reasoning" | undefined;
  /** Whether the open text has its signature: nothing may be added to it. */
  let isSigned = false;
  /** Code that waits for its output. */
  let ran: RanCode | undefined;
  let pending: PendingCall | undefined;
  let sawCandidate = false;
  let sawTool = false;
  let sawText = false;
  let sawAnswer = false;
  let sawMedia = false;
  let sawSource = false;
  let finishReason: string | undefined;
  /** Whether the last candidate is finished for an unspecified reason. */
  let unspecified = false;
  let finishMessage: string | undefined;
  let blockReason: string | undefined;
  /** Whether the prompt was refused without a reason. */
  let blocked = false;
  let usage: ReturnType<typeof decodeUsage>;
  let searches = 0;
  /** The `usageMetadata` of the last object. */
  let counts: unknown;
  /** The sources, whose positions are in the text of the open block. */
  let grounding: JsonObject | undefined;
  /** The search that was made, with what it found. */
  let search: WebSearched | undefined;
  let texts: string[] = [];
  let textLength = 0;
  /** Where the text of a part begins in the text of the open block, by the part's index. */
  const starts = new Map<number, number>();
  /** The parts of the candidate that is read, and the index of the one that is read. */
  let parts: readonly unknown[] = [];
  let partAt = 0;

  const take = (): readonly ReplyEvent[] => {
    const taken = events;
    events = [];
    return taken;
  };
  const close = (): void => {
    if (open === undefined) return;
    if (open === "text" && grounding !== undefined) {
      const [here, later] = splitGrounding(
        grounding,
        (index) => index > partAt && "text" in objectOr(parts[index]),
      );
      for (const citation of citationsOf(here, texts.join(""), starts)) {
        events.push({ type: "cite", citation });
        sawSource = true;
      }
      grounding = later;
    }
    texts = [];
    textLength = 0;
    starts.clear();
    events.push({ type: "close" });
    open = undefined;
    isSigned = false;
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

  const pushText = (kind: "text" | "reasoning", text: string): void => {
    completeCall();
    if (open !== kind || isSigned) {
      close();
      events.push({ type: "open", kind });
      open = kind;
    }
    if (text !== "") events.push({ type: "delta", text });
    if (kind !== "text") return;
    sawText = true;
    if (!starts.has(partAt)) starts.set(partAt, textLength);
    keepText(text);
  };
  const keepText = (text: string): void => {
    texts.push(text);
    textLength += text.length;
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
      completeCall();
      events.push({ type: "open", kind: "text", isAnswer: true }, {
        type: "delta",
        text: args,
      });
      sawText = true;
      keepText(args);
      open = "text";
      close();
      return;
    }
    sawTool = true;
    events.push({
      type: "open",
      kind: "tool",
      ...(id === undefined ? {} : { id }),
      name: context.toolNames.get(name) ?? name,
    });
    // Before the arguments: some chat clients run a call as soon as its arguments are complete,
    // and again at a delta that follows.
    if (signature !== undefined) sign(signature);
    events.push({ type: "delta", text: args }, { type: "close" });
  };
  /** Emits a call that came in pieces, once it is complete. */
  const completeCall = (): void => {
    if (pending === undefined) return;
    const { name, id, args, signature } = pending;
    pending = undefined;
    call(name, id, upstreamJson(args.whole()), signature);
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
    // `functionCall: {}` only marks the end of a call.
    if (Object.keys(given).length === 0) completeCall();
  };
  const sign = (value: string): void => {
    events.push({
      type: "sign",
      signature: { from: "generate_content", value },
    });
  };
  const flushCode = (): void => {
    if (ran === undefined) return;
    close();
    events.push({ type: "code", ...ran });
    ran = undefined;
  };
  const readCode = (
    { executableCode, codeExecutionResult }: JsonObject,
  ): boolean => {
    if (isObject(executableCode)) {
      flushCode();
      const language = textIn(executableCode["language"])?.toLowerCase();
      ran = {
        code: stringIn(executableCode["code"]) ?? "",
        ...(language === undefined ? {} : { language }),
      };
    } else if (isObject(codeExecutionResult)) {
      const { outcome, output } = codeExecutionResult;
      ran = {
        code: "",
        ...ran,
        output: stringIn(output) ?? "",
        ...(outcome === "OUTCOME_OK" || outcome === undefined
          ? {}
          : { failed: true }),
      };
      flushCode();
    } else {
      flushCode();
      return false;
    }
    return true;
  };
  const readPart = (part: unknown): void => {
    if (!isObject(part) || readCode(part)) return;
    const signature = textIn(part["thoughtSignature"]);
    if (isObject(part["functionCall"])) {
      readCall(part["functionCall"], signature);
      return;
    }
    const text = textIn(part["text"]);
    // Without a picture or sound the answer is not complete.
    sawMedia ||= part["thought"] !== true &&
      (isObject(part["inlineData"]) || isObject(part["fileData"]));
    if (!("text" in part)) {
      for (const kind of Object.keys(part)) {
        if (!KNOWN_FIELDS.has(kind)) events.push({ type: "lost", kind });
      }
    }
    if (part["thought"] === true) {
      if (text !== undefined) pushText("reasoning", text);
      if (signature !== undefined && open === "reasoning") {
        sign(signature);
        close();
      }
      return;
    }
    if (text !== undefined) pushText("text", text);
    const isText = Object.keys(part).every((key) =>
      key === "text" || key === "thoughtSignature"
    );
    if (signature === undefined || !isText) return;
    // The signature of a stream's text may come in an empty part at its end.
    if (open !== "text" || isSigned) pushText("text", "");
    sign(signature);
    isSigned = true;
  };
  const takeCounts = (metadata: unknown): void => {
    counts = metadata;
    const read = decodeUsage(metadata);
    if (read === undefined) return;
    // Zero counts are left out in this format, so a count that was reported before and is missing
    // now is zero.
    const reported: Usage = {
      ...read,
      ...(read.input !== undefined && read.cacheRead === undefined &&
          usage?.cacheRead !== undefined
        ? { cacheRead: 0 }
        : {}),
    };
    if (sameUsage(reported, usage)) return;
    usage = reported;
    if (started) events.push({ type: "usage", usage: reported });
  };
  /** The vendor bills each search of a reply; frames repeat them. */
  const countSearches = (candidate: JsonObject): void => {
    const { webSearchQueries } = objectOr(candidate["groundingMetadata"]);
    const count = arrayOr(webSearchQueries).length;
    if (count <= searches) return;
    searches = count;
    events.push({ type: "usage", usage: { uses: { web_search: count } } });
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
    blocked ||= UNSPECIFIED_REASONS.has(textIn(feedback["blockReason"]) ?? "");
    const candidate = arrayOr(response["candidates"]).find(isFirstCandidate);
    if (candidate === undefined) return;
    sawCandidate = true;
    const before = events.length;
    countSearches(candidate);
    // Before the parts: one that is no text closes the text that the sources are of.
    grounding = groundingOf(candidate, grounding);
    if (context.wantsSearch === true && grounding !== undefined) {
      search = searchOf(grounding) ?? search;
    }
    parts = arrayOr(objectOr(candidate["content"])["parts"]);
    partAt = 0;
    for (const part of parts) {
      readPart(part);
      partAt++;
    }
    if (context.wantsProbabilities === true) {
      const tokens = decodeLogprobs(candidate["logprobsResult"]);
      events.push(...withProbabilities(events.splice(before), tokens));
    }
    // The last one counts: older models send STOP in every frame.
    finishReason =
      reasonWord(candidate["finishReason"], FINISH_REASON_NUMBERS) ??
        finishReason;
    unspecified = UNSPECIFIED_REASONS.has(
      textIn(candidate["finishReason"]) ?? "",
    );
    finishMessage = textIn(candidate["finishMessage"]) ?? finishMessage;
  };

  return {
    read(value) {
      for (const response of Array.isArray(value) ? value : [value]) {
        if (!over && isObject(response)) readResponse(response);
      }
      return take();
    },
    readMatched(matched) {
      if (over) return [];
      if (isObject(counts)) {
        const recounted: JsonDraft = { ...counts };
        matched.eachCount((key, count) => {
          if (Object.hasOwn(recounted, key)) recounted[key] = count;
        });
        takeCounts(recounted);
      }
      const text = matched.text();
      if (text !== "") {
        events.push({ type: "delta", text });
        if (open === "text") keepText(text);
      }
      return take();
    },
    finish(whole) {
      if (over) return [];
      const raw = finishReason ?? blockReason;
      const refused = blockReason !== undefined || (blocked && !sawCandidate);
      if (raw === undefined && !unspecified && !refused) {
        return fail(
          !whole
            ? cutStream()
            : sawCandidate
            ? unendedReply()
            : new ApiError("upstream", "the upstream's reply holds no answer"),
        );
      }
      completeCall();
      flushCode();
      close();
      // Frames repeat sources. Those of a text that ended before the first of them have no place.
      if (
        !sawSource && sawText && grounding !== undefined &&
        citationsOf(grounding, "", starts).length > 0
      ) events.push({ type: "lost", kind: "groundingMetadata" });
      const meaning = finishReason === undefined
        ? (refused ? "refusal" : "end")
        : FINISH_REASONS.get(finishReason.toUpperCase());
      const hasCall = sawTool && (meaning === "end" || meaning === "lost_call");
      const isLost = meaning === "lost" || meaning === "lost_call";
      const failure = hasCall
        ? undefined
        : isLost
        ? lostAnswer(raw ?? "", finishMessage)
        : meaning === undefined
        ? unknownEnd(raw ?? "")
        : undefined;
      if (failure !== undefined && isLost && !sawText && !sawTool) {
        return fail(new ApiError("upstream", failure));
      }
      const reason: StopReason = hasCall
        ? "tool_use"
        : meaning === undefined || isLost || (sawMedia && meaning === "end")
        ? "other"
        : meaning;
      over = true;
      if (search !== undefined) events.push({ type: "search", ...search });
      events.push({
        type: "stop",
        reason,
        raw: raw ?? "",
        ...(failure === undefined ? {} : { failure }),
      }, { type: "end" });
      return take();
    },
    fail,
  };
}

/** Fields of a part that are read, or without which the answer is complete. */
const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  "codeExecutionResult",
  "executableCode",
  "fileData",
  "functionCall",
  "inlineData",
  "mediaProcessing",
  "mediaResolution",
  "partMetadata",
  "speechMetadata",
  "text",
  "thought",
  "thoughtSignature",
  "toolCall",
  "toolResponse",
  "videoMetadata",
]);

/**
 * Whether this is the first candidate: the gateway asks for one only, but an upstream may number
 * several.
 */
function isFirstCandidate(candidate: unknown): candidate is JsonObject {
  return isObject(candidate) &&
    (candidate["index"] === undefined || candidate["index"] === null ||
      candidate["index"] === 0);
}

/**
 * A finish or block reason as its word, whether sent as a word or a number; undefined where there
 * is none.
 */
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
  return typeof args === "string" ? args : upstreamJson(objectOr(args));
}

function lostAnswer(raw: string, message: string | undefined): string {
  return `the model's answer was lost: ${raw}${
    message === undefined ? "" : ` (${message.slice(0, 500)})`
  }`;
}
