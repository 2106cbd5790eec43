/**
 * The tap of stored replies: a reply's last bytes wait until it is stored.
 */
import type { ReplyKeeper } from "../responses/conversation.ts";
import { inTurns } from "../in_turns.ts";
import { keptStream } from "./kept_stream.ts";
import type { Tap } from "./tap.ts";

/** The tap that stores the reply of one call. */
export function keepingTap(keeper: ReplyKeeper): Tap {
  // Undefined where the reply does not end completely.
  let isStored: boolean | undefined;
  const noting: ReplyKeeper = keeper.stores
    ? { ...keeper, keep: async (end) => isStored = await keeper.keep(end) }
    : keeper;
  return {
    stream: (reply) => keptStream(reply, noting),
    async whole(reply, isStream) {
      const { body } = reply.reply;
      const end = isStream
        ? noting.streamEnd(body)
        : await inTurns(noting.wholeEnd(body));
      if (end === undefined || await noting.keep(end)) return reply;
      return { ...reply, reply: { ...reply.reply, body: end.unstored() } };
    },
    logged: () => isStored === undefined ? {} : { stored: isStored },
  };
}
