/** Writes replies in the Responses format. A whole reply is the one in a stream's last frame. */
import { textAt } from "../../evidence/json_path.ts";
import {
  type Json,
  type JsonObject,
  parseJson,
} from "@model-gateway/replay/json";
import type { StopCause } from "@model-gateway/replay/neutral_reply";
import { configOf, seconds, usageBody } from "./responses_config.ts";
import type { OutFrame } from "../hooks.ts";
import type { Part, Problem } from "../part.ts";
import { responsesProblem } from "../problems.ts";
import { type ContentPart, ReplyStream } from "./reply_stream.ts";
import { type NamedTool, sealed, toolsIn } from "./read_responses.ts";

/** An item that is being written, with its text so far. */
interface OpenItem {
  readonly type: "message" | "reasoning" | "function_call" | "custom_tool_call";
  readonly id: string;
  /** The upstream's call; undefined for the other kinds of items. */
  readonly call?: number;
  readonly fields: JsonObject;
  /** True for a message that holds a refusal. */
  readonly refused: boolean;
  text: string;
  begun: boolean;
  signature?: string;
}

const INCOMPLETE: Readonly<Partial<Record<StopCause, string>>> = {
  max_tokens: "max_output_tokens",
  context_window: "max_output_tokens",
  pause: "max_output_tokens",
  other: "max_output_tokens",
  refusal: "content_filter",
};

/** Names of the events about an item's text, of its field, and of the events around it. */
function wordsFor(item: OpenItem): {
  readonly event: string;
  readonly field: string;
  readonly part?: string;
  readonly index?: string;
} {
  switch (item.type) {
    case "message":
      return {
        event: item.refused ? "refusal" : "output_text",
        field: item.refused ? "refusal" : "text",
        part: "content_part",
        index: "content_index",
      };
    case "reasoning":
      return {
        event: "reasoning_summary_text",
        field: "text",
        part: "reasoning_summary_part",
        index: "summary_index",
      };
    case "function_call":
      return { event: "function_call_arguments", field: "arguments" };
    case "custom_tool_call":
      return { event: "custom_tool_call_input", field: "input" };
  }
}

/** Writes one reply. One item is open at a time; overlapping calls follow whole. */
export class ResponsesStream extends ReplyStream {
  readonly #seed: string;
  readonly #config: JsonObject;
  readonly #tools: readonly NamedTool[];
  readonly #output: Json[] = [];
  #frames = 0;
  #started = false;
  #open: OpenItem | undefined;
  #held: ContentPart[] = [];
  #called = 0;
  #refused = false;
  #reply: JsonObject = {};

  /** `asked`: the request, which the reply repeats. */
  constructor(seed: string, model: string, asked: JsonObject) {
    super();
    this.#seed = seed;
    this.#config = configOf(seed, model, asked);
    this.#tools = toolsIn(asked);
  }

  /** The reply after `end()`. */
  override whole(): JsonObject {
    return this.#reply;
  }

