/**
 * Decodes a client's input items into the opening system prompt and neutral turns. Consecutive
 * items of the assistant become one turn. The outputs of its calls follow that turn directly:
 * this format allows other items in between, the other formats do not.
 */
import type { UnknownObject } from "../../model/schema.ts";
import { instructions } from "../../families/chat/content.ts";
import { arrayOr, objectOr, stringIn, textIn } from "../../bytes/json.ts";
import { invalidField } from "../../model/error.ts";
import type {
  CacheMark,
  OpaquePart,
  Part,
  ReasoningPart,
  ResultPart,
  Signature,
  TextPart,
  ToolResultPart,
  Turn,
} from "../../model/request.ts";
import { withMark } from "../../turns/cache_marks.ts";
import { decodeContent, type DecodedPart } from "./decode_content.ts";
import { noteUnknown, type UnknownFields } from "../../model/unknown_fields.ts";
import { freeTextArguments } from "../../turns/free_text.ts";
import { readSignature } from "./signatures.ts";
import { isRanCode } from "../../turns/ran_code.ts";
import { signedBy } from "../../turns/carried_signature.ts";
import { calledTool, type ToolNames } from "./tool_names.ts";
import { COMPACTION_REMEDY } from "./error.ts";
import {
  isKnownItem,
  isMessage,
  type Item,
  type KnownItem,
  type MessageItem,
} from "./wire.ts";
import { type Steps, visitEach } from "../../steps.ts";

/** The decoded input. */
interface Conversation {
  /** Texts of the leading system and developer messages. */
  readonly system: readonly TextPart[];
  /** The turns after those messages. */
  readonly turns: readonly Turn[];
}

/**
 * Not reported as dropped: ids and states of items have no meaning in other formats, and `phase`
 * is a hint that only models of this format get.
 */
const MESSAGE_FIELDS: ReadonlySet<string> = new Set([
  "type",
  "id",
  "status",
  "role",
  "content",
  "phase",
  "extra_content",
]);
const ITEM_FIELDS: Readonly<Record<KnownItem["type"], ReadonlySet<string>>> = {
  reasoning: new Set([
    "type",
    "id",
    "status",
    "summary",
    "content",
    "encrypted_content",
  ]),
  function_call: new Set([
    "type",
    "id",
    "status",
    "call_id",
    "name",
    "namespace",
    "arguments",
  ]),
  custom_tool_call: new Set([
    "type",
    "id",
    "status",
    "call_id",
    "name",
    "namespace",
    "input",
  ]),
  function_call_output: new Set(["type", "id", "status", "call_id", "output"]),
  custom_tool_call_output: new Set([
    "type",
    "id",
    "status",
    "call_id",
    "output",
    "name",
  ]),
  additional_tools: new Set(["type", "id", "role", "tools"]),
  configuration_update: new Set(["type", "id", "reasoning", "text"]),
};

/**
 * Calls of tools that the vendor ran. The conversation stays valid without them, since the
 * assistant's text contains their outcome.
 */
const DISPENSABLE: ReadonlySet<string> = new Set([
  "web_search_call",
  "file_search_call",
  "code_interpreter_call",
  "mcp_list_tools",
]);
/** Types of items that the client made, not the assistant. */
const FROM_CALLER = /_output$|_response$/;

interface AssistantTurn {
  readonly role: "assistant";
  readonly parts: Part[];
  readonly results: ToolResultPart[];
}

/**
 * Decodes the input items.
 *
 * @param cacheOptions `prompt_cache_options` of the request
 * @throws {ApiError} `invalid_request` naming the malformed field
 */
