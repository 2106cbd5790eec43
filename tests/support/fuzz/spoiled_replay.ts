/**
 * Fuzzing of the replay upstream, for tests: a request that a gateway passed on unread is answered
 * or refused, never a fault.
 */
import { answer } from "../../../replay/answer.ts";
import type { JsonObject } from "../../../translate/bytes/json.ts";
import { diceOf, pick, spoiled } from "./spoil.ts";
import { requestSeeds } from "./spoil_seeds.ts";
import type { Defect } from "./spoiled_requests.ts";

function seedsOf(
  format: Parameters<typeof requestSeeds>[0],
): readonly JsonObject[] {
  return requestSeeds(format).map((one) => ({ ...one, model: "m" }));
}

const OPERATIONS: readonly (readonly [string, readonly JsonObject[]])[] = [
  ["/v1/messages", seedsOf("messages")],
  ["/v1/messages/count_tokens", seedsOf("messages")],
  ["/v1/chat/completions", seedsOf("chat_completions")],
  ["/v1/responses", seedsOf("responses")],
];

/**
 * Answers `count` spoiled requests, calls `found` for each defect. Returns how many got a reply.
 */
export function trySpoiledReplay(
  count: number,
  seed: number,
  found: (defect: Defect) => void,
): number {
  const dice = diceOf(seed);
  let answered = 0;
  for (let n = 0; n < count; n++) {
    const [path, seeds] = pick(dice, OPERATIONS);
    const body = spoiled(pick(dice, seeds), seeds, dice);
    try {
      const { status } = answer({ method: "POST", path, headers: {}, body });
      if (status >= 500) throw new Error(`status ${status}`);
      if (status === 200) answered++;
    } catch (error) {
      found({ body, where: path, error });
    }
  }
  return answered;
}
