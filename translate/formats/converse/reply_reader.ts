/**
 * Decodes a reply in the Converse format, event by event, for streams (`decode_stream.ts`) and
 * whole replies (`decode_reply.ts`).
 */
import type { DecodeContext } from "../../dialect.ts";
import { compact } from "../../bytes/compact.ts";
import { upstreamJson } from "../../bytes/exact_json.ts";
import {
  arrayOr,
  type JsonObject,
  objectOr,
  stringIn,
  textIn,
} from "../../bytes/json.ts";
import { MAX_CITATIONS } from "../../model/citation.ts";
import { ApiError } from "../../model/error.ts";
import type { ReplyEvent } from "../../model/reply.ts";
import { readStopReason } from "./stop_reason.ts";
import { readMetadata } from "./usage.ts";
import {
  cutStream,
  unknownEnd,
  unnamedCall,
} from "../../model/reply_faults.ts";

/** Decodes the events of one reply. Returns nothing after an `end` or `error` event. */
interface ReplyReader {
  /** The neutral events of one wire event. */
  read(name: string, data: JsonObject): readonly ReplyEvent[];
  end(): readonly ReplyEvent[];
  fail(error: ApiError): readonly ReplyEvent[];
}

/** The open block. A `skipped` one has no neutral counterpart; its deltas are ignored. */
interface BlockRead {
  readonly kind: "text" | "reasoning" | "tool" | "skipped";
  /** Its index on the wire. */
  readonly index: unknown;
}

