/** Writes replies in the generate-content format. */
import { compact } from "@model-gateway/replay/compact";
import { at, listAt, textAt } from "../../evidence/json_path.ts";
import {
  type JsonObject,
  objectOf,
  parseJson,
} from "@model-gateway/replay/json";
import type {
  NeutralUsage,
  StopCause,
} from "@model-gateway/replay/neutral_reply";
import type { OutFrame } from "../hooks.ts";
import { contentProblem } from "../problems.ts";
import { foreignSignature } from "./read_generate_content.ts";
import { type ContentPart, ReplyStream } from "./reply_stream.ts";

const STOPS: Readonly<Record<StopCause, string>> = {
  end: "STOP",
  max_tokens: "MAX_TOKENS",
  stop_sequence: "STOP",
  tool_use: "STOP",
  refusal: "SAFETY",
  pause: "OTHER",
  context_window: "MAX_TOKENS",
  other: "OTHER",
};

/** A call whose arguments are still arriving. */
interface OpenCall {
  readonly call: number;
  readonly id: string;
  readonly name: string;
  readonly signature?: string;
  args: string;
}

export class ContentStream extends ReplyStream {
  readonly #id: string;
  readonly #model: string;
  #begun = false;
  #open: OpenCall[] = [];

  /** `id` and `model` are in every object. */
  constructor(id: string, model: string) {
    super();
    this.#id = id;
    this.#model = model;
  }

  protected override content(part: ContentPart): OutFrame[] {
    switch (part.type) {
      case "text":
        return [...this.#calls(), this.#piece({ text: part.text })];
      case "thinking":
        return [
          ...this.#calls(),
          this.#piece({ text: part.text, thought: true }),
        ];
      case "signature":
        return [
          this.#piece(
            part.of === "generate_content"
              ? { text: "", thoughtSignature: part.value }
              : {
                text: "",
                thought: true,
                thoughtSignature: foreignSignature(part.value),
              },
          ),
        ];
      case "tool":
        this.#open.push({ ...part, args: "" });
        return [];
      case "args": {
        const open = this.#open.find(({ call }) => call === part.call);
        if (open !== undefined) open.args += part.text;
        return [];
      }
      case "failed":
        return [{ data: contentProblem(part.problem) }];
      case "source":
      case "redacted":
        return [];
    }
  }

  override end(): OutFrame[] {
    const calls = this.#calls();
    const isBlocked = this.cause === "refusal" && !this.#begun;
    const last = this.#object({
      ...(isBlocked ? { promptFeedback: { blockReason: "SAFETY" } } : {
        candidates: [{
          content: { parts: [{ text: "" }], role: "model" },
          finishReason: STOPS[this.cause],
          index: 0,
        }],
      }),
      usageMetadata: usageBody(this.usage),
    });
    return [...calls, last];
  }

  override whole(frames: readonly JsonObject[]): JsonObject {
    const last = frames.at(-1) ?? {};
    if (last["promptFeedback"] !== undefined) return last;
    const parts: JsonObject[] = [];
    for (const part of frames.flatMap(partsOf)) {
      const before = parts.at(-1);
      if (before !== undefined && joins(before, part)) {
        parts.splice(-1, 1, {
          ...before,
          ...part,
          text: textAt(before, "text") + textAt(part, "text"),
        });
      } else parts.push(part);
    }
    const given = parts.filter((part) =>
      part["text"] !== "" || part["thoughtSignature"] !== undefined
    );
    return {
      ...last,
      candidates: listAt(last, "candidates").map((candidate) => ({
        ...objectOf(candidate),
        content: {
          parts: given.length === 0 ? [{ text: "" }] : given,
          role: "model",
        },
      })),
    };
  }

  /** The calls that are complete. */
  #calls(): OutFrame[] {
    const calls = this.#open;
    this.#open = [];
    return calls.map(({ id, name, args, signature }) =>
      this.#piece({
        functionCall: { id, name, args: objectOf(parseJson(args || "{}")) },
        ...compact({ thoughtSignature: signature }),
      })
    );
  }

  #piece(part: JsonObject): OutFrame {
    return this.#object({
      candidates: [{ content: { parts: [part], role: "model" }, index: 0 }],
    });
  }

  #object(members: JsonObject): OutFrame {
    this.#begun = true;
    return {
      data: { ...members, modelVersion: this.#model, responseId: this.#id },
    };
  }
}

function partsOf(object: JsonObject): JsonObject[] {
  return listAt(object, "candidates.0.content.parts").map(objectOf);
}

/** Whether a part goes on with the text or the thought before it. */
function joins(before: JsonObject, part: JsonObject): boolean {
  return at(before, "text") !== undefined && at(part, "text") !== undefined &&
    before["thought"] === part["thought"] &&
    before["thoughtSignature"] === undefined;
}

function usageBody(usage: NeutralUsage): JsonObject {
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite;
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: usage.output - usage.reasoning,
    thoughtsTokenCount: usage.reasoning,
    cachedContentTokenCount: usage.cacheRead,
    totalTokenCount: prompt + usage.output,
  };
}

/** The text of a frame in a stream that is one JSON array; `number` counts the frames from 0. */
export function elementOf({ data }: OutFrame, number: number): string {
  return `${number === 0 ? "[" : ",\n"}${
    typeof data === "string" ? data : JSON.stringify(data)
  }`;
}

/** The end of such a stream after that many frames. */
export function arrayEnd(number: number): string {
  return number === 0 ? "[]" : "]";
}
