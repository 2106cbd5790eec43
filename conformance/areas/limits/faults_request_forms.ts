/** Mutants for the checks of documented forms: gateways that refuse them or lose parts of them. */
import {
  arrayOf,
  type Json,
  type JsonObject,
  objectOf,
} from "@model-gateway/replay/json";
import type { Context, Hooks } from "../../reference_gateway/hooks.ts";
import type {
  ModelRequest,
  Turn,
  TurnPart,
} from "../../reference_gateway/part.ts";
import { problemOf } from "../../reference_gateway/problems.ts";
import { asking, refusing } from "./hooks.ts";
import type { Mutant } from "../../reference_gateway/mutant.ts";

type Test = (body: JsonObject, x: Context) => boolean;

function refuses(name: string, about: string, param: string, test: Test) {
  return { name, about, hooks: refusing(param, test) };
}

function breaks(name: string, about: string, test: Test): Mutant {
  return {
    name,
    about,
    hooks: {
      accept: (problem, body, x) =>
        test(body, x) ? problemOf(500, "failed") : problem,
    },
  };
}

function turnsIn(body: JsonObject): readonly JsonObject[] {
  return arrayOf(body["messages"]).map(objectOf);
}

/** The blocks or parts of all turns. */
function blocksIn(body: JsonObject): readonly JsonObject[] {
  return turnsIn(body).flatMap(({ content }) => arrayOf(content).map(objectOf));
}

function hasType(...types: readonly Json[]): Test {
  return (body) =>
    blocksIn(body).some(({ type = null }) => types.includes(type));
}

const isStreamed: Test = (body) => body["stream"] === true;

function has(name: string): Test {
  return (body) => body[name] !== undefined;
}

/** Truncates streams whose request satisfies the test. */
function endless(test: (body: JsonObject) => boolean): Hooks {
  const isEnd = (data: Json | undefined): boolean =>
    objectOf(data)["type"] === "message_stop";
  return {
    frame: (frame, x) => {
      const body = objectOf(JSON.parse(x.request.body));
      const end = frame.data === "[DONE]" ||
        (typeof frame.data !== "string" && isEnd(frame.data));
      return end && test(body) ? [] : [frame];
    },
  };
}

/** Changes the parts of each turn. */
function turning(
  change: (parts: readonly TurnPart[], turn: Turn) => readonly TurnPart[],
): Hooks {
  return asking(({ turns }: ModelRequest) => ({
    turns: turns.map((turn) => ({ ...turn, parts: change(turn.parts, turn) })),
  }));
}

/** Keeps only the first part of one type unchanged. */
function onlyFirst(
  type: TurnPart["type"],
  otherwise: (part: TurnPart) => readonly TurnPart[],
): Hooks {
  return turning((parts) => {
    const first = parts.find((part) => part.type === type);
    return parts.flatMap((part) =>
      part.type !== type || part === first ? [part] : otherwise(part)
    );
  });
}

