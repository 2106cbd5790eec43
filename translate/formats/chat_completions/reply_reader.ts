/**
 * Reads one chunk of a stream, or a whole reply as a stream of one chunk: both have the same
 * fields, under `delta` or `message`. Reading is lenient: a field that a vendor omits, repeats or
 * adds never fails a reply. Frames and the end of the stream are handled in `decode_stream.ts`.
 */
import type { DecodeContext } from "../../dialect.ts";
import {
  arrayOr,
  countIn,
  isObject,
  type JsonObject,
  objectOr,
  stringIn,
  textIn,
} from "../../bytes/json.ts";
import { mergeUsage, type ReplyEvent, type Usage } from "../../model/reply.ts";
import { readUrlCitation } from "../../model/citation.ts";
import { blockWriter } from "./block_writer.ts";
import { argumentsIn } from "./call_arguments.ts";
import {
  isMedia,
  isSound,
  KNOWN_PARTS,
  readSource,
  thinkingText,
} from "./reply_parts.ts";
import { decodeLogprobs } from "../../families/chat/logprobs.ts";
import { withProbabilities } from "../../model/with_probabilities.ts";
import { carriedSignature } from "../../turns/carried_signature.ts";
import { detailReader } from "./signatures.ts";
import { errorFromBaseResp, inBandError } from "./error.ts";
import { decodeFinishReason } from "./stop_reason.ts";
import { type SplitText, thinkTags } from "./think_tags.ts";
import { decodeUsage, tierOf } from "./usage.ts";
import { unendedReply, unknownEnd } from "../../model/reply_faults.ts";

/** Converts chunks to events. After a failure it returns no more events. */
interface ReplyReader {
  read(chunk: JsonObject): readonly ReplyEvent[];
  /**
   * The events of a chunk that differs from the previous one, a single delta of the open block,
   * only in its text.
   */
  more(text: string): readonly ReplyEvent[];
  /** The events at the regular end of a reply. */
  finish(): readonly ReplyEvent[];
  /** Whether a finish reason was read. */
  finished(): boolean;
  /** Whether every choice that began has a finish reason, the ones that are not read included. */
  complete(): boolean;
  /** Whether any content was read. */
  began(): boolean;
}

