/**
 * Reads one chunk of a stream, or a whole reply, which is a stream of one chunk: the same fields under `delta` and `message`.
 * Lenient: what a vendor leaves out, repeats or invents never fails a reply. Frames and ends are `stream_decoder.ts`.
 *
 * @module
 */
import type { DecodeContext } from "../dialect.ts";
import {
  arrayOr,
  countIn,
  isObject,
  type JsonObject,
  objectOr,
  stringIn,
  textIn,
} from "../json.ts";
import { mergeUsage, type ReplyEvent, type Usage } from "../reply.ts";
import { blockWriter } from "./block_writer.ts";
import { readCallSignature, readDetails } from "./carriers.ts";
import { inBandError, vendorFailure } from "./error.ts";
import { decodeFinishReason } from "./stop_reason.ts";
import { decodeUsage } from "./usage.ts";

/** Turns chunks into events. After a fault it gives nothing more. */
export interface ChoiceReader {
  /** The events of one chunk. */
  chunk(chunk: JsonObject): readonly ReplyEvent[];
  /** The events of a chunk like the one before, which was one delta of the open block, with another text. */
  more(text: string): readonly ReplyEvent[];
  /** The events of a true end. */
  finish(): readonly ReplyEvent[];
  /** Whether a finish reason has been told. */
  finished(): boolean;
  /** Whether any content has been told. */
  began(): boolean;
}

/** Makes a {@linkcode ChoiceReader} for one reply. */
export function choiceReader(context: DecodeContext): ChoiceReader {
  const blocks = blockWriter(context);
  let started = false;
  let stopWord: string | undefined;
  let sawCall = false;
  let plainThoughts = false;
  let usageSoFar: Usage = {};

  const thoughts = (delta: JsonObject): void => {
    const plain = textIn(delta["reasoning_content"]) ??
      textIn(delta["reasoning"]) ?? "";
    const details = readDetails(delta["reasoning_details"]);
    const signed = details.some((detail) => detail.signature !== undefined);
    // Both tell the same thoughts. Details tell blocks apart, so their text wins where it is signed and nothing came before.
    if (plain !== "" && (plainThoughts || !signed)) {
      plainThoughts = true;
      blocks.prose("reasoning", plain);
    }
    for (const detail of details) {
      if (!plainThoughts) blocks.prose("reasoning", detail.text);
      if (detail.signature !== undefined) blocks.sign(detail.signature);
    }
  };
  const content = (value: unknown): void => {
    if (typeof value === "string") return blocks.prose("text", value);
    for (const part of arrayOr(value)) {
      if (!isObject(part)) continue;
      if (part["type"] === "thinking") {
        blocks.prose("reasoning", thinkingText(part["thinking"]));
      } else blocks.prose("text", stringIn(part["text"]) ?? "");
    }
  };
  const calls = (delta: JsonObject, whole: boolean): void => {
    for (const [place, call] of arrayOr(delta["tool_calls"]).entries()) {
      if (!isObject(call)) continue;
      sawCall = true;
      const called = objectOr(call["function"] ?? call["custom"]);
      // In a whole message every entry is a call of its own, also where vendors repeat an id.
      const index = whole ? place : call["index"];
      const id = textIn(call["id"]);
      const name = textIn(called["name"]);
      const signature = readCallSignature(call["extra_content"]);
      blocks.call({
        ...(typeof index === "number" ? { index } : {}),
        ...(id === undefined ? {} : { id }),
        ...(name === undefined ? {} : { name }),
        text: argumentsText(called["arguments"] ?? called["input"]),
        ...(signature === undefined ? {} : { signature }),
      });
    }
    const old = delta["function_call"];
    if (!isObject(old)) return;
    sawCall = true;
    const name = textIn(old["name"]);
    blocks.call({
      index: -1,
      ...(name === undefined ? {} : { name }),
      text: argumentsText(old["arguments"]),
      withoutId: true,
    });
  };
  const stop = (choice: JsonObject): readonly ReplyEvent[] => {
    const word = textIn(choice["finish_reason"]);
    // Some vendors tell the reason twice.
    if (word === undefined || word === stopWord) return [];
    stopWord = word;
    const reason = decodeFinishReason(word);
    if (reason !== "end") return [{ type: "stop", reason, raw: word }];
    if (blocks.refused()) {
      return [{ type: "stop", reason: "refusal", raw: word }];
    }
    // vLLM tells here the stop string that hit; a stop token is told as a number.
    const sequence = textIn(choice["stop_reason"]);
    return [
      sequence === undefined
        ? { type: "stop", reason, raw: word }
        : { type: "stop", reason: "stop_sequence", raw: word, sequence },
    ];
  };
  const head = (chunk: JsonObject): readonly ReplyEvent[] => {
    if (started) return [];
    const id = textIn(chunk["id"]);
    const model = textIn(chunk["model"]);
    // One vendor opens with a frame about the prompt that tells neither; the next one does.
    const about = id === undefined && arrayOr(chunk["choices"]).length === 0 &&
      !isObject(chunk["usage"]);
    if (about) return [];
    started = true;
    return [{
      type: "start",
      ...(id === undefined ? {} : { id }),
      ...(model === undefined ? {} : { model }),
    }];
  };
  return {
    chunk(chunk) {
      const choice = firstChoice(chunk);
      const failure = failureOf(chunk, choice);
      if (failure !== undefined) {
        return [{ type: "error", error: inBandError(failure) }];
      }
      const start = head(chunk);
      const whole = !isObject(choice["delta"]);
      const delta = objectOr(choice[whole ? "message" : "delta"]);
      thoughts(delta);
      content(delta["content"]);
      blocks.prose("refusal", stringIn(delta["refusal"]) ?? "");
      calls(delta, whole);
      const told: ReplyEvent[] = [];
      const usage = decodeUsage(chunk["usage"], usageSoFar) ??
        decodeUsage(objectOr(chunk["x_groq"])["usage"], usageSoFar) ??
        decodeUsage(choice["usage"], usageSoFar);
      if (usage !== undefined) {
        usageSoFar = mergeUsage(usageSoFar, usage);
        told.push({ type: "usage", usage });
      }
      return [...start, ...blocks.take(), ...stop(choice), ...told];
    },
    more(text) {
      blocks.more(text);
      return blocks.take();
    },
    finish() {
      blocks.finish();
      const events = blocks.take();
      if (stopWord === undefined) {
        const reason = sawCall
          ? "tool_use"
          : blocks.refused()
          ? "refusal"
          : "end";
        events.push({ type: "stop", reason, raw: "" });
      }
      events.push({ type: "end" });
      return events;
    },
    finished: () => stopWord !== undefined,
    began: () => blocks.began(),
  };
}