/** Part of `LIMITS_MUTANTS`. */
export const REQUEST_FORM_MUTANTS: readonly Mutant[] = [
  refuses(
    "temperature-half-refused",
    "A temperature is refused unless it is whole",
    "temperature",
    ({ temperature }) => temperature === 0.5,
  ),
  refuses(
    "temperature-refused-in-streams",
    "A temperature is refused in a stream request",
    "temperature",
    (body, x) => isStreamed(body, x) && has("temperature")(body, x),
  ),
  refuses(
    "top_p-one-refused",
    "top_p close to 1 is refused",
    "top_p",
    ({ top_p }) => top_p === 1,
  ),
  refuses(
    "top_p-refused-in-streams",
    "top_p is refused in a stream request",
    "top_p",
    (body, x) => isStreamed(body, x) && has("top_p")(body, x),
  ),
  refuses(
    "several-stops-refused",
    "More than one stop string is refused",
    "stop_sequences",
    ({ stop_sequences }) => arrayOf(stop_sequences).length > 1,
  ),
  refuses(
    "metadata-refused",
    "Metadata is refused",
    "metadata",
    has("metadata"),
  ),
  breaks("metadata-500", "Metadata causes a server error", has("metadata")),
  refuses(
    "empty-lists-refused",
    "An empty list is refused",
    "tools",
    (body) =>
      ["tools", "stop_sequences"].some((name) => {
        const value = body[name];
        return Array.isArray(value) && value.length === 0;
      }),
  ),
  refuses(
    "system-text-refused",
    "Instructions in a string are refused",
    "system",
    ({ system }) => typeof system === "string",
  ),
  refuses(
    "system-blocks-refused",
    "Instructions in blocks are refused",
    "system",
    ({ system }) => Array.isArray(system),
  ),
  {
    name: "streams-with-system-without-end",
    about: "Streams for requests with instructions lack their last event",
    hooks: endless(({ system }) => system !== undefined),
  },
  refuses(
    "blocks-refused",
    "Content in an array of text parts is refused",
    "messages",
    (body) =>
      turnsIn(body).some(({ content }) =>
        arrayOf(content).filter((block) => objectOf(block)["type"] === "text")
          .length > 1
      ),
  ),
  refuses(
    "images-refused",
    "Pictures are refused",
    "messages",
    hasType("image", "image_url"),
  ),
  breaks("images-500", "Pictures cause a server error", hasType("image")),
  refuses(
    "long-histories-refused",
    "More than four turns are refused",
    "messages",
    (body) => turnsIn(body).length > 4,
  ),
  {
    name: "streams-with-history-without-end",
    about: "Streams for requests with earlier turns lack their last event",
    hooks: endless((body) => turnsIn(body).length > 2),
  },
  refuses("tools-refused", "Tools are refused", "tools", has("tools")),
  refuses(
    "tools-need-a-choice",
    "Tools without tool_choice are refused",
    "tools",
    (body) => body["tools"] !== undefined && body["tool_choice"] === undefined,
  ),
  {
    name: "streams-with-tools-whole",
    about:
      "A request with tools gets a whole reply even when it asks for a stream",
    hooks: asking((modelRequest) =>
      modelRequest.tools.length === 0 ? {} : { stream: false }
    ),
  },
  refuses(
    "max_tokens-one-refused",
    "A limit of one token is refused",
    "max_tokens",
    ({ max_tokens }) => max_tokens === 1,
  ),
  refuses(
    "max_tokens-many-refused",
    "A limit above 1024 tokens is refused",
    "max_tokens",
    ({ max_tokens }) => Number(max_tokens) > 1024,
  ),
  refuses(
    "tool-turns-refused",
    "Turns with tool results are refused",
    "messages",
    (body, x) =>
      hasType("tool_result")(body, x) ||
      turnsIn(body).some(({ role }) => role === "tool"),
  ),
  refuses(
    "empty-results-refused",
    "An empty tool result is refused",
    "messages",
    (body) =>
      blocksIn(body).some(({ type, content }) =>
        type === "tool_result" && content === ""
      ),
  ),
  refuses(
    "calls-need-content",
    "A turn with calls and no content is refused",
    "messages",
    (body) =>
      turnsIn(body).some((turn) =>
        turn["tool_calls"] !== undefined && !("content" in turn)
      ),
  ),
  {
    name: "oldest-turns-dropped",
    about: "The oldest two turns of a long history are not sent",
    hooks: asking(({ turns }) => ({
      turns: turns.length > 4 ? turns.slice(2) : turns,
    })),
  },
  {
    name: "second-block-lost",
    about: "Of several texts in a turn only the first and the last are sent",
    hooks: turning((parts) => {
      const texts = parts.filter(({ type }) => type === "text");
      return parts.filter((part) =>
        part.type !== "text" || part === texts.at(0) ||
        (part === texts.at(-1) && texts.length > 2)
      );
    }),
  },
  {
    name: "text-beside-results-lost",
    about: "Text after tool results is not sent",
    hooks: turning((parts) =>
      parts.some(({ type }) => type === "result")
        ? parts.filter(({ type }) => type !== "text")
        : parts
    ),
  },
  {
    name: "second-result-emptied",
    about: "Of several results in a turn only the first keeps its text",
    hooks: onlyFirst(
      "result",
      (part) => part.type === "result" ? [{ ...part, text: "" }] : [part],
    ),
  },
];