/** Creates the reader for one reply, in chunks or as a whole. */
export function replyReader(
  context: DecodeContext,
  form: "stream" | "whole" = "stream",
): ReplyReader {
  const blocks = blockWriter(context);
  const readDetails = detailReader();
  const contentOf = form === "whole" ? replyContent : chunkContent;
  let started = false;
  let stopWord: string | undefined;
  let isUnended = false;
  let sawCall = false;
  let plainThoughts = false;
  let sawDelta = false;
  let sawMedia = false;
  const lost: ReplyEvent[] = [];
  let sawCitation = false;
  let sources: unknown;
  let usageSoFar: Usage = {};
  /** Indexes of other choices that began, and whether each has a finish reason. */
  const others = new Map<number, boolean>();
  const usageIn = (value: unknown): Usage | undefined =>
    decodeUsage(value, usageSoFar, context.cachedBesidePrompt);

  const thoughts = (delta: JsonObject): void => {
    const plain = textIn(delta["reasoning_content"]) ??
      textIn(delta["reasoning"]) ?? "";
    const details = readDetails(delta["reasoning_details"]);
    const signed = details.some((detail) => detail.signature !== undefined);
    // Both fields hold the same reasoning. The details separate its blocks, so their text is used
    // if they are signed and no plain text preceded them.
    if (plain !== "" && (plainThoughts || !signed)) {
      plainThoughts = true;
      blocks.addText("reasoning", plain);
    }
    for (const detail of details) {
      if (!plainThoughts) blocks.addText("reasoning", detail.text);
      if (detail.signature !== undefined) {
        blocks.sign(detail.signature, "reasoning");
      }
    }
  };
  const tags = context.thinkTags === true ? thinkTags() : undefined;
  const addSplit = (pieces: readonly SplitText[]): void => {
    for (const { kind, text } of pieces) blocks.addText(kind, text);
  };
  const content = (value: unknown): void => {
    if (typeof value === "string") {
      return tags === undefined
        ? blocks.addText("text", value)
        : addSplit(tags.push(value));
    }
    for (const part of isObject(value) ? [value] : arrayOr(value)) {
      if (typeof part === "string") blocks.addText("text", part);
      if (!isObject(part)) continue;
      const given = stringIn(part["text"]) ??
        stringIn(objectOr(part["text"])["value"]);
      const kind = stringIn(part["type"]) ?? "";
      const isPicture = isMedia(part);
      sawMedia ||= isPicture;
      if (given === undefined && !isPicture && !KNOWN_PARTS.has(kind)) {
        lost.push({ type: "lost", kind });
      }
      const text = given ?? "";
      switch (part["type"]) {
        case "thinking":
          blocks.addText("reasoning", thinkingText(part["thinking"]));
          break;
        case "reasoning":
          blocks.addText("reasoning", text);
          break;
        case "refusal":
          blocks.addText("refusal", stringIn(part["refusal"]) ?? text);
          break;
        default:
          blocks.addText("text", text);
      }
    }
  };
  const calls = (delta: JsonObject, whole: boolean): void => {
    for (const [place, call] of arrayOr(delta["tool_calls"]).entries()) {
      if (!isObject(call)) continue;
      sawCall = true;
      const isFreeText = !isObject(call["function"]) &&
        (isObject(call["custom"]) || call["type"] === "custom");
      const called = objectOr(isFreeText ? call["custom"] : call["function"]);
      // In a whole message each entry is a separate call, even if a vendor repeats an id.
      const index = whole ? place : call["index"];
      const id = textIn(call["id"]);
      const name = textIn(called["name"]);
      const signature = carriedSignature(call);
      blocks.addCall({
        ...(typeof index === "number" ? { index } : {}),
        ...(id === undefined ? {} : { id }),
        ...(name === undefined ? {} : { name }),
        ...(isFreeText
          ? { text: stringIn(called["input"]) ?? "", freeText: true }
          : argumentsIn(called)),
        ...(signature === undefined ? {} : { signature }),
      });
    }
    const old = delta["function_call"];
    if (!isObject(old)) return;
    sawCall = true;
    const name = textIn(old["name"]);
    blocks.addCall({
      index: -1,
      ...(name === undefined ? {} : { name }),
      ...argumentsIn(old),
      withoutId: true,
    });
  };
  const stop = (choice: JsonObject): readonly ReplyEvent[] => {
    const reasonGiven = choice["finish_reason"];
    const word = typeof reasonGiven === "number"
      ? String(reasonGiven)
      : textIn(reasonGiven);
    // Some vendors send the finish reason twice.
    if (word === undefined || word === stopWord) return [];
    stopWord = word;
    const reason = decodeFinishReason(word);
    if (reason === undefined) {
      const failure = unknownEnd(word);
      return [{ type: "stop", reason: "other", raw: word, failure }];
    }
    if (reason !== "end") return [{ type: "stop", reason, raw: word }];
    // Pictures and sounds have no neutral counterpart; without them the answer is not complete.
    if (sawMedia && !sawCall) {
      return [{ type: "stop", reason: "other", raw: word }];
    }
    if (blocks.refused() && !sawCall) {
      return [{ type: "stop", reason: "refusal", raw: word }];
    }
    // vLLM and SGLang report the matched stop string here; a stop token is reported as a number.
    const sequence = textIn(choice["stop_reason"]) ??
      textIn(choice["matched_stop"]);
    return [
      sequence === undefined
        ? { type: "stop", reason, raw: word }
        : { type: "stop", reason: "stop_sequence", raw: word, sequence },
    ];
  };
  const noteOthers = (chunk: JsonObject): void => {
    for (const other of arrayOr(chunk["choices"])) {
      const index = countIn(objectOr(other)["index"]) ?? 0;
      if (index === 0) continue;
      const reason = objectOr(other)["finish_reason"];
      const isFinished = typeof reason === "number" ||
        textIn(reason) !== undefined;
      others.set(index, isFinished || others.get(index) === true);
    }
  };
  const head = (chunk: JsonObject): readonly ReplyEvent[] => {
    if (started) return [];
    const id = textIn(chunk["id"]);
    const model = textIn(chunk["model"]);
    // Azure OpenAI opens with a frame about the prompt that has neither id nor content; the next
    // frame has them.
    const about = id === undefined && arrayOr(chunk["choices"]).length === 0 &&
      !isObject(chunk["usage"]);
    if (about) return [];
    started = true;
    const tier = tierOf(chunk);
    return [{
      type: "start",
      ...(id === undefined ? {} : { id }),
      ...(model === undefined ? {} : { model }),
      ...(tier === undefined ? {} : { usage: { tier } }),
    }];
  };
  return {
    read(chunk) {
      const choice = firstChoice(chunk, form);
      const failure = failureOf(chunk, choice);
      if (failure !== undefined) {
        return [{ type: "error", error: inBandError(failure) }];
      }
      noteOthers(chunk);
      // Some hosts leave the key out; null is the word for a reply that is not finished.
      isUnended = form === "whole" && choice["finish_reason"] === null;
      const start = head(chunk);
      const { content: given, whole } = contentOf(choice);
      // A message that follows deltas repeats their content.
      const delta = whole && sawDelta ? {} : given;
      sawDelta ||= !whole && hasContent(given);
      sawMedia ||= arrayOr(delta["images"]).some(isMedia) ||
        isSound(delta["audio"]);
      thoughts(delta);
      content(delta["content"]);
      const signature = carriedSignature(delta);
      if (signature !== undefined) blocks.sign(signature, "text");
      for (const annotation of arrayOr(delta["annotations"])) {
        const cited = readUrlCitation(
          objectOr(objectOr(annotation)["url_citation"]),
        );
        if (cited === undefined) continue;
        sawCitation = true;
        blocks.cite(cited);
      }
      // Hosts that search the web list their sources beside the choices, in every frame.
      sources = chunk["search_results"] ?? chunk["citations"] ?? sources;
      blocks.addText("refusal", stringIn(delta["refusal"]) ?? "");
      calls(delta, whole);
      const tokens = context.wantsProbabilities === true
        ? decodeLogprobs(objectOr(choice["logprobs"])["content"])
        : [];
      const usageEvents: ReplyEvent[] = [];
      const usage = usageIn(chunk["usage"]) ??
        usageIn(objectOr(chunk["x_groq"])["usage"]) ??
        usageIn(choice["usage"]);
      if (usage !== undefined) {
        usageSoFar = mergeUsage(usageSoFar, usage);
        const tier = tierOf(chunk);
        usageEvents.push({
          type: "usage",
          usage: tier === undefined ? usage : { ...usage, tier },
        });
      }
      return [
        ...start,
        ...withProbabilities(blocks.take(), tokens),
        ...lost.splice(0),
        ...stop(choice),
        ...usageEvents,
      ];
    },
    more(text) {
      blocks.extendOpen(text);
      return blocks.take();
    },
    finish() {
      for (const source of sawCitation ? [] : arrayOr(sources)) {
        const cited = readSource(source);
        if (cited !== undefined) blocks.cite(cited);
      }
      addSplit(tags?.end() ?? []);
      blocks.finish();
      const events = blocks.take();
      if (isUnended) {
        return [...events, { type: "error", error: unendedReply() }];
      }
      if (stopWord === undefined) {
        const reason = sawCall
          ? "tool_use"
          : sawMedia
          ? "other"
          : blocks.refused()
          ? "refusal"
          : "end";
        events.push({ type: "stop", reason, raw: "" });
      }
      events.push({ type: "end" });
      return events;
    },
    finished: () => stopWord !== undefined,
    complete: () =>
      stopWord !== undefined && [...others.values()].every(Boolean),
    began: () => blocks.began(),
  };
}

