/**
 * Pairs tool calls with their results in a history, by one set of rules for every pair of client
 * format and upstream dialect that a request is translated between:
 *
 * - Every call has exactly one result, and every result answers a call. All dialects demand it, and
 *   their upstreams answer 400 with a path in a body that the client never wrote. So a history that
 *   breaks the rule is refused here with the client's path: a result without a call, a second
 *   result of a call, a call without a result. Dropping one or inventing the other would change
 *   what the model reads.
 * - Where only the order is wrong, it is repaired. Results behind a later assistant turn, or before
 *   their call, move to a user turn right behind their call. Neighbouring assistant turns that both
 *   hold calls are parallel calls that another gateway wrote as two messages: they become one turn.
 *   Encoders order what is between two assistant turns.
 * - Repeated ids pair within the latest turn that holds an open call of that id, in order.
 * - A request that passes through in its own dialect is not checked: there the upstream decides.
 */
import { invalidField } from "../model/error.ts";
import type {
  Part,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from "../model/request.ts";

interface PairedCall {
  readonly part: ToolCallPart;
  readonly turn: number;
  result?: PairedResult;
}

interface PairedResult {
  readonly part: ToolResultPart;
  readonly turn: number;
}

/** The calls with one id. A client may repeat an id very often: nothing searches through them. */
interface SameId {
  readonly all: PairedCall[];
  /** The open calls by their turn, the latest turn last. Those before `next` have a result. */
  readonly open: {
    readonly turn: number;
    readonly calls: PairedCall[];
    next: number;
  }[];
  /** Number of first calls in `all` that are known to have a result. */
  answered: number;
}

/**
 * The turns with every result between its call and the assistant's next turn; the same array where
 * they are in that order already.
 *
 * @throws {ApiError} `invalid_request` with the path of a result without a call, or of a call
 * without a result
 */
export function pairedTurns(
  given: readonly Turn[],
  conversation = "messages",
): readonly Turn[] {
  const turns = withParallelCallsJoined(given);
  const calls = pairedCalls(turns, conversation);
  const moved = new Map<number, ToolResultPart[]>();
  const gone = new Set<Part>();
  const replies = assistantTurnsUpTo(turns);
  for (const { part: _, turn, result } of calls) {
    // In place: after its call, with no assistant turn between them.
    const isPlaced = result === undefined ||
      (result.turn > turn && replies[result.turn - 1] === replies[turn]);
    if (isPlaced) continue;
    gone.add(result.part);
    const behind = moved.get(turn);
    if (behind === undefined) moved.set(turn, [result.part]);
    else behind.push(result.part);
  }
  if (gone.size === 0) return turns;
  return turns.flatMap((turn, index): readonly Turn[] => {
    const parts = turn.parts.filter((part) => !gone.has(part));
    const behind = moved.get(index);
    return [
      ...(parts.length === 0 && turn.parts.length > 0
        ? []
        : [parts.length === turn.parts.length ? turn : { ...turn, parts }]),
      ...(behind === undefined
        ? []
        : [{ role: "user" as const, parts: behind }]),
    ];
  });
}

function withParallelCallsJoined(turns: readonly Turn[]): readonly Turn[] {
  const calls = (turn: Turn | undefined): boolean =>
    turn?.role === "assistant" &&
    turn.parts.some((part) => part.type === "tool_call");
  if (!turns.some((turn, at) => calls(turn) && calls(turns[at - 1]))) {
    return turns;
  }
  const joined: (readonly Turn[])[] = [];
  let run: Turn[] = [];
  for (const turn of turns) {
    if (calls(turn) && calls(run.at(-1))) run.push(turn);
    else joined.push(run = [turn]);
  }
  return joined.flatMap((run): readonly Turn[] =>
    run.length === 1
      ? run
      : [{ role: "assistant", parts: run.flatMap(({ parts }) => parts) }]
  );
}

/** For each turn, the number of assistant turns up to and including it. */
function assistantTurnsUpTo(turns: readonly Turn[]): readonly number[] {
  let count = 0;
  return turns.map(({ role }) => role === "assistant" ? ++count : count);
}

function pairedCalls(
  turns: readonly Turn[],
  conversation: string,
): readonly PairedCall[] {
  const calls: PairedCall[] = [];
  const byId = new Map<string, SameId>();
  const early: PairedResult[] = [];
  /** Calls that only the client's own dialect has: their results are not checked. */
  const opaque = new Set<unknown>();
  turns.forEach((turn, at) => {
    for (const part of turn.parts) {
      if (part.type === "opaque") {
        opaque.add(part.value["id"]);
        opaque.add(part.value["call_id"]);
      } else if (part.type === "tool_call") {
        const call: PairedCall = { part, turn: at };
        calls.push(call);
        const same = byId.get(part.id) ?? { all: [], open: [], answered: 0 };
        byId.set(part.id, same);
        same.all.push(call);
        const group = same.open.at(-1);
        if (group?.turn === at) group.calls.push(call);
        else same.open.push({ turn: at, calls: [call], next: 0 });
      } else if (part.type === "tool_result") {
        const result = { part, turn: at };
        const call = latestOpen(byId.get(part.id));
        if (call === undefined) early.push(result);
        else call.result = result;
      }
    }
  });
  for (const result of early) {
    const { id } = result.part;
    if (opaque.has(id)) continue;
    const same = byId.get(id);
    const call = same === undefined ? undefined : firstOpen(same);
    if (call === undefined) {
      throw unanswerable(result, same?.all[0], conversation);
    }
    call.result = result;
  }
  const open = calls.find((call) => call.result === undefined);
  if (open !== undefined) {
    throw invalidField(
      open.part.at ?? conversation,
      `the call ${quoteId(open.part.id)} has no result in the ${conversation}`,
    );
  }
  return calls;
}

/** The first open call of the latest turn that has one; it is no longer open then. */
function latestOpen(same: SameId | undefined): PairedCall | undefined {
  const group = same?.open.at(-1);
  if (same === undefined || group === undefined) return undefined;
  const call = group.calls[group.next++];
  if (group.next === group.calls.length) same.open.pop();
  return call;
}

/** The first call without a result. */
function firstOpen(same: SameId): PairedCall | undefined {
  while (same.all[same.answered]?.result !== undefined) same.answered++;
  return same.all[same.answered];
}

function unanswerable(
  { part }: PairedResult,
  call: PairedCall | undefined,
  conversation: string,
): Error {
  return invalidField(
    part.at ?? conversation,
    call === undefined
      ? `answers no call: none in the ${conversation} has the id ${
        quoteId(part.id)
      }`
      : `answers the call ${quoteId(part.id)} a second time${
        call.result?.part.at === undefined
          ? ""
          : `; its result is ${call.result.part.at}`
      }`,
  );
}

/** Client ids may have any length. */
function quoteId(id: string): string {
  return `"${id.length > 80 ? `${id.slice(0, 80).toWellFormed()}…` : id}"`;
}
