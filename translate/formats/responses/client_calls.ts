/**
 * Items of a reply that its client must answer, or show, and that no other format can express: such
 * a reply is not complete.
 */
import { type JsonObject, stringIn, textIn } from "../../bytes/json.ts";

/** An item `…_output` with the same `call_id` is the answer, where the vendor gave it. */
const CLIENT_CALLS: ReadonlySet<string> = new Set([
  "apply_patch_call",
  "computer_call",
  "image_generation_call",
  "local_shell_call",
  "mcp_approval_request",
  "program",
  "shell_call",
]);

/** Finds out whether a reply waits for an answer. */
interface ClientCalls {
  /** Reads an item; the same item may be read again. */
  note(item: JsonObject): void;
  /** Whether a call that was read has no answer. */
  areOpen(): boolean;
}

export function clientCalls(): ClientCalls {
  const calls = new Set<string>();
  const answers = new Set<string>();
  return {
    note(item) {
      const type = stringIn(item["type"]) ?? "";
      const id = textIn(item["call_id"]) ?? textIn(item["id"]) ?? type;
      if (CLIENT_CALLS.has(type)) calls.add(id);
      else if (type.endsWith("_output")) answers.add(id);
    },
    areOpen: () => [...calls].some((id) => !answers.has(id)),
  };
}