/** The message or delta of a choice, and which of the two it is. */
interface ChoiceContent {
  readonly content: JsonObject;
  readonly whole: boolean;
}

/** In a stream the delta is read: some vendors add a message with all content so far. */
function chunkContent(choice: JsonObject): ChoiceContent {
  const { delta, message } = choice;
  if (isObject(delta)) return { content: delta, whole: false };
  if (isObject(message)) return { content: message, whole: true };
  return { content: legacyText(choice), whole: false };
}

/**
 * In a whole reply the message is read. Some hosts send a delta beside an empty or missing
 * message, or the reverse.
 */
function replyContent(choice: JsonObject): ChoiceContent {
  const forms = [choice["message"], choice["delta"], legacyText(choice)]
    .filter(isObject);
  return { content: forms.find(hasContent) ?? forms[0] ?? {}, whole: true };
}

/** The text of the legacy completions format, as a message. */
function legacyText(choice: JsonObject): JsonObject {
  const text = textIn(choice["text"]);
  return text === undefined ? {} : { content: text };
}

/** Whether a message or delta has any field with content beside its role. */
export function hasContent(message: JsonObject): boolean {
  return Object.entries(message).some(([key, value]) =>
    key !== "role" &&
    (isObject(value)
      ? Object.keys(value).length > 0
      : Array.isArray(value)
      ? value.length > 0
      : textIn(value) !== undefined)
  );
}

/** The first choice. A translated request never asks for more, so other choices are ignored. */
export function firstChoice(
  chunk: JsonObject,
  form: "stream" | "whole",
): JsonObject {
  const choices = arrayOr(chunk["choices"]).filter(isObject);
  const first = choices.find((choice) => (choice["index"] ?? 0) === 0);
  return first ?? (form === "whole" ? choices[0] : undefined) ?? {};
}

/** The error inside a reply with status 200: beside the choices, or instead of them. */
function failureOf(
  chunk: JsonObject,
  choice: JsonObject,
): JsonObject | undefined {
  if (isFailure(chunk["error"])) return chunk;
  if (isFailure(choice["error"])) return choice;
  if (choice["finish_reason"] === "error") return {};
  // MiniMax replies with 200 to everything and reports failures beside an empty list of choices.
  const baseResp = objectOr(chunk["base_resp"]);
  const empty = !isObject(choice["delta"]) && !isObject(choice["message"]);
  if (empty && (countIn(baseResp["status_code"]) ?? 0) > 0) {
    return errorFromBaseResp(baseResp);
  }
  return chunk["object"] === "error" || chunk["type"] === "error"
    ? chunk
    : undefined;
}

function isFailure(error: unknown): boolean {
  return isObject(error) || textIn(error) !== undefined;
}