/** Other choices than the first were not asked for across dialects; here they are left alone. */
function firstChoice(chunk: JsonObject): JsonObject {
  return objectOr(
    arrayOr(chunk["choices"]).find((choice) =>
      isObject(choice) && (choice["index"] ?? 0) === 0
    ),
  );
}

/** An error inside a 200: beside the choices, or in place of one. */
function failureOf(
  chunk: JsonObject,
  choice: JsonObject,
): JsonObject | undefined {
  if (isFailure(chunk["error"])) return chunk;
  if (isFailure(choice["error"])) return choice;
  if (choice["finish_reason"] === "error") return {};
  // One vendor answers 200 to everything and tells failures beside an empty list of choices.
  const told = objectOr(chunk["base_resp"]);
  const empty = !isObject(choice["delta"]) && !isObject(choice["message"]);
  if (empty && (countIn(told["status_code"]) ?? 0) > 0) {
    return vendorFailure(told);
  }
  return chunk["object"] === "error" || chunk["type"] === "error"
    ? chunk
    : undefined;
}

function isFailure(error: unknown): boolean {
  return isObject(error) || textIn(error) !== undefined;
}

function thinkingText(value: unknown): string {
  if (typeof value === "string") return value;
  return arrayOr(value).map((part) => stringIn(objectOr(part)["text"]) ?? "")
    .join("");
}

/** Arguments are JSON text; a vendor that sends the object itself means the same. */
function argumentsText(value: unknown): string {
  if (typeof value === "string") return value;
  return isObject(value) ? JSON.stringify(value) : "";
}
