/** What the faults of the area `web_socket` are built from. */
import { type Change, changed } from "../../faults/change_reply.ts";
import { textAt } from "../../evidence/json_path.ts";
import { type JsonObject } from "@model-gateway/replay/json";
import type { Context, Hooks } from "../../reference_gateway/hooks.ts";

/** Changes every event that is sent through a web socket. */
export function events(
  change: (
    event: JsonObject,
    x: Context,
  ) => JsonObject | readonly (JsonObject | string)[] | undefined,
): Hooks {
  return {
    message: (event, x) => {
      const changed = change(event, x);
      if (changed === undefined) return [];
      return isList(changed) ? changed : [changed];
    },
  };
}

function isList(
  value: JsonObject | readonly (JsonObject | string)[],
): value is readonly (JsonObject | string)[] {
  return Array.isArray(value);
}

/** Changes the events of one type. */
export function ofType(
  type: RegExp,
  change: Parameters<typeof events>[0],
): Hooks {
  return events((event, x) =>
    type.test(textAt(event, "type")) ? change(event, x) : event
  );
}

/** Changes the errors in place of an HTTP status. */
export function inErrors(change: Change): Hooks {
  return ofType(
    /^error$/,
    (event) => event["status"] === undefined ? event : changed(event, change),
  );
}
