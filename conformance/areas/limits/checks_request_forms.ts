/**
 * Checks of the areas `limits` and `tools`: every documented form of a request is accepted and read
 * in full.
 */
import {
  type Check,
  checksWith,
  type Faults,
  type Level,
  type Rule,
  shared,
} from "../../suite/check.ts";
import { arrayOf, objectOf } from "@model-gateway/replay/json";
import {
  blocksIn,
  breaks,
  endless,
  has,
  hasType,
  isStreamed,
  onlyFirst,
  refuses,
  turning,
  turnsIn,
} from "./faults.ts";
import { asking } from "../../reference_gateway/change_request.ts";
import { refusing } from "./hooks.ts";
import { contentOf, tokensOf } from "../../evidence/content.ts";
import { modelIn, shapeFault } from "../../evidence/documented_shape.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { PLACED_WORDS } from "./scenarios_request_forms.ts";
import type { Generation } from "../../suite/requests.ts";
import type { Evidence } from "../../suite/evidence.ts";
import { fact, type Finding, NotTestable, skill } from "../../suite/finding.ts";

const READS = ["documented-forms"];

/** The exchanges of a form, in the order in which models were tried. */
function attempts(
  e: Evidence,
  endpoint: Generation,
  form: string,
): readonly Exchange[] {
  return e.matching(`${endpoint}/*/${form}`);
}

/**
 * A documented form gets the status of a plain request. In a live run a model may have limits of
 * its own: the form fails when each of several models refuses it, and stays unclear where only one
 * could be tried.
 */
export function taken(
  e: { readonly mode: "live" | "replay" },
  found: readonly Exchange[],
): Finding[] {
  const judged = found.map((x) => ({ x, fault: shapeFault(x) }));
  const findings = judged.map(({ x, fault }) =>
    fact(
      fault === undefined,
      "reply",
      "the status of a plain request",
      fault ?? 200,
      x,
    )
  );
  if (e.mode === "replay") return findings;
  const refused = ({ x }: { x: Exchange }): boolean =>
    x.head !== undefined && x.head.status >= 400;
  const answered = judged.findIndex((one) => !refused(one));
  if (answered !== -1) return findings.slice(answered, answered + 1);
  const several = new Set(found.map(modelIn)).size > 1;
  return several ? findings : found.map((x) =>
    skill(
      false,
      "reply",
      "the status of a plain request",
      `${x.head?.status}: ${x.text.slice(0, 160)}`,
      x,
    )
  );
}

function takes(
  id: string,
  level: Level,
  rule: Rule,
  endpoint: Generation,
  forms: readonly string[],
  faults: Faults,
): Check {
  return {
    id,
    rule,
    level,
    mode: "both",
    reads: READS,
    judge: (e) =>
      forms.flatMap((form) => taken(e, attempts(e, endpoint, form))),
    faults,
  };
}

/**
 * Part of a form's words that its token count must show, at least. A lost place is a seventh of the
 * words.
 */
const PART_READ = 0.9;

/** Tokens per word, at least, in every tokenizer. */
const TOKENS_PER_WORD = 0.7;

/** A single long text is counted in full. */
function longRead(e: Evidence, endpoint: Generation): Finding[] {
  const [long] = attempts(e, endpoint, "long");
  const [plain] = attempts(e, endpoint, "plain");
  if (long?.head?.status !== 200 || plain?.head?.status !== 200) {
    return [skill(false, "replies", "200", "a model refuses a form", long)];
  }
  const input = (one: Exchange): number => tokensOf(contentOf(one)).input;
  const least = input(plain) + Math.floor(PLACED_WORDS * TOKENS_PER_WORD);
  return [
    fact(
      input(long) >= least,
      "input tokens",
      `at least ${least}: those of "plain" and of ${PLACED_WORDS} words`,
      input(long),
      long,
    ),
  ];
}

/**
 * A form with the words of `long` in other places counts as many more tokens than the same form
 * without them.
 */
