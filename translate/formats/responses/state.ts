/**
 * Requests that refer to stored replies, in this format: `store`, `previous_response_id` and
 * `item_reference`. The gateway stores and finds the replies; the functions here read the
 * references and put what was found in their place.
 */
import {
  arrayOr,
  isObject,
  type JsonDraft,
  type JsonObject,
  objectOr,
  textIn,
} from "../../bytes/json.ts";
import { exactJson } from "../../bytes/exact_json.ts";
import { invalidField } from "../../model/error.ts";
import type {
  DialectState,
  ItemReference,
  StoredTurn,
} from "../../model/stored_state.ts";
import { refuseUnsupported } from "./check_passable.ts";
import { streamEnd, wholeEnd } from "./reply_end.ts";
import { stateErrors } from "./state_errors.ts";

/** Stored replies in this format. */
export const state: DialectState = {
  asked(body) {
    refuseUnsupported(body);
    const previousId = textIn(body["previous_response_id"]);
    return {
      store: body["store"] !== false,
      ...(previousId === undefined ? {} : { previousId }),
      references: referencesIn(inputItems(body)),
    };
  },
  inputItems,
  references: (turns) => turns.flatMap(({ input }) => referencesIn(input)),
  history,
  resolved: (body, earlier, items) => ({
    input: [...earlier, ...resolve(inputItems(body), items)],
    ...(body["previous_response_id"] === undefined
      ? {}
      : { previous_response_id: null }),
  }),
  outputItems: (reply, ids) =>
    outputOf(reply).flatMap((item) => {
      const id = isObject(item) ? textIn(item["id"]) : undefined;
      return isObject(item) && id !== undefined && ids.has(id)
        ? [[id, item] as const]
        : [];
    }),
  listedItems(turns, items) {
    const last = turns.at(-1);
    if (last === undefined) return [];
    return [
      ...turns.slice(0, -1).flatMap((turn) => [
        ...listedInput(turn, items),
        ...outputOf(turn.reply).filter(isObject),
      ]),
      ...listedInput(last, items),
    ];
  },
  wholeEnd,
  streamEnd,
  errors: stateErrors,
};

function history(
  turns: readonly StoredTurn[],
  items: ReadonlyMap<string, JsonObject>,
): readonly unknown[] {
  return turns.flatMap((turn) => [
    ...resolve(turn.input, items),
    ...outputOf(turn.reply),
  ]);
}

function inputItems(body: JsonObject): readonly unknown[] {
  const input = body["input"];
  return typeof input === "string"
    ? [{ role: "user", content: input }]
    : arrayOr(input);
}

function outputOf(reply: string): readonly unknown[] {
  return arrayOr(objectOr(exactJson(reply))["output"]);
}

/** Clients may leave out the type of a reference: then it has nothing but its id. */
function isReference(item: unknown): item is JsonObject {
  if (!isObject(item)) return false;
  const type = item["type"];
  return type === "item_reference" ||
    ((type === undefined || type === null) && item["role"] === undefined &&
      textIn(item["id"]) !== undefined);
}

function referencesIn(items: readonly unknown[]): readonly ItemReference[] {
  return items.flatMap((item, index) => {
    if (!isReference(item)) return [];
    const path = `input[${index}]`;
    const id = textIn(item["id"]);
    if (id === undefined) {
      throw invalidField(`${path}.id`, "expected the id of an earlier item");
    }
    return [{ path, id }];
  });
}

function resolve(
  items: readonly unknown[],
  found: ReadonlyMap<string, JsonObject>,
): readonly unknown[] {
  return items.map((item) =>
    isReference(item) ? found.get(String(item["id"])) ?? item : item
  );
}

/** The prefix of the ids of items that came without one. */
const ID_PREFIXES: Readonly<Record<string, string>> = {
  message: "msg",
  reasoning: "rs",
  function_call: "fc",
  function_call_output: "fco",
  custom_tool_call: "ctc",
  custom_tool_call_output: "ctco",
};

/** The input items of a turn as a list reports them: with id, type, status and parts. */
function listedInput(
  turn: StoredTurn,
  found: ReadonlyMap<string, JsonObject>,
): readonly JsonObject[] {
  const seed = turn.id.replace(/^resp_/, "");
  return resolve(turn.input, found).filter(isObject).map((item, index) => {
    const type = textIn(item["type"]) ?? "message";
    const prefix = ID_PREFIXES[type] ?? "item";
    const listed: JsonDraft = {
      ...item,
      id: textIn(item["id"]) ?? `${prefix}_${seed}i${index.toString(36)}`,
      type,
    };
    if (type === "message") {
      listed["status"] = item["status"] ?? "completed";
      listed["content"] = partsOf(item);
    }
    return listed;
  });
}

function partsOf({ role, content }: JsonObject): unknown {
  return typeof content !== "string"
    ? content
    : role === "assistant"
    ? [{ type: "output_text", text: content, annotations: [] }]
    : [{ type: "input_text", text: content }];
}
