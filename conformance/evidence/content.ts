/**
 * The content of a reply, independent of its format and form, for comparing replies with each other
 * and with their fixture.
 */
import { WRITTEN } from "@model-gateway/replay/fixtures";
import type { DialectName } from "@model-gateway/replay/parse_request";
import {
  completeContent,
  contentOfStream,
  contentOfWhole,
  type ReadContent,
} from "@model-gateway/replay/content_of";
import { isObject, objectOf } from "@model-gateway/replay/json";
import type { StopCause } from "@model-gateway/replay/neutral_reply";
import { brief, inKeyOrder } from "./json_path.ts";
import type { Exchange } from "./exchange.ts";

/** The content with the arguments of its calls in the order of their names. */
export function comparable(content: ReadContent): ReadContent {
  return {
    ...content,
    tools: content.tools.map(({ name, args }) => ({
      name,
      args: inKeyOrder(args),
    })),
  };
}

/** The format of an endpoint's replies, where it is not the message format. */
const DIALECTS: Readonly<Partial<Record<Exchange["endpoint"], DialectName>>> = {
  chat: "chat_completions",
  responses: "responses",
  generate_content: "generate_content",
};

export function contentOf(exchange: Exchange): ReadContent {
  const dialect = DIALECTS[exchange.endpoint] ?? "messages";
  if (exchange.frames.length === 0) {
    return comparable(contentOfWhole(dialect, objectOf(exchange.json)));
  }
  return comparable(contentOfStream(
    dialect,
    exchange.frames.flatMap(({ json }) => isObject(json) ? [json] : []),
  ));
}

/**
 * The content of a fixture as sent in a dialect.
 * @throws when no fixture has this name
 */
export function fixtureContent(
  name: string,
  via: DialectName | undefined,
): ReadContent {
  const fixture = WRITTEN.get(name);
  if (fixture === undefined) throw new Error(`No fixture is named ${name}`);
  const own = via === undefined ? {} : fixture.contentIn?.[via] ?? {};
  const content = comparable(completeContent({ ...fixture.content, ...own }));
  // This dialect has no word for these.
  return via === "responses" &&
      ["stop_sequence", "pause", "other"].includes(content.stop)
    ? { ...content, stop: "end", stopSequence: null }
    : content;
}

/**
 * Input and output tokens in the chat format's way of counting: the whole prompt, and everything
 * generated.
 */
export function tokensOf({ usage }: ReadContent): {
  readonly input: number;
  readonly output: number;
} {
  return {
    input: usage.input + usage.cacheRead + usage.cacheWrite,
    output: usage.output,
  };
}

/** Stop causes that the chat format cannot distinguish. */
const IN_CHAT: Readonly<Partial<Record<StopCause, StopCause>>> = {
  stop_sequence: "end",
  pause: "end",
  context_window: "max_tokens",
  other: "end",
};

/** The stop cause, as far as the chat format can express it. */
export function causeInChat(cause: StopCause): StopCause {
  return IN_CHAT[cause] ?? cause;
}

/** Text and tool calls as a string, for comparing and for reports. */
export function textAndCalls(content: ReadContent): string {
  return brief({ text: content.text, tools: content.tools }, 2000);
}

/**
 * All content that two replies to the same request must share, as a string for comparing and for
 * reports.
 */
export function fullContent(content: ReadContent): string {
  return JSON.stringify({
    text: content.text + content.refusal,
    tools: content.tools,
    stop: content.stop,
    stopSequence: content.stopSequence,
    tokens: tokensOf(content),
  });
}
