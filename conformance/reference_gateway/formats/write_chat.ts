/** Writes replies in the chat-completion format. */
import type { Json, JsonObject } from "@model-gateway/replay/json";
import type {
  NeutralUsage,
  StopCause,
} from "@model-gateway/replay/neutral_reply";
import { causeOf, NO_USAGE, type Whole } from "./fold.ts";
import type { OutFrame } from "../hooks.ts";
import type { Part } from "../part.ts";
import { problemBody } from "../problems.ts";

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

/** A whole reply. */
export function chatWhole(whole: Whole, id: string, model: string): JsonObject {
  const texts = whole.blocks.filter((block) => block.type === "text");
  const text = texts.map((block) => block.refused ? "" : block.text).join("");
  const refusal = texts.map((block) => block.refused ? block.text : "")
    .join("");
  const annotations = texts.flatMap((block) => block.sources).filter(isOwn)
    .map((part) => part.source);
  const calls = whole.blocks.flatMap((block): JsonObject[] =>
    block.type === "tool"
      ? [{
        id: block.id,
        type: "function",
        function: { name: block.name, arguments: JSON.stringify(block.args) },
      }]
      : []
  );
  return {
    id,
    object: "chat.completion",
    created: seconds(),
    model,
    choices: [{
      index: 0,
      message: {
        role: "assistant",
        content: text === "" && (calls.length > 0 || refusal !== "")
          ? null
          : text,
        ...(refusal === "" ? {} : { refusal }),
        ...(annotations.length === 0 ? {} : { annotations }),
        ...(calls.length === 0 ? {} : { tool_calls: calls }),
      },
      finish_reason: STOPS[whole.cause],
    }],
    usage: usageBody(whole.usage),
  };
}

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

/** Writes one stream. */
export class ChatStream {
  readonly #id: string;
  readonly #model: string;
  readonly #usageAsked: boolean;
  readonly #created: number = seconds();
  readonly #calls: number[] = [];
  readonly #argued = new Set<number>();
  #started = false;
  #usage: NeutralUsage = NO_USAGE;
  #cause: StopCause = "end";

  /** `usageAsked`: a chunk with the usage precedes the end. */
  constructor(id: string, model: string, usageAsked: boolean) {
    this.#id = id;
    this.#model = model;
    this.#usageAsked = usageAsked;
  }

  /** The frames for a part. */
  part(part: Part): OutFrame[] {
    switch (part.type) {
      case "usage":
        this.#usage = { ...this.#usage, ...part.usage };
        return [];
      case "stop":
        if (this.#cause === "end") this.#cause = part.cause;
        return [];
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

  /** The frames of a proper end. */
  end(): OutFrame[] {
    const cause = causeOf(this.#cause, this.#calls.length > 0);
    const usage = { ...this.#chunk([]), usage: usageBody(this.#usage) };
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
