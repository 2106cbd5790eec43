/** Parts of the faults of the area `message_reply`, and faults that several checks share. */
import type { Hooks } from "../../reference_gateway/hooks.ts";
import { MESSAGE_REPLY } from "../../endpoints/messages.ts";
import { fieldOf, fieldsOf, type Right } from "../../faults/field.ts";

/** A mutant that puts a value at a path of the reply; undefined removes it. */
export const { put } = MESSAGE_REPLY.head;

export const field = (
  path: string,
  right: Right,
): ReturnType<typeof fieldOf> => fieldOf(MESSAGE_REPLY.head, path, right);

export const fields = (
  rights: Readonly<Record<string, Right>>,
): ReturnType<typeof fieldsOf> => fieldsOf(MESSAGE_REPLY.head, rights);

export const messageSequenceNull: Hooks = put("stop_sequence", null);
