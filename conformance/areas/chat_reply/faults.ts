/** Mutants for the checks of the area `chat_reply`: the fields of whole replies. */
import { textAt } from "../../evidence/json_path.ts";
import { fieldRules } from "../../reference_gateway/field.ts";
import type { Hooks } from "../../reference_gateway/hooks.ts";
import { put } from "../../reference_gateway/change_chat_reply.ts";

/** A rule about one field, with its faults. */
export const field = fieldRules(put);

/** A mutant that renames a finish reason. */
export function finish(from: string, to: string): Hooks {
  return put("choices.0.finish_reason", (body) => {
    const reason = textAt(body, "choices.0.finish_reason");
    return reason === from ? to : reason;
  });
}

/** Changes the headers of whole replies. */
export function contentType(type: string): Hooks {
  return {
    reply: (reply, { endpoint }) =>
      endpoint === "chat"
        ? { ...reply, headers: { ...reply.headers, "content-type": type } }
        : reply,
  };
}

export const CONTENT = "choices.0.message.content";
export const FINISH = "choices.0.finish_reason";

/** stream: false is read as true. */
export const chatStreamFalseStreams: Hooks = {
  modelRequest: (modelRequest, { request }) =>
    request.body.includes('"stream":false')
      ? { ...modelRequest, stream: true }
      : modelRequest,
};

/** length. */
export const chatLengthAsStop: Hooks = finish("length", "stop");
