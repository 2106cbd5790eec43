/**
 * Puts what the chat format tells side by side (text, reasoning, refusal, any number of calls at once) into one sequence of
 * blocks of which at most one is open. While a call's arguments are incomplete everything else waits in a queue: nothing is
 * lost, nothing lands in the wrong block. Used for streams and whole replies alike.
 *
 * @module
 */
import type { DecodeContext } from "../dialect.ts";
import { ApiError } from "../error.ts";
import type { ReplyEvent } from "../reply.ts";
import type { Signature } from "../request.ts";
import { type JsonScan, jsonScan } from "./json_scan.ts";

/** The kinds of block that hold prose. */
export type ProseKind = "text" | "reasoning" | "refusal";

/** A piece of a call. Absent fields were not told; `id` and `name` are never empty. */
export interface CallPiece {
  /** The upstream's number of the call. */
  readonly index?: number;
  /** The call's id. */
  readonly id?: string;
  /** The function's name, as the upstream knows it. */
  readonly name?: string;
  /** More of the arguments, possibly empty. */
  readonly text: string;
  /** The call's signature, whole. */
  readonly signature?: Signature;
  /** True where the wire's form has no ids, so that none is waited for. */
  readonly withoutId?: boolean;
}

/** Takes pieces in the order of arrival and gives events in the order of blocks. */
export interface BlockWriter {
  /** More prose; an empty text opens nothing. */
  prose(kind: ProseKind, text: string): void;
  /** The signature of the reasoning before it, or of a block of its own where there is none or it is redacted. */
  sign(signature: Signature): void;
  /** A piece of a call, whichever call it belongs to. */
  call(piece: CallPiece): void;
  /** More of the open block, whatever it is. */
  more(text: string): void;
  /**
   * No more pieces: opens and closes what is left.
   *
   * @throws {ApiError} `upstream` for a call that nobody named
   */
  finish(): void;
  /** The events since the last time. */
  take(): ReplyEvent[];
  /** Whether any block was begun, opened or still waiting. */
  began(): boolean;
  /** Whether a refusal was begun. */
  refused(): boolean;
}

interface Prose {
  readonly kind: ProseKind;
  readonly texts: string[];
  signature?: Signature;
}

interface Call {
  readonly kind: "call";
  readonly scan: JsonScan;
  readonly texts: string[];
  id?: string;
  name?: string;
  signature?: Signature;
  withoutId: boolean;
  /** Whether any of the arguments has come. */
  fed: boolean;
}