export function* decodeMessages(
  items: readonly Item[],
  names: ToolNames,
  cacheOptions: unknown,
  unknown: UnknownFields,
): Steps<Conversation> {
  const system: TextPart[] = [];
  const turns: (Turn | AssistantTurn)[] = [];
  /** The turn of each call, by call id. If an id repeats, the last call counts. */
  const clients = new Map<string, AssistantTurn>();
  /** The turn that further items of the assistant are added to. */
  let open: AssistantTurn | undefined;
  /** The signature of the next call, read from a preceding item. */
  let held: Signature | undefined;

  const assistant = (): AssistantTurn => {
    if (open === undefined) {
      open = { role: "assistant", parts: [], results: [] };
      turns.push(open);
    }
    return open;
  };
  const other = (turn: Turn): void => {
    open = undefined;
    turns.push(turn);
  };
  const message = (item: MessageItem, path: string): void => {
    noteUnknown(item, MESSAGE_FIELDS, "input[].", unknown);
    const parts = decodeContent(
      item.content,
      `${path}.content`,
      cacheOptions,
      unknown,
    );
    const phase = textIn(item.phase);
    switch (item.role) {
      case "assistant":
        for (const [at, part] of parts.entries()) {
          assistant().parts.push(
            part.type !== "text" ? part : {
              ...part,
              ...(phase === undefined ? {} : { phase }),
              ...(at === parts.length - 1 ? signedBy(item) : {}),
            },
          );
        }
        return;
      case "user":
        return other({ role: "user", parts });
      case "system":
      case "developer": {
        const texts = instructions(parts, path, unknown);
        if (turns.length > 0) return other({ role: "system", parts: texts });
        for (const text of texts) system.push(text);
      }
    }
  };
  const call = (
    item: KnownItem & { type: "function_call" | "custom_tool_call" },
    path: string,
  ): void => {
    const turn = assistant();
    turn.parts.push({
      type: "tool_call",
      id: item.call_id,
      name: names.nameOf(
        calledTool(item.name, textIn(item.namespace), item.type),
      ),
      ...(item.type === "function_call" ? { arguments: item.arguments } : {
        arguments: freeTextArguments(item.input),
        freeText: true,
      }),
      ...(held === undefined ? {} : { signature: held }),
      at: `${path}.call_id`,
    });
    held = undefined;
    clients.set(item.call_id, turn);
  };
  const output = (
    id: string,
    parts: readonly DecodedPart[],
    path: string,
  ): void => {
    // A result is marked as a whole.
    const mark = parts.map(markOf).findLast((found) => found !== undefined);
    const result: ToolResultPart = {
      type: "tool_result",
      id,
      content: parts.map(resultPart),
      ...(mark === undefined ? {} : { cacheMark: mark }),
      at: `${path}.call_id`,
    };
    const turn = clients.get(id);
    if (turn === undefined) return other({ role: "user", parts: [result] });
    turn.results.push(result);
    open = undefined;
  };
  const reasoning = (item: KnownItem & { type: "reasoning" }): void => {
    const text = reasoningText(item);
    const value = textIn(item.encrypted_content);
    const { signature, ofCallBefore } = value === undefined
      ? { signature: undefined, ofCallBefore: false }
      : readSignature(value);
    if (ofCallBefore && signature !== undefined) {
      return signCallBefore(open?.parts, signature);
    }
    if (text === "" && signature?.from === "generate_content") {
      // Generate content signs calls: an item that holds only a signature belongs to the call
      // that follows it.
      held = signature;
      return;
    }
    if (text === "" && signature === undefined) return;
    assistant().parts.push(reasoningPart(text, signature));
  };
  const readKnown = (item: KnownItem, path: string): void => {
    noteUnknown(item, ITEM_FIELDS[item.type], "input[].", unknown);
    switch (item.type) {
      case "reasoning":
        return reasoning(item);
      case "function_call":
      case "custom_tool_call":
        return call(item, path);
      case "function_call_output":
      case "custom_tool_call_output":
        return output(
          item.call_id,
          decodeContent(item.output, `${path}.output`, cacheOptions, unknown),
          path,
        );
      case "additional_tools":
        // Decoded in `decode_tools.ts`.
        return;
      case "configuration_update":
        // Decoded in `decode_request.ts`.
        return;
    }
  };

  yield* visitEach(items, (item, index) => {
    const path = `input[${index}]`;
    if (isMessage(item)) return message(item, path);
    if (isRanCode(item)) return;
    if (isKnownItem(item)) return readKnown(item, path);
    if (item.type === "compaction_trigger") {
      throw invalidField(
        path,
        `conversations are not compacted for this model; ${COMPACTION_REMEDY}`,
      );
    }
    const part = opaque(item, path);
    if (FROM_CALLER.test(item.type)) {
      other({ role: "user", parts: [part] });
    } else assistant().parts.push(part);
  });
  return { system, turns: turns.flatMap(withResults) };
}

function withResults(turn: Turn | AssistantTurn): readonly Turn[] {
  if (!("results" in turn)) return [turn];
  const { role, parts, results } = turn;
  return results.length === 0
    ? [{ role, parts }]
    : [{ role, parts }, { role: "user", parts: results }];
}

function markOf(part: DecodedPart): CacheMark | undefined {
  return "cacheMark" in part ? part.cacheMark : undefined;
}

function resultPart(part: DecodedPart): ResultPart {
  return part.type === "refusal"
    ? { type: "text", text: part.text }
    : withMark(part);
}

/** The summaries of the reasoning; without summaries, the reasoning itself. */
function reasoningText(item: KnownItem & { type: "reasoning" }): string {
  const joinTexts = (list: unknown): string =>
    arrayOr(list).map((part) => stringIn(objectOr(part)["text"]) ?? "")
      .filter((text) => text !== "").join("\n\n");
  const summary = joinTexts(item.summary);
  return summary === "" ? joinTexts(item.content) : summary;
}

function reasoningPart(
  text: string,
  signature: Signature | undefined,
): ReasoningPart {
  return {
    type: "reasoning",
    text,
    ...(signature === undefined ? {} : { signature }),
  };
}

/**
 * Adds a signature to the preceding call. The encoder writes such an item if the signature
 * arrived after the call.
 */
function signCallBefore(
  parts: Part[] | undefined,
  signature: Signature,
): void {
  const at = parts?.findLastIndex((part) => part.type === "tool_call") ?? -1;
  const part = parts?.[at];
  if (parts === undefined || part?.type !== "tool_call") return;
  parts[at] = { ...part, signature };
}

function opaque(item: UnknownObject, path: string): OpaquePart {
  return {
    type: "opaque",
    from: "responses",
    kind: item.type,
    path,
    value: item,
    essential: !DISPENSABLE.has(item.type),
  };
}
