/**
 * What the vendor of each family demands of a conversation with tools, stated independently of the
 * code that meets it, and what of the conversation a request has. A fault is a sentence; none means
 * that the vendor takes the request.
 */
import { arrayOr, type JsonObject, objectOr } from "../bytes/json.ts";
import type { ClientFormat } from "../mod.ts";

/** The conversation in a request, in order: `user: …`, `text: …`, `call: …`, `result: …`, `proof: …`. */
type Conversation = readonly string[];

interface VendorRules {
  faults(body: JsonObject): readonly string[];
  conversation(body: JsonObject): Conversation;
}

const objects = (value: unknown): readonly JsonObject[] =>
  arrayOr(value).map(objectOr);
const isBlank = (text: unknown): boolean => String(text).trim() === "";
/** Whether two lists have the same entries, in any order. */
const isSame = (some: readonly unknown[], others: readonly unknown[]) =>
  JSON.stringify(some.map(String).sort()) ===
    JSON.stringify(others.map(String).sort());

/** Calls without their results directly after them, of lists of entries' calls and results. */
function unpaired(
  steps: readonly {
    readonly calls: readonly unknown[];
    readonly results: readonly unknown[];
  }[],
): readonly string[] {
  return steps.flatMap(({ calls }, at) =>
    isSame(calls, steps[at + 1]?.results ?? []) || calls.length === 0
      ? []
      : [`calls ${calls} are not answered by what follows`]
  );
}

/**
 * https://platform.claude.com/docs/en/build-with-claude/extended-thinking: manual thinking wants
 * thoughts at the start of the last assistant turn of a tool loop; every thought has its own
 * signature; https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use:
 * results are first in the user message after their calls. "text content blocks must be non-empty"
 * and "final block cannot be thinking" are errors of the API.
 */
const messages: VendorRules = {
  faults(body) {
    const turns = objects(body["messages"]).map(({ role, content }) => ({
      role,
      blocks: typeof content === "string"
        ? [{ type: "text", text: content } as JsonObject]
        : objects(content),
    }));
    const steps = turns.map(({ blocks }) => ({
      calls: blocks.filter(({ type }) => type === "tool_use")
        .map(({ id }) => id),
      results: blocks.filter(({ type }) => type === "tool_result")
        .map(({ tool_use_id: id }) => id),
    }));
    const isRunning = (steps.at(-1)?.results.length ?? 0) > 0;
    const last = turns.findLast(({ role }) => role === "assistant");
    const opens = last?.blocks[0]?.["type"];
    const isManual = objectOr(body["thinking"])["type"] === "enabled";
    return [
      ...unpaired(steps),
      ...(isRunning && isManual && opens !== "thinking" &&
          opens !== "redacted_thinking"
        ? [`thinking is enabled, but the loop begins with ${opens}`]
        : []),
      ...turns.flatMap(({ role, blocks }) => [
        ...(blocks.length === 0 ? ["a turn is empty"] : []),
        ...(role === "assistant" && blocks.at(-1)?.["type"] === "thinking"
          ? ["a turn ends with thinking"]
          : []),
        ...blocks.flatMap((block, at) =>
          block["type"] === "text" && isBlank(block["text"])
            ? ["a text is blank"]
            : block["type"] === "thinking" && isBlank(block["signature"])
            ? ["a thought is unsigned"]
            : block["type"] === "tool_result" && at > 0 &&
                blocks[at - 1]?.["type"] !== "tool_result"
            ? ["a result follows something else"]
            : "extra_content" in block
            ? ["extra_content: extra inputs are not permitted"]
            : []
        ),
      ]),
    ];
  },
  conversation: (body) =>
    objects(body["messages"]).flatMap(({ role, content }) =>
      (typeof content === "string"
        ? [{ type: "text", text: content } as JsonObject]
        : objects(content)).map((block) => {
          switch (block["type"]) {
            case "text":
              return `${role === "user" ? "user" : "text"}: ${block["text"]}`;
            case "tool_use":
              return `call: ${JSON.stringify(block["input"])}`;
            case "tool_result": {
              const { content: result } = block;
              const [only] = objects(result);
              return `result: ${only?.["text"] ?? result}`;
            }
            default:
              return `proof: ${block["signature"] ?? block["data"]}`;
          }
        })
    ),
};

/**
 * https://platform.openai.com/docs/api-reference/chat/create: "An assistant message with
 * 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'", and a tool
 * message follows such a message; content is required without calls.
 */
const chat: VendorRules = {
  faults(body) {
    const faults: string[] = [];
    let open: unknown[] = [];
    for (const message of objects(body["messages"])) {
      const { role, content, tool_call_id: id } = message;
      if (role === "tool") {
        if (!open.includes(id)) faults.push(`${id} answers no call`);
        open = open.filter((one) => one !== id);
        continue;
      }
      if (open.length > 0) faults.push(`${open} are not answered`);
      if (!["system", "user", "assistant"].includes(String(role))) {
        faults.push(`a role is ${role}`);
      }
      open = objects(message["tool_calls"]).map((call) => call["id"]);
      if (isBlank(content ?? "") && open.length === 0) {
        faults.push("a message is empty");
      }
    }
    return open.length > 0 ? [...faults, `${open} are not answered`] : faults;
  },
  conversation: (body) =>
    objects(body["messages"]).flatMap((message) => {
      const { role, content } = message;
      const word = role === "assistant"
        ? "text"
        : role === "tool"
        ? "result"
        : "user";
      return [
        ...objects(message["reasoning_details"]).filter((entry) =>
          "data" in entry || "signature" in entry
        ).map(({ data, signature }) => `proof: ${data ?? signature}`),
        ...(isBlank(content ?? "") ? [] : [`${word}: ${content}`]),
        ...objects(message["tool_calls"]).map((call) =>
          `call: ${objectOr(call["function"])["arguments"]}`
        ),
      ];
    }),
};

