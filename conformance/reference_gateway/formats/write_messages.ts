/** Writes replies in the message format. */
import type { JsonObject } from "@model-gateway/replay/json";
import type {
  NeutralUsage,
  StopCause,
} from "@model-gateway/replay/neutral_reply";
import { foldMessages } from "@model-gateway/replay/fold_stream";
import type { OutFrame } from "../hooks.ts";
import type { Part } from "../part.ts";
import { problemBody } from "../problems.ts";
import { causeOf, type ContentPart, ReplyStream } from "./reply_stream.ts";

const STOPS: Readonly<Record<StopCause, string>> = {
  end: "end_turn",
  max_tokens: "max_tokens",
  stop_sequence: "stop_sequence",
  tool_use: "tool_use",
  refusal: "end_turn",
  pause: "pause_turn",
  context_window: "max_tokens",
  other: "max_tokens",
};

function usageBody(usage: NeutralUsage): JsonObject {
  return {
    input_tokens: usage.input,
    cache_creation_input_tokens: usage.cacheWrite,
    cache_read_input_tokens: usage.cacheRead,
    output_tokens: usage.output,
  };
}

/**
 * Writes one stream. One block is open at a time; overlapping calls are buffered and follow whole.
 */
export class MessagesStream extends ReplyStream {
  readonly #id: string;
  readonly #model: string;
  readonly #estimate: number;
  #started = false;
  #open: "text" | "thinking" | number | undefined;
  #index = -1;
  #held: ContentPart[] = [];
  #called = false;

  /** `estimate` is used as the input tokens until the upstream reports them. */
  constructor(id: string, model: string, estimate: number) {
    super();
    this.#id = id;
    this.#model = model;
    this.#estimate = estimate;
  }

  protected override content(part: ContentPart): OutFrame[] {
    return [...this.#start(), ...this.#content(part)];
  }

  override whole(frames: readonly JsonObject[]): JsonObject {
    return foldMessages(frames);
  }

  override end(): OutFrame[] {
    const tail = [...this.#start(), ...this.#close()];
    const held = this.#held;
    this.#held = [];
    for (const call of new Set(held.map(callNumber))) {
      for (const part of held.filter((each) => callNumber(each) === call)) {
        tail.push(...this.#content(part));
      }
      tail.push(...this.#close());
    }
    const cause = causeOf(this.cause, this.#called);
    return [
      ...tail,
      frame("message_delta", {
        delta: {
          stop_reason: STOPS[cause],
          stop_sequence: cause === "stop_sequence" ? this.sequence : null,
        },
        usage: usageBody(this.usage),
      }),
      frame("message_stop", {}),
    ];
  }

  #start(): OutFrame[] {
    if (this.#started) return [];
    this.#started = true;
    const input = this.usage.input || this.#estimate;
    return [frame("message_start", {
      message: {
        id: this.#id,
        type: "message",
        role: "assistant",
        model: this.#model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: usageBody({ ...this.usage, input, output: 1 }),
      },
    })];
  }

  #content(part: ContentPart): OutFrame[] {
    switch (part.type) {
      case "text":
        return [
          ...this.#openBlock("text", { type: "text", text: "" }),
          this.#delta({ type: "text_delta", text: part.text }),
        ];
      case "thinking":
        return [
          ...this.#openThinking(),
          this.#delta({ type: "thinking_delta", thinking: part.text }),
        ];
      case "signature":
        return [
          ...this.#openThinking(),
          this.#delta({ type: "signature_delta", signature: part.value }),
          ...this.#close(),
        ];
      case "source":
        if (!isOwn(part)) return [];
        return [
          ...this.#openBlock("text", { type: "text", text: "" }),
          this.#delta({ type: "citations_delta", citation: part.source }),
        ];
      case "redacted": {
        const opened = this.#openBlock("thinking", {
          type: "redacted_thinking",
          data: part.data,
        });
        return [...opened, ...this.#close()];
      }
      case "tool": {
        this.#called = true;
        if (typeof this.#open === "number" && this.#open !== part.call) {
          this.#held.push(part);
          return [];
        }
        const { id, name } = part;
        return this.#openBlock(part.call, {
          type: "tool_use",
          id,
          name,
          input: {},
        });
      }
      case "args":
        if (this.#open !== part.call) {
          this.#held.push(part);
          return [];
        }
        return [
          this.#delta({ type: "input_json_delta", partial_json: part.text }),
        ];
      case "failed":
        return [{ event: "error", data: problemBody(part.problem) }];
    }
  }

  #openThinking(): OutFrame[] {
    const block = { type: "thinking", thinking: "", signature: "" };
    return this.#openBlock("thinking", block);
  }

  #openBlock(
    open: "text" | "thinking" | number,
    block: JsonObject,
  ): OutFrame[] {
    if (this.#open === open) return [];
    const closed = this.#close();
    this.#open = open;
    this.#index++;
    return [
      ...closed,
      frame("content_block_start", {
        index: this.#index,
        content_block: block,
      }),
    ];
  }

  #delta(delta: JsonObject): OutFrame {
    return frame("content_block_delta", { index: this.#index, delta });
  }

  #close(): OutFrame[] {
    if (this.#open === undefined) return [];
    this.#open = undefined;
    return [frame("content_block_stop", { index: this.#index })];
  }
}

function isOwn({ of }: Part & { readonly type: "source" }): boolean {
  return of === "messages";
}

function callNumber(part: Part): number {
  return part.type === "tool" || part.type === "args" ? part.call : -1;
}

function frame(type: string, fields: JsonObject): OutFrame {
  return { event: type, data: { type, ...fields } };
}
