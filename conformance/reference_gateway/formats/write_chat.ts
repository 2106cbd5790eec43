/** Writes replies in the chat-completion format. */
import {
  type Json,
  type JsonObject,
  objectOf,
} from "@model-gateway/replay/json";
import type {
  NeutralUsage,
  StopCause,
} from "@model-gateway/replay/neutral_reply";
import { foldChat } from "@model-gateway/replay/fold_stream";
import { at, listAt } from "../../evidence/json_path.ts";
import type { OutFrame } from "../hooks.ts";
import type { Part } from "../part.ts";
import { problemBody } from "../problems.ts";
import { causeOf, type ContentPart, ReplyStream } from "./reply_stream.ts";

const STOPS: Readonly<Record<StopCause, string>> = {
  end: "stop",
  max_tokens: "length",
  stop_sequence: "stop",
  tool_use: "tool_calls",
  refusal: "content_filter",
  pause: "length",
  context_window: "length",
  other: "length",
};

function seconds(): number {
  return Math.floor(Date.now() / 1000);
}

function usageBody(usage: NeutralUsage): JsonObject {
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite;
  return {
    prompt_tokens: prompt,
    completion_tokens: usage.output,
    total_tokens: prompt + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cacheRead },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
  };
}

export class ChatStream extends ReplyStream {
  readonly #id: string;
  readonly #model: string;
  readonly #usageAsked: boolean;
  readonly #created: number = seconds();
  readonly #calls: number[] = [];
  readonly #argued = new Set<number>();
  #started = false;

  /** `usageAsked`: a chunk with the usage precedes the end. */
  constructor(id: string, model: string, usageAsked: boolean) {
    super();
    this.#id = id;
    this.#model = model;
    this.#usageAsked = usageAsked;
  }

  protected override content(part: ContentPart): OutFrame[] {
    switch (part.type) {
      case "text":
        return [
          ...this.#start(),
          this.#delta(
            part.refused === true
              ? { refusal: part.text }
              : { content: part.text },
          ),
        ];
      case "source":
        return isOwn(part) ? [this.#delta({ annotations: [part.source] })] : [];
      case "tool": {
        const index = this.#calls.push(part.call) - 1;
        return [
          ...this.#start(),
          this.#delta({
            tool_calls: [{
              index,
              id: part.id,
              type: "function",
              function: { name: part.name, arguments: "" },
            }],
          }),
        ];
      }
      case "args": {
        const index = this.#calls.indexOf(part.call);
        // Arguments of a tool that the vendor runs itself.
        if (index < 0) return [];
        if (part.text === "") return [];
        this.#argued.add(part.call);
        const call = { index, function: { arguments: part.text } };
        return [this.#delta({ tool_calls: [call] })];
      }
      case "failed":
        return [{ data: problemBody(part.problem) }];
      case "thinking":
      case "signature":
      case "redacted":
        return this.#start();
    }
  }

  override whole(frames: readonly JsonObject[]): JsonObject {
    const { choices, usage } = foldChat(frames);
    const first = objectOf(at(choices, "0"));
    const { content, ...message } = objectOf(first["message"]);
    const isText = content !== "" ||
      listAt(message, "tool_calls").length === 0 &&
        message["refusal"] === undefined;
    return {
      id: this.#id,
      object: "chat.completion",
      created: this.#created,
      model: this.#model,
      choices: [{
        index: 0,
        ...first,
        message: {
          role: "assistant",
          content: isText ? content : null,
          ...message,
        },
      }],
      usage,
    };
  }

  override end(): OutFrame[] {
    const cause = causeOf(this.cause, this.#calls.length > 0);
    const usage = { ...this.#chunk([]), usage: usageBody(this.usage) };
    const silent = this.#calls.filter((call) => !this.#argued.has(call));
    return [
      ...this.#start(),
      ...silent.flatMap((call) =>
        this.part({ type: "args", call, text: "{}" })
      ),
      { data: this.#chunk([choice({}, STOPS[cause])]) },
      ...(this.#usageAsked ? [{ data: usage }] : []),
      { data: "[DONE]" },
    ];
  }

  #start(): OutFrame[] {
    if (this.#started) return [];
    this.#started = true;
    return [this.#delta({ role: "assistant", content: "" })];
  }

  #delta(delta: JsonObject): OutFrame {
    return { data: this.#chunk([choice(delta, null)]) };
  }

  #chunk(choices: readonly Json[]): JsonObject {
    return {
      id: this.#id,
      object: "chat.completion.chunk",
      created: this.#created,
      model: this.#model,
      choices,
      ...(this.#usageAsked ? { usage: null } : {}),
    };
  }
}

function isOwn({ of }: Part & { readonly type: "source" }): boolean {
  return of === "chat_completions";
}

function choice(delta: JsonObject, finish: string | null): JsonObject {
  return { index: 0, delta, finish_reason: finish };
}
