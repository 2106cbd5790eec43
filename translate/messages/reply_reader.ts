/**
 * Reading a reply in the messages format, event by event. Serves streams (`stream.ts`) and whole replies (`reply.ts`) alike,
 * because a whole reply is a start with content and an end.
 *
 * @module
 */
import type { DecodeContext } from "../dialect.ts";
import { ApiError } from "../error.ts";
import {
  arrayOr,
  isObject,
  type JsonObject,
  objectOr,
  stringIn,
  textIn,
} from "../json.ts";
import { mergeUsage, type ReplyEvent, type Usage } from "../reply.ts";
import { inBandError, isErrorBody } from "./error.ts";
import { readUsage, STOP_REASONS } from "./reply_facts.ts";

/** Reads the events of one reply. After an `end` or `error` event it gives nothing more. */
export interface ReplyReader {
  /** What one event of the wire stands for; `name` is its type where the data has none. */
  take(data: JsonObject, name?: string): readonly ReplyEvent[];
  /** What the end of the body stands for. */
  end(): readonly ReplyEvent[];
  /** Ends the reply with an error. */
  fail(error: ApiError): readonly ReplyEvent[];
}

/** The block being read. `skipped`: one that has no neutral place; its deltas go with it. */
interface Open {
  readonly kind: "text" | "reasoning" | "tool" | "skipped";
  /** Its number on the wire. */
  readonly index: number | undefined;
  /** What to give where no deltas follow: the whole input of a call. */
  readonly input?: JsonObject;
  /** True once a delta has been given. */
  told: boolean;
}