function allRead(
  e: Evidence,
  endpoint: Generation,
  form: string,
  without: string,
): Finding[] {
  return attempts(e, endpoint, form).flatMap((x) => {
    const beside = (other: string): Exchange =>
      e.exchange(x.label.replace(/[^/]+$/, other));
    // A reply of a second model has no counterpart to compare with.
    if (x.label.includes("/other-")) return [];
    const [plain, long, base] = [
      beside("plain"),
      beside("long"),
      beside(without),
    ];
    if ([x, plain, long, base].some(({ head }) => head?.status !== 200)) {
      return [skill(false, "replies", "200", "a model refuses a form", x)];
    }
    const input = (one: Exchange): number => tokensOf(contentOf(one)).input;
    const more = input(long) - input(plain);
    if (more <= 0) {
      throw new NotTestable("long texts count no more than short ones", long);
    }
    const least = Math.floor(input(base) + more * PART_READ);
    return [
      fact(
        input(x) >= least,
        "input tokens",
        `at least ${least}: those of "${without}" and of the words of "long"`,
        input(x),
        x,
      ),
    ];
  });
}

const REPLY = "Message reply (from `POST /v1/messages`, not streamed)";
const MESSAGES = "POST /v1/messages (operation `createMessage`)";
const CHAT = "POST /v1/chat/completions (operation `createChatCompletion`)";
const TOOL_USE =
  "https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use";
const FUNCTIONS =
  "https://platform.openai.com/docs/guides/function-calling, handling function calls";