/** Makes a {@linkcode BlockWriter} for one reply. */
export function blockWriter(context: DecodeContext): BlockWriter {
  let events: ReplyEvent[] = [];
  let open: Prose | Call | undefined;
  const queue: (Prose | Call)[] = [];
  let started = false;
  let sawRefusal = false;
  const calls: Call[] = [];
  const byIndex = new Map<number, Call>();

  const emit = (text: string): void => {
    if (text !== "") events.push({ type: "delta", text });
  };
  const sealed = (signature: Signature): void => {
    events.push({ type: "sign", signature });
  };
  const close = (): void => {
    if (open === undefined) return;
    events.push({ type: "close" });
    open = undefined;
  };
  const start = (item: Prose | Call): void => {
    close();
    open = item;
    if (item.kind !== "call") {
      events.push({ type: "open", kind: item.kind });
      for (const text of item.texts) emit(text);
      if (item.signature !== undefined) sealed(item.signature);
      return;
    }
    if (item.name !== undefined && item.name === context.formatTool) {
      events.push({ type: "open", kind: "text" });
    } else {
      const name = item.name ?? "";
      events.push({
        type: "open",
        kind: "tool",
        ...(item.id === undefined ? {} : { id: item.id }),
        name: context.toolNames.get(name) ?? name,
      });
      if (item.signature !== undefined) sealed(item.signature);
    }
    for (const text of item.texts) emit(text);
  };
  /** Opens what waits, as far as the open call allows; with `force`, all of it. */
  const drain = (force: boolean): void => {
    let taken = 0;
    for (const next of queue) {
      if (!force && open?.kind === "call" && !open.scan.complete()) break;
      if (next.kind === "call" && !force && !isReady(next)) break;
      taken += 1;
      if (next.kind === "call" && next.name === undefined) {
        if (next.id === undefined && !next.fed) continue;
        throw new ApiError(
          "upstream",
          "the upstream sent a tool call without a name",
        );
      }
      start(next);
    }
    queue.splice(0, taken);
  };
  const busy = (): boolean =>
    queue.length > 0 || (open?.kind === "call" && !open.scan.complete());
  const add = (call: Call, piece: CallPiece): void => {
    if (piece.id !== undefined) call.id ??= piece.id;
    if (piece.name !== undefined) call.name ??= piece.name;
    call.withoutId ||= piece.withoutId === true;
    if (piece.text !== "") {
      call.fed = true;
      call.scan.feed(piece.text);
    }
    if (call !== open) {
      // For the time when it opens. A call that was closed had whole arguments: more of them mean nothing.
      if (piece.text !== "") call.texts.push(piece.text);
      if (piece.signature !== undefined) call.signature ??= piece.signature;
      return;
    }
    if (piece.signature !== undefined && call.signature === undefined) {
      call.signature = piece.signature;
      if (call.name !== context.formatTool) sealed(piece.signature);
    }
    emit(piece.text);
  };
  return {
    prose(kind, text) {
      if (text === "") return;
      started = true;
      sawRefusal ||= kind === "refusal";
      if (!busy()) {
        const more = open !== undefined && open.kind === kind &&
          open.signature === undefined;
        if (more) emit(text);
        else start({ kind, texts: [text] });
        return;
      }
      const last = queue.at(-1);
      if (
        last !== undefined && last.kind === kind && last.signature === undefined
      ) last.texts.push(text);
      else queue.push({ kind, texts: [text] });
    },
    sign(signature) {
      started = true;
      const last = busy() ? queue.at(-1) : open;
      const fits = last?.kind === "reasoning" &&
        last.signature === undefined && signature.redacted !== true;
      if (!fits) {
        const block: Prose = { kind: "reasoning", texts: [], signature };
        if (busy()) queue.push(block);
        else start(block);
        return;
      }
      last.signature = signature;
      if (last === open) sealed(signature);
    },
    call(piece) {
      started = true;
      const known = findCall(piece, calls, byIndex);
      const call = known ?? {
        kind: "call",
        scan: jsonScan(),
        texts: [],
        withoutId: false,
        fed: false,
      };
      if (known === undefined) {
        calls.push(call);
        queue.push(call);
      }
      if (piece.index !== undefined) byIndex.set(piece.index, call);
      add(call, piece);
      drain(false);
    },
    more(text) {
      if (open?.kind === "call") {
        open.fed = true;
        open.scan.feed(text);
      }
      emit(text);
      if (queue.length > 0) drain(false);
    },
    finish() {
      drain(true);
      close();
    },
    take() {
      const taken = events;
      events = [];
      return taken;
    },
    began: () => started,
    refused: () => sawRefusal,
  };
}

/** An id may come late or never: it is waited for until the arguments begin. */
function isReady(call: Call): boolean {
  return call.name !== undefined &&
    (call.id !== undefined || call.withoutId || call.fed);
}

/** The call that a piece continues; undefined where it begins a new one. */
function findCall(
  piece: CallPiece,
  calls: readonly Call[],
  byIndex: ReadonlyMap<number, Call>,
): Call | undefined {
  const { id, index } = piece;
  const likely = index === undefined ? calls.at(-1) : byIndex.get(index);
  if (likely !== undefined && continues(likely, piece)) return likely;
  // A number and a name of its own make a call a new one, also where the vendor repeats an id.
  const fresh = index !== undefined && likely === undefined &&
    piece.name !== undefined;
  return id === undefined || fresh
    ? undefined
    : calls.findLast((call) => call.id === id);
}

/** Some upstreams number every call 0, or none: another id or name, or a name after whole arguments, begins a new call. */
function continues(call: Call, piece: CallPiece): boolean {
  if (piece.id !== undefined && call.id !== undefined) {
    return piece.id === call.id;
  }
  if (piece.name === undefined || call.name === undefined) return true;
  if (piece.name !== call.name) return false;
  const more = piece.text.trim() !== "";
  // Without a number, a name repeated before any arguments is another call of the same function.
  if (piece.index === undefined) {
    return more && call.fed && !call.scan.complete();
  }
  return !more || !call.scan.complete();
}