/** Makes a {@linkcode ReplyReader} for one reply. */
export function replyReader(context: DecodeContext): ReplyReader {
  let events: ReplyEvent[] = [];
  let started = false;
  let finished = false;
  let done = false;
  let open: Open | undefined;
  let usage: Usage = {};
  let calls = 0;
  let formatCalls = 0;
  // Events of blocks that began before the open one had ended, by the blocks' numbers. No vendor is known to mix them.
  const waiting = new Map<number, JsonObject[]>();

  const begin = (): void => {
    if (started) return;
    started = true;
    events.push({ type: "start" });
  };
  const delta = (text: unknown): void => {
    if (typeof text !== "string" || text === "") return;
    if (open !== undefined) open.told = true;
    events.push({ type: "delta", text });
  };
  const close = (): void => {
    if (open === undefined) return;
    const { kind, input, told } = open;
    if (!told && input !== undefined && Object.keys(input).length > 0) {
      delta(JSON.stringify(input));
    }
    open = undefined;
    if (kind !== "skipped") events.push({ type: "close" });
  };
  const openText = (
    kind: "text" | "reasoning",
    index: number | undefined,
  ): void => {
    events.push({ type: "open", kind });
    open = { kind, index, told: false };
  };
  const sign = (value: unknown, redacted: boolean): void => {
    const text = textIn(value);
    if (text === undefined) return;
    events.push({
      type: "sign",
      signature: {
        from: "messages",
        value: text,
        ...(redacted ? { redacted } : {}),
      },
    });
  };

  const startBlock = (block: JsonObject, index: number | undefined): void => {
    close();
    switch (block["type"]) {
      case "text":
        openText("text", index);
        delta(block["text"]);
        return;
      case "thinking":
        openText("reasoning", index);
        delta(block["thinking"]);
        sign(block["signature"], false);
        return;
      case "redacted_thinking":
        openText("reasoning", index);
        sign(block["data"], true);
        return;
      case "tool_use": {
        const name = stringIn(block["name"]) ?? "";
        if (name === "") {
          fail(
            new ApiError(
              "upstream",
              "the upstream sent a tool call without a name",
            ),
          );
          return;
        }
        const id = textIn(block["id"]);
        const input = objectOr(block["input"]);
        if (name === context.formatTool) {
          formatCalls++;
          events.push({ type: "open", kind: "text" });
          open = { kind: "tool", index, input, told: false };
          return;
        }
        calls++;
        events.push({
          type: "open",
          kind: "tool",
          ...(id === undefined ? {} : { id }),
          name: context.toolNames.get(name) ?? name,
        });
        open = { kind: "tool", index, input, told: false };
        return;
      }
      default:
        // Server tools, their results, and whatever is newer than this file.
        open = { kind: "skipped", index, told: false };
    }
  };

  const moreText = (
    kind: "text" | "reasoning",
    text: unknown,
    index: number | undefined,
  ): void => {
    if (open?.kind === "skipped") return;
    if (typeof text !== "string" || text === "") return;
    if (open?.kind !== kind) {
      close();
      openText(kind, index);
    }
    delta(text);
  };

  /** An event of the open block, or of one that may open now. */
  const step = (data: JsonObject, index: number | undefined): void => {
    if (data["type"] === "content_block_start") {
      startBlock(objectOr(data["content_block"]), index);
      return;
    }
    if (data["type"] === "content_block_stop") {
      close();
      return;
    }
    const change = objectOr(data["delta"]);
    switch (change["type"]) {
      case "text_delta":
        moreText("text", change["text"], index);
        return;
      case "thinking_delta":
        moreText("reasoning", change["thinking"], index);
        return;
      case "signature_delta":
        if (open?.kind === "reasoning") sign(change["signature"], false);
        return;
      case "input_json_delta":
        if (open?.kind === "tool") delta(change["partial_json"]);
        return;
      default:
        // Citations, and whatever is newer than this file.
        return;
    }
  };
  /** Lets blocks in that had to wait for the open one. */
  const admit = (): void => {
    while (open === undefined) {
      const first = waiting.entries().next();
      if (first.done === true) return;
      const [index, held] = first.value;
      waiting.delete(index);
      for (const data of held) step(data, index);
    }
  };
  const route = (data: JsonObject): void => {
    begin();
    const number = data["index"];
    const index = typeof number === "number" ? number : undefined;
    if (
      open?.index !== undefined && index !== undefined && open.index !== index
    ) {
      const held = waiting.get(index);
      if (held === undefined) waiting.set(index, [data]);
      else held.push(data);
      return;
    }
    step(data, index);
    admit();
  };
  const closeAll = (): void => {
    while (open !== undefined || waiting.size > 0) {
      close();
      admit();
    }
  };

  const start = (message: JsonObject): void => {
    const told = readUsage(message["usage"], usage);
    usage = mergeUsage(usage, told);
    if (started) {
      // A second start is a fallback's inside the upstream: the reply goes on.
      closeAll();
      if (Object.keys(told).length > 0) {
        events.push({ type: "usage", usage: told });
      }
      return;
    }
    started = true;
    const id = textIn(message["id"]);
    const model = textIn(message["model"]);
    events.push({
      type: "start",
      ...(id === undefined ? {} : { id }),
      ...(model === undefined ? {} : { model }),
      ...(Object.keys(told).length === 0 ? {} : { usage: told }),
    });
    for (const block of arrayOr(message["content"])) {
      if (!isObject(block)) continue;
      startBlock(block, undefined);
      // What stands whole says its empty input, too.
      if (open?.kind === "tool" && block["input"] !== undefined) {
        delta(JSON.stringify(block["input"]));
      }
      close();
    }
  };
  const finish = (data: JsonObject): void => {
    begin();
    const change = objectOr(data["delta"]);
    const raw = stringIn(change["stop_reason"]);
    if (raw !== undefined) {
      closeAll();
      finished = true;
      const reason = STOP_REASONS.get(raw) ?? "other";
      const sequence = stringIn(change["stop_sequence"]);
      events.push({
        type: "stop",
        reason: reason === "tool_use" && formatCalls > 0 && calls === 0
          ? "end"
          : reason,
        raw,
        ...(sequence === undefined ? {} : { sequence }),
      });
    }
    const told = readUsage(data["usage"], usage);
    if (Object.keys(told).length === 0) return;
    usage = mergeUsage(usage, told);
    events.push({ type: "usage", usage: told });
  };
  const fail = (error: ApiError): void => {
    done = true;
    events.push({ type: "error", error });
  };
  const end = (): void => {
    if (!started) {
      fail(cutShort());
      return;
    }
    closeAll();
    done = true;
    events.push({ type: "end" });
  };

  const collected = (work: () => void): readonly ReplyEvent[] => {
    if (done) return [];
    events = [];
    work();
    return events;
  };
  return {
    take: (data, name) =>
      collected(() => {
        const type = stringIn(data["type"]) ?? name;
        switch (type) {
          case "message_start":
            return start(objectOr(data["message"]));
          case "content_block_start":
          case "content_block_delta":
          case "content_block_stop":
            return route(data);
          case "message_delta":
            return finish(data);
          case "message_stop":
            return end();
          case "error":
            return fail(inBandError(data));
          default:
            // Pings, and whatever is newer than this file. A proxy's error may come without any type.
            if (type === undefined && isErrorBody(data)) {
              fail(inBandError(data));
            }
        }
      }),
    end: () => collected(() => finished ? end() : fail(cutShort())),
    fail: (error) => collected(() => fail(error)),
  };
}

function cutShort(): ApiError {
  return new ApiError(
    "upstream",
    "the upstream's stream ended before its answer was finished",
  );
}
