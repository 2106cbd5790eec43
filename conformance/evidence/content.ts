/** What a reply says, whatever its format and form: for comparing replies with each other and with their fixture. */
import { WRITTEN } from "../fixtures/mod.ts";
import type { Dialect } from "../replay/call.ts";
import {
  contentOfStream,
  contentOfWhole,
  type ReadContent,
  toldIn,
} from "../replay/content_of.ts";
import { isObject, objectOf } from "../replay/json.ts";
import type { StopCause } from "../replay/said.ts";
import { brief } from "./json_path.ts";
import type { Exchange } from "./exchange.ts";

/** What an exchange says. */
export function contentOf(exchange: Exchange): ReadContent {
  const dialect = exchange.endpoint === "chat"
    ? "chat_completions"
    : "messages";
  if (exchange.frames.length === 0) {
    return contentOfWhole(dialect, objectOf(exchange.json));
  }
  return contentOfStream(
    dialect,
    exchange.frames.flatMap(({ json }) => isObject(json) ? [json] : []),
  );
}

/**
 * What a fixture says when it is sent in a dialect.
 * @throws when no fixture of that name is written out
 */
export function fixtureSays(
  name: string,
  via: Dialect | undefined,
): ReadContent {
  const fixture = WRITTEN.get(name);
  if (fixture === undefined) throw new Error(`No fixture is named ${name}`);
  const own = via === undefined ? {} : fixture.saysIn?.[via] ?? {};
  return toldIn({ ...fixture.says, ...own });
}

/** Input and output tokens as one of the two formats counts them: the whole prompt, and everything generated. */
export function tokensOf({ usage }: ReadContent): {
  readonly input: number;
  readonly output: number;
} {
  return {
    input: usage.input + usage.cacheRead + usage.cacheWrite,
    output: usage.output,
  };
}

/** Stop causes that the chat format cannot tell apart. */
const IN_CHAT: Readonly<Partial<Record<StopCause, StopCause>>> = {
  stop_sequence: "end",
  pause: "end",
  context_window: "max_tokens",
  other: "end",
};

/** The stop cause as the chat format can tell it. */
export function causeInChat(cause: StopCause): StopCause {
  return IN_CHAT[cause] ?? cause;
}

/** Text and tool calls in a form that can be compared and shown. */
export function words(content: ReadContent): string {
  return brief({ text: content.text, tools: content.tools }, 2000);
}

/** All that two replies to the same must share, in a form that can be compared and shown. */
export function everythingIn(content: ReadContent): string {
  return JSON.stringify({
    text: content.text + content.refusal,
    tools: content.tools,
    stop: content.stop,
    stopSequence: content.stopSequence,
    tokens: tokensOf(content),
  });
}