export function replyReader(context: DecodeContext): ReplyReader {
  let events: ReplyEvent[] = [];
  let started = false;
  let stopped = false;
  let done = false;
  let open: BlockRead | undefined;
  let calls = 0;
  let formatCalls = 0;
  let sawMedia = false;
  let citations = 0;

  const begin = (): void => {
    if (started) return;
    started = true;
    events.push({ type: "start" });
  };
  const fail = (error: ApiError): void => {
    done = true;
    events.push({ type: "error", error });
  };
  const close = (): void => {
    if (open !== undefined && open.kind !== "skipped") {
      events.push({ type: "close" });
    }
    open = undefined;
  };
  const delta = (text: unknown): void => {
    if (typeof text === "string" && text !== "") {
      events.push({ type: "delta", text });
    }
  };
  /** Text and reasoning have no start on the wire: their first delta opens them. */
  const ensure = (kind: "text" | "reasoning", index: unknown): void => {
    if (open?.kind === kind && open.index === index) return;
    close();
    events.push({ type: "open", kind });
    open = { kind, index };
  };
  const startTool = (tool: JsonObject, index: unknown): void => {
    if (tool["type"] === HOST_CALL) return skip({ [HOST_CALL]: tool }, index);
    const name = stringIn(tool["name"]) ?? "";
    if (name === "") {
      return fail(unnamedCall());
    }
    const id = textIn(tool["toolUseId"]);
    open = { kind: "tool", index };
    if (name === context.formatTool) {
      formatCalls++;
      events.push({ type: "open", kind: "text", isAnswer: true });
      return;
    }
    calls++;
    events.push({
      type: "open",
      kind: "tool",
      ...(id === undefined ? {} : { id }),
      name: context.toolNames.get(name) ?? name,
    });
  };
  const startBlock = (start: JsonObject, index: unknown): void => {
    close();
    if (start["toolUse"] !== undefined) {
      return startTool(objectOr(start["toolUse"]), index);
    }
    // Text and reasoning wait for their first delta; no client receives the other kinds.
    if (Object.keys(start).some((key) => !LAZY.has(key))) skip(start, index);
  };
  const skip = (part: JsonObject, index: unknown): void => {
    close();
    const [kind = ""] = Object.keys(part);
    if (MEDIA.has(kind)) sawMedia = true;
    // What the vendor's own tool returned is no part of the answer.
    else if (kind !== "toolResult") events.push({ type: "lost", kind });
    open = { kind: "skipped", index };
  };
  /** A source of the open text, or of the text of this block. */
  const cite = (value: unknown, index: unknown): void => {
    const { title, location, sourceContent } = objectOr(value);
    const url = textIn(objectOr(objectOr(location)["web"])["url"]);
    if (url === undefined || ++citations > MAX_CITATIONS) return;
    ensure("text", index);
    const others = compact({
      title: textIn(title),
      quote: textIn(textsIn(sourceContent)),
    });
    events.push({ type: "cite", citation: { url, ...others } });
  };
  const reasoning = (part: JsonObject, index: unknown): void => {
    const value = textIn(part["signature"]) ?? textIn(part["redactedContent"]);
    if (value === undefined && typeof part["text"] !== "string") return;
    ensure("reasoning", index);
    delta(part["text"]);
    if (value === undefined) return;
    const redacted = part["redactedContent"] !== undefined;
    events.push({
      type: "sign",
      signature: {
        from: "converse",
        value,
        ...(redacted ? { redacted } : {}),
      },
    });
  };
  const more = (part: JsonObject, index: unknown): void => {
    if (open?.kind === "skipped" && open.index === index) return;
    if (typeof part["text"] === "string" && part["text"] !== "") {
      ensure("text", index);
      delta(part["text"]);
    } else if (part["reasoningContent"] !== undefined) {
      reasoning(objectOr(part["reasoningContent"]), index);
    } else if (part["toolUse"] !== undefined) {
      if (open?.kind !== "tool" || open.index !== index) {
        return fail(
          new ApiError(
            "upstream",
            "the upstream sent input of a tool call that has not begun",
          ),
        );
      }
      delta(objectOr(part["toolUse"])["input"]);
    } else if (part["citation"] !== undefined) cite(part["citation"], index);
    else if (Object.keys(part).some((key) => !LAZY.has(key))) skip(part, index);
  };
  const stop = (raw: string): void => {
    close();
    stopped = true;
    const reason = readStopReason(raw);
    events.push({
      type: "stop",
      reason: reason === "tool_use" && formatCalls > 0 && calls === 0
        ? "end"
        : reason === "end" && sawMedia
        ? "other"
        : reason ?? "other",
      raw,
      ...(reason === undefined ? { failure: unknownEnd(raw) } : {}),
    });
  };
  const end = (): void => {
    if (!stopped) {
      return fail(cutStream());
    }
    done = true;
    events.push({ type: "end" });
  };
  const metadata = (data: JsonObject): void => {
    const usage = readMetadata(data);
    if (Object.keys(usage).length > 0) events.push({ type: "usage", usage });
    // It is the last event; the usage comes with it.
    if (stopped) end();
  };
  /** A block of a whole reply. */
  const block = (part: JsonObject, index: unknown): void => {
    const { toolUse, reasoningContent, citationsContent } = part;
    if (toolUse !== undefined) {
      const call = objectOr(toolUse);
      startTool(call, index);
      if (!done && call["input"] !== undefined) {
        delta(upstreamJson(call["input"]));
      }
    } else if (reasoningContent !== undefined) {
      const content = objectOr(reasoningContent);
      reasoning({ ...content, ...objectOr(content["reasoningText"]) }, index);
    } else if (citationsContent !== undefined) {
      const { content, citations } = objectOr(citationsContent);
      more({ text: textsIn(content) }, index);
      for (const citation of arrayOr(citations)) cite(citation, index);
    } else more(part, index);
    close();
  };

  const collect = (work: () => void): readonly ReplyEvent[] => {
    if (done) return [];
    events = [];
    work();
    return events;
  };
  return {
    read: (name, data) =>
      collect(() => {
        const index = data["contentBlockIndex"];
        switch (name) {
          case "messageStart":
            return begin();
          case "contentBlockStart":
            begin();
            return startBlock(objectOr(data["start"]), index);
          case "contentBlockDelta":
            begin();
            return more(objectOr(data["delta"]), index);
          case "contentBlockStop":
            return close();
          case "block":
            begin();
            return block(data, index);
          case "messageStop":
            begin();
            return stop(textIn(data["stopReason"]) ?? "end_turn");
          case "metadata":
            return metadata(data);
        }
      }),
    end: () => collect(end),
    fail: (error) => collect(() => fail(error)),
  };
}

/** Kinds of start whose block opens with its first delta. */
const LAZY: ReadonlySet<string> = new Set(["text", "reasoningContent"]);

/** The type of a call that the host itself ran. */
const HOST_CALL = "server_tool_use";

/** Kinds of blocks without which a reply is not complete. */
const MEDIA: ReadonlySet<string> = new Set(["image", "audio", "video"]);

/** The texts of a list of parts, as one. */
function textsIn(parts: unknown): string {
  return arrayOr(parts).map((part) => stringIn(objectOr(part)["text"]) ?? "")
    .join("");
}