  protected override content(part: ContentPart): OutFrame[] {
    return [
      ...this.#start(),
      ...(part.type === "failed"
        ? this.#fail(part.problem)
        : this.#content(part)),
    ];
  }

  /** A sign of life; none before the first frame. */
  keepAlive(): OutFrame[] {
    return this.#started ? [this.#frame("keepalive", {})] : [];
  }

  override end(): OutFrame[] {
    const held = this.#held;
    this.#held = [];
    const incomplete = this.#refused ? undefined : INCOMPLETE[this.cause];
    const frames = this.#start();
    const calls = held.flatMap((part) => part.type === "tool" ? [part] : []);
    if (calls.length > 0) frames.push(...this.#close("completed"));
    for (const { call } of calls) {
      const own = held.filter((part) => "call" in part && part.call === call);
      for (const part of own) frames.push(...this.#content(part));
      frames.push(...this.#close("completed"));
    }
    frames.push(
      ...this.#close(incomplete === undefined ? "completed" : "incomplete"),
    );
    this.#reply = {
      ...this.#config,
      status: incomplete === undefined ? "completed" : "incomplete",
      incomplete_details: incomplete === undefined
        ? null
        : { reason: incomplete },
      completed_at: incomplete === undefined ? seconds() : null,
      output: this.#output,
      usage: usageBody(this.usage),
    };
    const status = textAt(this.#reply, "status");
    frames.push(this.#frame(`response.${status}`, { response: this.#reply }));
    return frames;
  }

  #fail(problem: Problem): OutFrame[] {
    const { code, message, param } = responsesProblem(problem);
    const error = {
      type: problem.type,
      code: code ?? "server_error",
      message,
      param: param ?? null,
    };
    const open = this.#open;
    if (open?.begun) this.#output.push(itemOf(open, "incomplete"));
    const { type: _, ...flat } = error;
    return [
      this.#frame("error", { ...flat, error }),
      this.#frame("response.failed", {
        response: {
          ...this.#config,
          status: "failed",
          error: { code: error.code, message },
          output: this.#output,
        },
      }),
    ];
  }

  #start(): OutFrame[] {
    if (this.#started) return [];
    this.#started = true;
    const response = this.#config;
    return ["created", "in_progress"].map((name) =>
      this.#frame(`response.${name}`, { response })
    );
  }

  #content(part: ContentPart): OutFrame[] {
    switch (part.type) {
      case "text": {
        const refused = part.refused === true;
        this.#refused ||= refused;
        return [...this.#item("message", refused), ...this.#add(part.text)];
      }
      case "thinking":
        return [...this.#item("reasoning"), ...this.#add(part.text)];
      case "signature": {
        const opened = this.#item("reasoning");
        if (this.#open !== undefined) this.#open.signature = part.value;
        return [...opened, ...this.#begin(), ...this.#close("completed")];
      }
      case "tool": {
        if (this.#open?.call !== undefined) {
          this.#held.push(part);
          return [];
        }
        return this.#callItem(part);
      }
      case "args":
        if (this.#open?.call !== part.call) {
          this.#held.push(part);
          return [];
        }
        return this.#open.type === "custom_tool_call"
          ? this.#keep(part.text)
          : this.#add(part.text);
      default:
        return [];
    }
  }

  #callItem(part: Part & { type: "tool" }): OutFrame[] {
    const tool = this.#tools.find(({ name, called, namespace }) =>
      name === part.name || `${namespace}__${called}` === part.name
    );
    const frames = this.#close("completed");
    this.#called++;
    const type = tool?.freeText === true ? "custom_tool_call" : "function_call";
    this.#open = {
      type,
      id: this.#id(tool?.freeText === true ? "ctc" : "fc"),
      call: part.call,
      fields: {
        call_id: `call_${this.#seed}${this.#called}`,
        name: tool?.called ?? part.name,
        ...(tool?.namespace === undefined ? {} : { namespace: tool.namespace }),
      },
      refused: false,
      text: "",
      begun: false,
    };
    return [...frames, ...this.#begin()];
  }

  /** Opens an item for text of that kind, unless one is open. */
  #item(type: "message" | "reasoning", refused: boolean = false): OutFrame[] {
    const open = this.#open;
    if (open?.type === type && open.refused === refused) return [];
    const frames = this.#close("completed");
    const id = this.#id(type === "message" ? "msg" : "rs");
    const fields = type === "message" ? { role: "assistant" } : {};
    this.#open = { type, id, fields, refused, text: "", begun: false };
    return frames;
  }

  #begin(): OutFrame[] {
    const item = this.#open;
    if (item === undefined || item.begun) return [];
    item.begun = true;
    return [
      this.#frame("response.output_item.added", {
        output_index: this.#output.length,
        item: itemOf({ ...item, text: "" }, "in_progress"),
      }),
    ];
  }

  #keep(text: string): OutFrame[] {
    if (this.#open !== undefined) this.#open.text += text;
    return [];
  }

  #add(text: string): OutFrame[] {
    const item = this.#open;
    if (item === undefined || text === "") return [];
    const { event, part } = wordsFor(item);
    const isFirst = item.text === "";
    item.text += text;
    return [
      ...this.#begin(),
      ...(isFirst && part !== undefined
        ? [this.#about(item, `${part}.added`, { part: partOf(item, "") })]
        : []),
      this.#about(item, `${event}.delta`, { delta: text }),
    ];
  }

  #close(status: string): OutFrame[] {
    const item = this.#open;
    if (item === undefined) return [];
    const frames: OutFrame[] = [];
    if (item.type === "custom_tool_call") {
      const input = textAt(parseJson(item.text), "input");
      item.text = "";
      frames.push(...this.#add(input));
    }
    if (item.type === "function_call" && item.text === "") {
      frames.push(...this.#add("{}"));
    }
    this.#open = undefined;
    if (!item.begun) return [];
    const { event, field, part } = wordsFor(item);
    if (part === undefined || item.text !== "") {
      frames.push(this.#about(item, `${event}.done`, { [field]: item.text }));
      if (part !== undefined) {
        const whole = { part: partOf(item, item.text) };
        frames.push(this.#about(item, `${part}.done`, whole));
      }
    }
    const whole = itemOf(item, status);
    frames.push(this.#frame("response.output_item.done", {
      output_index: this.#output.length,
      item: whole,
    }));
    this.#output.push(whole);
    return frames;
  }

  #about(item: OpenItem, name: string, fields: JsonObject): OutFrame {
    const { index } = wordsFor(item);
    return this.#frame(`response.${name}`, {
      item_id: item.id,
      output_index: this.#output.length,
      ...(index === undefined ? {} : { [index]: 0 }),
      ...(name.startsWith("output_text.") ? { logprobs: [] } : {}),
      ...fields,
    });
  }

  #frame(type: string, fields: JsonObject): OutFrame {
    const data = { type, sequence_number: this.#frames++, ...fields };
    return { event: type, data };
  }

  #id(prefix: string): string {
    return `${prefix}_${this.#seed}${this.#output.length}`;
  }
}

function partOf(item: OpenItem, text: string): JsonObject {
  if (item.type === "reasoning") return { type: "summary_text", text };
  return item.refused
    ? { type: "refusal", refusal: text }
    : { type: "output_text", text, annotations: [], logprobs: [] };
}

function itemOf(item: OpenItem, status: string): JsonObject {
  const { type, id, fields, text } = item;
  const parts = text === "" ? [] : [partOf(item, text)];
  switch (type) {
    case "reasoning":
      return {
        id,
        type,
        summary: parts,
        ...(item.signature === undefined
          ? {}
          : { encrypted_content: sealed(item.signature) }),
      };
    case "message":
      return { id, type, status, ...fields, content: parts };
    default:
      return { id, type, status, ...fields, [wordsFor(item).field]: text };
  }
}
