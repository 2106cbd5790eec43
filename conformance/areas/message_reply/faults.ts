/** What the faults of the area `message_reply` are built from, and those that several checks have. */
import type { Hooks } from "../../reference_gateway/hooks.ts";
import { MESSAGE_REPLY } from "../../endpoints/messages.ts";
import { fieldOf, fieldsOf, type Right } from "../../faults/field.ts";

/** A mutant that puts a value at a path of the reply; undefined removes it. */
export const { put } = MESSAGE_REPLY.head;

/** A rule about one field, with its faults. */
export const field = (
  path: string,
  right: Right,
): ReturnType<typeof fieldOf> => fieldOf(MESSAGE_REPLY.head, path, right);

/** Rules about several fields, with their faults. */
export const fields = (
  rights: Readonly<Record<string, Right>>,
): ReturnType<typeof fieldsOf> => fieldsOf(MESSAGE_REPLY.head, rights);

/** The stop sequence that hit is not reported. */
export const messageSequenceNull: Hooks = put("stop_sequence", null);