/**
 * https://platform.openai.com/docs/guides/reasoning: "Item of type 'reasoning' was provided without
 * its required following item", and its encrypted content is verified; outputs have a call before
 * them. An id is optional where nothing is stored (`codex-rs/protocol/src/models.rs` of Codex sends
 * none) and has at most 64 characters.
 */
const responses: VendorRules = {
  faults(body) {
    const items = objects(body["input"]);
    const called = (type: string) =>
      items.filter((item) => item["type"] === type)
        .map(({ call_id: id }) => id);
    return [
      ...(isSame(called("function_call"), called("function_call_output"))
        ? []
        : ["calls and outputs are not paired"]),
      ...items.flatMap((item, at) => {
        const { type, id, role } = item;
        const next = items[at + 1];
        return [
          ...(String(id ?? "").length > 64 ? [`the id ${id} is long`] : []),
          ...(type === "reasoning" && isBlank(item["encrypted_content"] ?? "")
            ? ["reasoning has no encrypted content"]
            : []),
          ...(type === "reasoning" &&
              (next === undefined || next["role"] === "user" ||
                next["type"] === "function_call_output")
            ? ["nothing of the model follows reasoning"]
            : []),
          ...(type === "function_call_output" &&
              !items.slice(0, at).some((before) =>
                before["type"] === "function_call" &&
                before["call_id"] === item["call_id"]
              )
            ? ["an output comes before its call"]
            : []),
          ...(type === undefined && role === undefined
            ? ["an item has no type"]
            : []),
        ];
      }),
    ];
  },
  conversation: (body) =>
    objects(body["input"]).flatMap((item) => {
      switch (item["type"] ?? "message") {
        case "reasoning":
          return [`proof: ${item["encrypted_content"]}`];
        case "function_call":
          return [`call: ${item["arguments"]}`];
        case "function_call_output":
          return [`result: ${item["output"]}`];
        default: {
          const word = item["role"] === "user" ? "user" : "text";
          const { content } = item;
          return typeof content === "string"
            ? [`${word}: ${content}`]
            : objects(content).map(({ text }) => `${word}: ${text}`);
        }
      }
    }),
};

/** Replaces the signature of calls that another model made. */
const SENTINEL = "skip_thought_signature_validator";

/**
 * https://ai.google.dev/gemini-api/docs/thought-signatures: the first call of each step of the
 * running turn is signed, else "Function call is missing a thought_signature"; the sentinel
 * replaces other models' signatures; https://ai.google.dev/gemini-api/docs/function-calling: a turn of
 * calls is followed by as many results. Neighbouring contents of the model are one turn.
 */
const gemini: VendorRules = {
  faults(body) {
    const turns: { role: unknown; parts: JsonObject[] }[] = [];
    for (const { role, parts } of objects(body["contents"])) {
      const last = turns.at(-1);
      if (role === "model" && last?.role === role) {
        last.parts.push(...objects(parts));
      } else turns.push({ role, parts: [...objects(parts)] });
    }
    const steps = turns.map(({ parts }) => ({
      calls: parts.filter((part) => "functionCall" in part)
        .map((part) => objectOr(part["functionCall"])["id"]),
      results: parts.filter((part) => "functionResponse" in part)
        .map((part) => objectOr(part["functionResponse"])["id"]),
    }));
    const begin = turns.findLastIndex(({ role, parts }) =>
      role === "user" && parts.some((part) => !("functionResponse" in part))
    );
    return [
      ...unpaired(steps),
      ...turns.slice(begin + 1).flatMap(({ parts }) => {
        const first = parts.find((part) => "functionCall" in part);
        return first === undefined || "thoughtSignature" in first
          ? []
          : ["a function call is missing a thought_signature"];
      }),
      ...objects(body["contents"]).flatMap(({ parts }) =>
        arrayOr(parts).length === 0 ? ["a content has no parts"] : []
      ),
    ];
  },
  conversation: (body) =>
    objects(body["contents"]).flatMap(({ role, parts }) =>
      objects(parts).flatMap((part) => {
        const { functionCall, functionResponse, thoughtSignature, text } = part;
        const proof = thoughtSignature === undefined ||
            thoughtSignature === SENTINEL
          ? []
          : [`proof: ${thoughtSignature}`];
        if (functionCall !== undefined) {
          const { args } = objectOr(functionCall);
          return [...proof, `call: ${JSON.stringify(args)}`];
        }
        if (functionResponse !== undefined) {
          const { response } = objectOr(functionResponse);
          const { output, result } = objectOr(response);
          return [`result: ${output ?? result}`];
        }
        if (part["thought"] === true) return proof;
        const word = role === "user" ? "user" : "text";
        return [...(text === "" ? [] : [`${word}: ${text}`]), ...proof];
      })
    ),
};

/** The rules of each family's vendor. */
export const REQUEST_RULES: Readonly<Record<ClientFormat, VendorRules>> = {
  messages,
  chat_completions: chat,
  responses,
  generate_content: gemini,
};
