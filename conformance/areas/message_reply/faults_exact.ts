/**
 * Mutants for the checks of the area `message_reply` that compare with the fixture: replies of the
 * right shape with wrong content.
 */
import { listAt, numberAt, textAt } from "../../evidence/json_path.ts";
import {
  type Json,
  type JsonObject,
  objectOf,
  parseJson,
} from "@model-gateway/replay/json";
import { withAt } from "../../reference_gateway/change_reply.ts";
import {
  asLatin1,
  block,
  reply,
} from "../../reference_gateway/change_messages.ts";
import type { Mutant } from "../../reference_gateway/mutant.ts";

/** A mutant that changes a count of the usage. */
function counted(
  name: string,
  about: string,
  field: string,
  change: (count: number, body: JsonObject) => number,
): Mutant {
  return reply(name, about, (body) => {
    const count = numberAt(body, `usage.${field}`) ?? 0;
    return withAt(body, `usage.${field}`, change(count, body));
  });
}

/** A mutant that replaces one stop reason by another. */
function stopped(
  name: string,
  about: string,
  reason: string,
  change: Readonly<Record<string, Json>>,
): Mutant {
  return reply(
    name,
    about,
    (body) => body["stop_reason"] === reason ? { ...body, ...change } : body,
  );
}

/** Part of `MESSAGE_REPLY_MUTANTS`. */
export const MESSAGE_REPLY_EXACT_MUTANTS: readonly Mutant[] = [
  block(
    "message-text-latin1",
    "UTF-8 is decoded as Latin-1",
    "text",
    (each) => ({
      ...each,
      text: asLatin1(textAt(each, "text").slice(0, 4096)) +
        textAt(each, "text").slice(4096),
    }),
  ),
  block(
    "message-text-escaped",
    "The text is escaped for HTML",
    "text",
    (each) => ({ ...each, text: textAt(each, "text").replaceAll("<", "&lt;") }),
  ),
  block(
    "message-text-cut",
    "Texts of more than 64 KiB are truncated",
    "text",
    (each) => ({ ...each, text: textAt(each, "text").slice(0, 65536) }),
  ),
  block(
    "message-blanks-collapsed",
    "Whitespace and line ends are normalised",
    "text",
    (each) => ({ ...each, text: textAt(each, "text").replace(/\s\s+/g, " ") }),
  ),
  block(
    "message-third-call-lost",
    "At most two calls are sent",
    "tool_use",
    (each, index) => index < 2 ? each : undefined,
  ),
  block(
    "message-empty-arguments-lost",
    "Empty arguments are left out",
    "tool_use",
    (each) => ({
      ...each,
      input: Object.fromEntries(
        Object.entries(objectOf(each["input"])).filter(([, value]) =>
          value !== null && value !== "" && value !== false && value !== 0
        ),
      ),
    }),
  ),
  block(
    "message-second-tool-lost",
    "Only the first call is sent",
    "tool_use",
    (each, index) => index === 0 ? each : undefined,
  ),
  reply("message-tools-swapped", "Calls are in another order", (body) => ({
    ...body,
    content: listAt(body, "content").toSorted((left, right) =>
      JSON.stringify(right).localeCompare(JSON.stringify(left))
    ),
  })),
  block(
    "message-tool-argument-lost",
    "Calls have no arguments",
    "tool_use",
    (each) => ({ ...each, input: {} }),
  ),
  block(
    "message-tool-renamed",
    "Names of tools get a prefix",
    "tool_use",
    (each) => ({ ...each, name: `functions.${textAt(each, "name")}` }),
  ),
  reply("message-blocks-reversed", "Blocks are in reverse order", (body) => ({
    ...body,
    content: listAt(body, "content").toReversed(),
  })),
  block("message-signature-lost", "Thinking has no signature", "thinking", (
    each,
  ) => ({ ...each, signature: "" })),
  block(
    "message-redacted-lost",
    "Redacted thinking is left out",
    "redacted_thinking",
    () => undefined,
  ),
  block("message-tool-id-altered", "Ids of calls are replaced", "tool_use", (
    each,
  ) => ({ ...each, id: `${textAt(each, "id")}x` })),
  block("message-thinking-trimmed", "Thinking loses its end", "thinking", (
    each,
  ) => ({ ...each, thinking: textAt(each, "thinking").slice(0, -1) })),
  stopped(
    "message-max-tokens-as-end",
    "A truncated reply is reported as complete",
    "max_tokens",
    {
      stop_reason: "end_turn",
    },
  ),
  stopped(
    "message-tool-stop-as-end",
    "A reply with a call has the stop reason of plain text",
    "tool_use",
    { stop_reason: "end_turn" },
  ),
  stopped(
    "message-sequence-as-end",
    "A stop sequence is reported as an ordinary end",
    "stop_sequence",
    { stop_reason: "end_turn", stop_sequence: null },
  ),
  stopped(
    "message-sequence-other",
    "A stop sequence is reported that did not hit",
    "stop_sequence",
    { stop_sequence: "STOP" },
  ),
  stopped(
    "message-end-as-max-tokens",
    "A complete reply is reported as truncated",
    "end_turn",
    {
      stop_reason: "max_tokens",
    },
  ),
  counted(
    "message-input-off-by-one",
    "The input is one token too high",
    "input_tokens",
    (count) => count + 1,
  ),
  counted(
    "message-output-off-by-one",
    "The output is one token too low",
    "output_tokens",
    (count) => count - 1,
  ),
  counted(
    "message-output-0",
    "The output is reported as 0",
    "output_tokens",
    () => 0,
  ),
  reply("message-usage-swapped", "Input and output are swapped", (body) => ({
    ...body,
    usage: {
      input_tokens: numberAt(body, "usage.output_tokens") ?? 0,
      output_tokens: numberAt(body, "usage.input_tokens") ?? 0,
    },
  })),
  counted(
    "message-cache-counted-twice",
    "Cached input is also counted in input_tokens",
    "input_tokens",
    (count, body) =>
      count + (numberAt(body, "usage.cache_read_input_tokens") ?? 0),
  ),
  counted(
    "message-cache-read-lost",
    "Cache reads are not reported",
    "cache_read_input_tokens",
    () => 0,
  ),
  block(
    "message-tool-input-ascii",
    "Non-ASCII letters in arguments become question marks",
    "tool_use",
    (each) => ({
      ...each,
      input: parseJson(
        JSON.stringify(each["input"]).replaceAll(/[^ -~]/g, "?"),
      ),
    }),
  ),
];
