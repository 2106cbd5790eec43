/**
 * Does long work in turns of the event loop, so that other calls go on in between.
 */
import { encodeText, joinPieces } from "../translate/bytes/buffers.ts";
import { jsonPieces } from "../translate/bytes/json_pieces.ts";
import { nextTurn } from "./accounts/next_turn.ts";

/** Longest work in one turn, in milliseconds, if each step is short. */
const TURN_MS = 8;

/** Takes all steps; `each` receives what they yield. Returns the result of the last. */
export async function inTurns<Step, Result>(
  steps: Iterator<Step, Result, void>,
  each: (step: Step) => void = () => {},
): Promise<Result> {
  let endMs = performance.now() + TURN_MS;
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    each(value);
    if (performance.now() < endMs) continue;
    await nextTurn();
    endMs = performance.now() + TURN_MS;
  }
}

/** The JSON of a value of any size, as UTF-8. */
export async function jsonInTurns(value: unknown): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  await inTurns(
    jsonPieces(value),
    (text) => void pieces.push(encodeText(text)),
  );
  return joinPieces(pieces);
}
