/**
 * Checks of the areas `limits` and `tools`: every documented form of a request is accepted and read
 * in full.
 */
import { factOf, type Finding, skill } from "../../suite/finding.ts";
import {
  attempts,
  MESSAGES,
  READS,
  WHOLE_REQUEST_CHECKS,
} from "./checks_whole_request.ts";
import { type Check, checksWith, sharedFaults } from "../../suite/check.ts";
import { arrayOf, objectOf } from "@model-gateway/replay/json";
import {
  blocksIn,
  breaks,
  endless,
  has,
  hasType,
  isStreamed,
  refuseParam,
  turnsIn,
} from "./faults.ts";
import { changeRequest } from "../../faults/change_request.ts";
import { modelIn, refusal } from "../../evidence/documented_shape.ts";
import { type Exchange, isStream } from "../../evidence/exchange.ts";
import type { Evidence } from "../../suite/evidence.ts";
import type { Generation } from "../../suite/requests.ts";

/**
 * A documented form gets the status of a plain request. In a live run a model may have limits of
 * its own: the form fails when each of several models refuses it, and stays unclear where only one
 * could be tried.
 */
function taken(
  e: Pick<Evidence, "mode" | "exchanges">,
  found: readonly Exchange[],
): Finding[] {
  const judged = found.map((x) => ({
    x,
    fault: refusal(x) ?? lostEnd(x, e.exchanges),
  }));
  const findings = judged.map(({ x, fault }) =>
    factOf("reply", fault ?? 200, x).mustBe(
      "the status of a plain request",
      fault === undefined,
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

/** That a stream has no end although others have one; where none has, that is another rule's. */
function lostEnd(x: Exchange, all: readonly Exchange[]): string | undefined {
  const hasEnd = ({ frames }: Exchange): boolean =>
    /^(message_stop|\[DONE\])$/.test(
      frames.at(-1)?.event ?? frames.at(-1)?.data ?? "",
    );
  return isStream(x) && !hasEnd(x) &&
      all.some((other) => other.endpoint === x.endpoint && hasEnd(other))
    ? `the stream ends with ${x.frames.at(-1)?.data ?? "nothing"}`
    : undefined;
}

function takes(
  endpoint: Generation,
  ...forms: readonly string[]
): Check["judge"] {
  return (e) => forms.flatMap((form) => taken(e, attempts(e, endpoint, form)));
}

const CHAT = "POST /v1/chat/completions (operation `createChatCompletion`)";
const TOOL_USE =
  "https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use";
const FUNCTIONS =
  "https://platform.openai.com/docs/guides/function-calling, handling function calls";

export const REQUEST_FORM_CHECKS: readonly Check[] = checksWith({
  section: MESSAGES,
  mode: "both",
  reads: READS,
}, [
  {
    id: "limits.takes-temperature",
    rule: "| temperature | number | no | 0 to 1.",
    judge: takes("messages", "plain", "temperature-half", "temperature-one"),
    faults: {
      "temperature-zero-refused": refuseParam(
        "temperature",
        (body) => body["temperature"] === 0,
      ),
      "temperature-half-refused": refuseParam(
        "temperature",
        ({ temperature }) => temperature === 0.5,
      ),
      "temperature-refused-in-streams": refuseParam(
        "temperature",
        (body, x) => isStreamed(body) && has("temperature")(body, x),
      ),
    },
  },
  {
    id: "limits.takes-top_p",
    rule: "| top_p | number | no | Nucleus sampling.",
    judge: takes("messages", "top_p-one", "top_p-stream"),
    faults: {
      "top_p-one-refused": refuseParam("top_p", ({ top_p }) => top_p === 1),
      "top_p-refused-in-streams": refuseParam(
        "top_p",
        (body, x) => isStreamed(body) && has("top_p")(body, x),
      ),
    },
  },
  {
    id: "limits.takes-stop_sequences",
    rule: "| stop_sequences | array of strings | no |",
    judge: takes("messages", "stops"),
    faults: {
      "several-stops-refused": refuseParam(
        "stop_sequences",
        ({ stop_sequences }) => arrayOf(stop_sequences).length > 1,
      ),
    },
  },
  {
    id: "limits.takes-metadata",
    rule:
      "| metadata | object | no | Passed through; `user_id` inside it serves the caller's own attribution |",
    judge: takes("messages", "metadata"),
    faults: {
      "metadata-refused": refuseParam("metadata", has("metadata")),
      "metadata-500": breaks(has("metadata")),
    },
  },
  {
    id: "limits.takes-empty-members",
    source: "Clients fill their requests from settings that may be empty",
    rule:
      "An empty text, list or object has the same meaning as an absent one.",
    judge: takes("messages", "empty"),
    faults: {
      "empty-lists-refused": refuseParam(
        "tools",
        (body) =>
          ["tools", "stop_sequences"].some((name) => {
            const value = body[name];
            return Array.isArray(value) && value.length === 0;
          }),
      ),
    },
  },
  {
    id: "limits.takes-system",
    rule: "| system | string or array | no |",
    judge: takes("messages", "system-text", "turns", "blocks"),
    faults: {
      "system-text-refused": refuseParam(
        "system",
        ({ system }) => typeof system === "string",
      ),
      "system-blocks-refused": refuseParam(
        "system",
        ({ system }) => Array.isArray(system),
      ),
      "streams-with-system-without-end": endless(({ system }) =>
        system !== undefined
      ),
    },
  },
  {
    id: "limits.takes-blocks",
    rule:
      "`content` (string in the schema; block arrays such as image blocks are also used)",
    judge: takes("messages", "blocks", "image"),
    faults: {
      "blocks-refused": refuseParam(
        "messages",
        (body) =>
          turnsIn(body).some(({ content }) =>
            arrayOf(content).filter((block) =>
              objectOf(block)["type"] === "text"
            )
              .length > 1
          ),
      ),
      "images-refused": refuseParam("messages", hasType("image", "image_url")),
      "images-500": breaks(hasType("image")),
    },
  },
  {
    id: "limits.takes-turns",
    rule: "Alternating `user` / `assistant` turns, oldest first.",
    judge: takes("messages", "turns"),
    faults: {
      "long-histories-refused": refuseParam(
        "messages",
        (body) => turnsIn(body).length > 4,
      ),
      "streams-with-history-without-end": endless((body) =>
        turnsIn(body).length > 2
      ),
    },
  },
  {
    id: "limits.takes-tools",
    rule: "| tools | array | no | Tool definitions;",
    judge: takes("messages", "tools"),
    faults: {
      "tools-refused": refuseParam("tools", has("tools")),
      "tools-need-a-choice": refuseParam(
        "tools",
        (body) =>
          body["tools"] !== undefined && body["tool_choice"] === undefined,
      ),
      "streams-with-tools-whole": changeRequest((modelRequest) =>
        modelRequest.tools.length === 0 ? {} : { stream: false }
      ),
    },
  },
  {
    id: "limits.takes-max_tokens",
    rule:
      "| max_tokens | integer | yes | Maximum output tokens; generation stops at this count |",
    judge: takes("messages", "max_tokens-one", "max_tokens-many"),
    faults: {
      "max_tokens-one-refused": refuseParam(
        "max_tokens",
        ({ max_tokens }) => max_tokens === 1,
      ),
      "max_tokens-many-refused": refuseParam(
        "max_tokens",
        ({ max_tokens }) => Number(max_tokens) > 1024,
      ),
    },
  },
  {
    id: "limits.chat-takes-temperature",
    section: CHAT,
    rule: "| temperature | number | no | 0 to 2 |",
    judge: takes("chat", "plain", "temperature-above-one", "temperature-two"),
    faults: {
      "temperature-of-messages-on-chat": refuseParam(
        "temperature",
        (body) => Number(body["temperature"]) > 1,
      ),
      "temperature-two-refused": refuseParam(
        "temperature",
        (body) => body["temperature"] === 2,
      ),
      ...sharedFaults("temperature-zero-refused"),
    },
  },
  {
    id: "limits.chat-takes-turns",
    section: CHAT,
    rule:
      "Roles `system`, `user`, `assistant`. A system prompt is the first entry with role `system`",
    judge: takes("chat", "turns"),
    faults: {
      "chat-system-first-refused": refuseParam(
        "messages",
        (body) =>
          JSON.stringify(body["messages"] ?? "").includes('"role":"system"'),
      ),
      ...sharedFaults(
        "long-histories-refused",
        "streams-with-history-without-end",
      ),
    },
  },
  {
    id: "limits.chat-takes-tools",
    section: CHAT,
    rule:
      "| tools | array | no | Function-calling shape of the chat-completion convention |",
    judge: takes("chat", "tools"),
    faults: sharedFaults(
      "tools-refused",
      "tools-need-a-choice",
      "streams-with-tools-whole",
    ),
  },
  {
    id: "limits.chat-takes-no-max_tokens",
    section: CHAT,
    rule:
      "| max_tokens | integer | no | Optional here (required on the message endpoint) |",
    judge: takes("chat", "max_tokens-none", "max_tokens-one"),
    faults: {
      "chat-streams-need-max_tokens": refuseParam(
        "max_tokens",
        (body, { endpoint }) =>
          endpoint === "chat" && body["stream"] === true &&
          body["max_tokens"] === undefined,
      ),
      ...sharedFaults("max_tokens-one-refused"),
    },
  },
  {
    id: "limits.chat-takes-parts",
    source:
      "https://platform.openai.com/docs/api-reference/chat/create, messages[].content",
    rule:
      "Content may be a string or an array of parts, which may be pictures.",
    judge: takes("chat", "parts", "image"),
    faults: sharedFaults("blocks-refused", "images-refused"),
  },
  {
    id: "tools.takes-history",
    source: `${TOOL_USE}, handling tool use results`,
    rule:
      "Results may be strings, blocks, empty or errors; one turn may have several, before its text.",
    judge: takes("messages", "tool-turns", "tool-turns-bare"),
    faults: {
      "tool-turns-refused": refuseParam(
        "messages",
        (body, x) =>
          hasType("tool_result")(body, x) ||
          turnsIn(body).some(({ role }) => role === "tool"),
      ),
      "empty-results-refused": refuseParam(
        "messages",
        (body) =>
          blocksIn(body).some(({ type, content }) =>
            type === "tool_result" && content === ""
          ),
      ),
      ...sharedFaults("streams-with-history-without-end"),
    },
  },
  {
    id: "tools.chat-takes-history",
    source: FUNCTIONS,
    rule:
      "Calls of earlier turns may have a content that is a string, null or absent; each result is an entry of its own.",
    judge: takes("chat", "tool-turns", "tool-turns-bare"),
    faults: {
      "calls-need-content": refuseParam(
        "messages",
        (body) =>
          turnsIn(body).some((turn) =>
            turn["tool_calls"] !== undefined && !("content" in turn)
          ),
      ),
      ...sharedFaults("tool-turns-refused"),
    },
  },
  ...WHOLE_REQUEST_CHECKS,
]);
