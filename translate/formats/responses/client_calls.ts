/**
 * Items of a reply that its client must answer, or show, and that no other format can express: such
 * a reply is not complete. Items of unknown types may be of this kind.
 */
import { type JsonObject, stringIn, textIn } from "../../bytes/json.ts";
import { kindOf } from "./item_state.ts";

/** Tools that the vendor ran, and its own notes. */
const VENDOR_ITEMS: ReadonlySet<string> = new Set([
  "additional_tools",
  "code_interpreter_call",
  "compaction",
  "file_search_call",
  "mcp_call",
  "mcp_list_tools",
  "tool_search_call",
  "web_search_call",
]);

/** Finds out whether a reply waits for an answer. */
interface ClientCalls {
  /** Reads an item; the same item may be read again. */
  note(item: JsonObject): void;
  /** Whether a call that was read has no answer. */
  areOpen(): boolean;
}

/** Makes the {@linkcode ClientCalls} of one reply. */
export function clientCalls(): ClientCalls {
  const calls = new Set<string>();
  const answers = new Set<string>();
  return {
    note(item) {
      const type = stringIn(item["type"]) ?? "";
      const id = textIn(item["call_id"]) ?? textIn(item["id"]) ?? type;
      // The answer of the vendor's own tool, for a call with the same `call_id`.
      if (type.endsWith("_output")) answers.add(id);
      else if (kindOf(item) === "other" && !VENDOR_ITEMS.has(type)) {
        calls.add(id);
      }
    },
    areOpen: () => [...calls].some((id) => !answers.has(id)),
  };
}
