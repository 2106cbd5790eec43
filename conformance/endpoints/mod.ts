/** The forms of replies that rules for several endpoints judge; a further endpoint adds its own. */
import { CHAT_REPLY, CHAT_STREAM } from "./chat.ts";
import {
  GENERATE_CONTENT_ARRAY,
  GENERATE_CONTENT_REPLY,
  GENERATE_CONTENT_STREAM,
} from "./generate_content.ts";
import { MESSAGE_REPLY, MESSAGE_STREAM } from "./messages.ts";
import { RESPONSES } from "./responses.ts";
import type { ReplyForm } from "./reply_form.ts";

const FORMS: readonly ReplyForm[] = [
  MESSAGE_REPLY,
  MESSAGE_STREAM,
  CHAT_REPLY,
  CHAT_STREAM,
  RESPONSES,
  GENERATE_CONTENT_REPLY,
  GENERATE_CONTENT_STREAM,
  GENERATE_CONTENT_ARRAY,
];

/**
 * The form that a check judges, by the first word of its id.
 * @throws when there is none
 */
export function formOf(id: string): ReplyForm {
  const area = id.split(".")[0];
  const found = FORMS.find((form) => form.area === area);
  if (found !== undefined) return found;
  throw new Error(`${id} belongs to no form of replies`);
}