/** Part of `LIMITS_CHECKS`. */
export const REQUEST_FORM_CHECKS: readonly Check[] = checksWith({
  mode: "both",
  reads: READS,
}, [
  takes(
    "limits.takes-temperature",
    "documented",
    { section: MESSAGES, text: "| temperature | number | no | 0 to 1." },
    "messages",
    ["plain", "temperature-half", "temperature-one"],
    {
      "temperature-zero-refused": refusing(
        "temperature",
        (body) => body["temperature"] === 0,
      ),
      "temperature-half-refused": refuses(
        "temperature",
        ({ temperature }) => temperature === 0.5,
      ),
      "temperature-refused-in-streams": refuses(
        "temperature",
        (body, x) => isStreamed(body) && has("temperature")(body, x),
      ),
    },
  ),
  takes(
    "limits.takes-top_p",
    "documented",
    { section: MESSAGES, text: "| top_p | number | no | Nucleus sampling." },
    "messages",
    ["top_p-one", "top_p-stream"],
    {
      "top_p-one-refused": refuses("top_p", ({ top_p }) => top_p === 1),
      "top_p-refused-in-streams": refuses(
        "top_p",
        (body, x) => isStreamed(body) && has("top_p")(body, x),
      ),
    },
  ),
  takes(
    "limits.takes-stop_sequences",
    "documented",
    { section: MESSAGES, text: "| stop_sequences | array of strings | no |" },
    "messages",
    ["stops"],
    {
      "several-stops-refused": refuses(
        "stop_sequences",
        ({ stop_sequences }) => arrayOf(stop_sequences).length > 1,
      ),
    },
  ),
  takes(
    "limits.takes-metadata",
    "documented",
    {
      section: MESSAGES,
      text:
        "| metadata | object | no | Passed through; `user_id` inside it serves the caller's own attribution |",
    },
    "messages",
    ["metadata"],
    {
      "metadata-refused": refuses("metadata", has("metadata")),
      "metadata-500": breaks(has("metadata")),
    },
  ),
  takes(
    "limits.takes-empty-members",
    "convention",
    {
      source: "Clients fill their requests from settings that may be empty",
      text:
        "An empty text, list or object has the same meaning as an absent one.",
    },
    "messages",
    ["empty"],
    {
      // An empty list is refused.
      "empty-lists-refused": refuses(
        "tools",
        (body) =>
          ["tools", "stop_sequences"].some((name) => {
            const value = body[name];
            return Array.isArray(value) && value.length === 0;
          }),
      ),
    },
  ),
  takes(
    "limits.takes-system",
    "documented",
    { section: MESSAGES, text: "| system | string or array | no |" },
    "messages",
    ["system-text", "turns", "blocks"],
    {
      "system-text-refused": refuses(
        "system",
        ({ system }) => typeof system === "string",
      ),
      "system-blocks-refused": refuses(
        "system",
        ({ system }) => Array.isArray(system),
      ),
      "streams-with-system-without-end": endless(({ system }) =>
        system !== undefined
      ),
    },
  ),
  takes(
    "limits.takes-blocks",
    "documented",
    {
      section: MESSAGES,
      text:
        "`content` (string in the schema; block arrays such as image blocks are also used)",
    },
    "messages",
    ["blocks", "image"],
    {
      // Content in an array of text parts is refused.
      "blocks-refused": refuses(
        "messages",
        (body) =>
          turnsIn(body).some(({ content }) =>
            arrayOf(content).filter((block) =>
              objectOf(block)["type"] === "text"
            )
              .length > 1
          ),
      ),
      "images-refused": refuses("messages", hasType("image", "image_url")),
      "images-500": breaks(hasType("image")),
    },
  ),
  takes(
    "limits.takes-turns",
    "documented",
    {
      section: MESSAGES,
      text: "Alternating `user` / `assistant` turns, oldest first.",
    },
    "messages",
    ["turns"],
    {
      "long-histories-refused": refuses(
        "messages",
        (body) => turnsIn(body).length > 4,
      ),
      "streams-with-history-without-end": endless((body) =>
        turnsIn(body).length > 2
      ),
    },
  ),
  takes(
    "limits.takes-tools",
    "documented",
    { section: MESSAGES, text: "| tools | array | no | Tool definitions;" },
    "messages",
    ["tools"],
    {
      "tools-refused": refuses("tools", has("tools")),
      "tools-need-a-choice": refuses(
        "tools",
        (body) =>
          body["tools"] !== undefined && body["tool_choice"] === undefined,
      ),
      "streams-with-tools-whole": asking((modelRequest) =>
        modelRequest.tools.length === 0 ? {} : { stream: false }
      ),
    },
  ),
  takes(
    "limits.takes-max_tokens",
    "documented",
    {
      section: MESSAGES,
      text:
        "| max_tokens | integer | yes | Maximum output tokens; generation stops at this count |",
    },
    "messages",
    ["max_tokens-one", "max_tokens-many"],
    {
      "max_tokens-one-refused": refuses(
        "max_tokens",
        ({ max_tokens }) => max_tokens === 1,
      ),
      "max_tokens-many-refused": refuses(
        "max_tokens",
        ({ max_tokens }) => Number(max_tokens) > 1024,
      ),
    },
  ),
  takes(
    "limits.chat-takes-temperature",
    "documented",
    { section: CHAT, text: "| temperature | number | no | 0 to 2 |" },
    "chat",
    ["plain", "temperature-above-one", "temperature-two"],
    {
      "temperature-of-messages-on-chat": refusing(
        "temperature",
        (body) => Number(body["temperature"]) > 1,
      ),
      "temperature-two-refused": refusing(
        "temperature",
        (body) => body["temperature"] === 2,
      ),
      ...shared("temperature-zero-refused"),
    },
  ),
  takes(
    "limits.chat-takes-turns",
    "documented",
    {
      section: CHAT,
      text:
        "Roles `system`, `user`, `assistant`. A system prompt is the first entry with role `system`",
    },
    "chat",
    ["turns"],
    {
      "chat-system-first-refused": refusing(
        "messages",
        (body) =>
          JSON.stringify(body["messages"] ?? "").includes('"role":"system"'),
      ),
      ...shared("long-histories-refused", "streams-with-history-without-end"),
    },
  ),
  takes(
    "limits.chat-takes-tools",
    "documented",
    {
      section: CHAT,
      text:
        "| tools | array | no | Function-calling shape of the chat-completion convention |",
    },
    "chat",
    ["tools"],
    shared("tools-refused", "tools-need-a-choice", "streams-with-tools-whole"),
  ),
  takes(
    "limits.chat-takes-no-max_tokens",
    "documented",
    {
      section: CHAT,
      text:
        "| max_tokens | integer | no | Optional here (required on the message endpoint) |",
    },
    "chat",
    ["max_tokens-none", "max_tokens-one"],
    {
      "chat-streams-need-max_tokens": refusing(
        "max_tokens",
        (body, { endpoint }) =>
          endpoint === "chat" && body["stream"] === true &&
          body["max_tokens"] === undefined,
      ),
      ...shared("max_tokens-one-refused"),
    },
  ),
  takes(
    "limits.chat-takes-parts",
    "convention",
    {
      source:
        "https://platform.openai.com/docs/api-reference/chat/create, messages[].content",
      text:
        "Content may be a string or an array of parts, which may be pictures.",
    },
    "chat",
    ["parts", "image"],
    shared("blocks-refused", "images-refused"),
  ),
  takes(
    "tools.takes-history",
    "convention",
    {
      source: `${TOOL_USE}, handling tool use results`,
      text:
        "Results may be strings, blocks, empty or errors; one turn may have several, before its text.",
    },
    "messages",
    ["tool-turns", "tool-turns-bare"],
    {
      "tool-turns-refused": refuses(
        "messages",
        (body, x) =>
          hasType("tool_result")(body, x) ||
          turnsIn(body).some(({ role }) => role === "tool"),
      ),
      "empty-results-refused": refuses(
        "messages",
        (body) =>
          blocksIn(body).some(({ type, content }) =>
            type === "tool_result" && content === ""
          ),
      ),
      ...shared("streams-with-history-without-end"),
    },
  ),
  takes(
    "tools.chat-takes-history",
    "convention",
    {
      source: FUNCTIONS,
      text:
        "Calls of earlier turns may have a content that is a string, null or absent; each result is an entry of its own.",
    },
    "chat",
    ["tool-turns", "tool-turns-bare"],
    {
      "calls-need-content": refuses(
        "messages",
        (body) =>
          turnsIn(body).some((turn) =>
            turn["tool_calls"] !== undefined && !("content" in turn)
          ),
      ),
      ...shared("tool-turns-refused"),
    },
  ),
  {
    id: "limits.whole-request-is-read",
    section: REPLY,
    rule:
      "| usage.input_tokens | integer | Billed input tokens, including the full resent history |",

    judge: (e) => [
      ...longRead(e, "messages"),
      ...allRead(e, "messages", "turns", "plain"),
      ...allRead(e, "messages", "blocks", "plain"),
      ...allRead(e, "messages", "tool-turns", "tools"),
    ],
    faults: {
      "oldest-turns-dropped": asking(({ turns }) => ({
        turns: turns.length > 4 ? turns.slice(2) : turns,
      })),
      // Of several texts in a turn only the first and the last are sent.
      "second-block-lost": turning((parts) => {
        const texts = parts.filter(({ type }) => type === "text");
        return parts.filter((part) =>
          part.type !== "text" || part === texts.at(0) ||
          (part === texts.at(-1) && texts.length > 2)
        );
      }),
      "text-beside-results-lost": turning((parts) =>
        parts.some(({ type }) => type === "result")
          ? parts.filter(({ type }) => type !== "text")
          : parts
      ),
      "second-result-emptied": onlyFirst(
        "result",
        (part) => part.type === "result" ? [{ ...part, text: "" }] : [part],
      ),
      ...shared("long-text-unread", "system-lost"),
    },
  },
  {
    id: "limits.chat-whole-request-is-read",
    section: "Equivalent fields between the two formats",
    rule: "| Input tokens | `usage.input_tokens` | `usage.prompt_tokens` |",

    judge: (e) => [
      ...longRead(e, "chat"),
      ...allRead(e, "chat", "turns", "plain"),
      ...allRead(e, "chat", "parts", "plain"),
      ...allRead(e, "chat", "tool-turns", "tools"),
    ],
    faults: shared(
      "long-text-unread",
      "oldest-turns-dropped",
      "second-block-lost",
      "second-result-emptied",
      "system-lost-on-chat",
    ),
  },
]);
