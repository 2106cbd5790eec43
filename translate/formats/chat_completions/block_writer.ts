/**
 * Orders the pieces of a reply. The chat format sends text, reasoning, refusal and several calls
 * interleaved; this writer produces a sequence of blocks with at most one open at a time. While
 * the arguments of the open call are incomplete, all other pieces wait in a queue, so each piece
 * ends up in its own block. Used for streams and for whole replies.
 */
import type { DecodeContext } from "../../dialect.ts";
import { type FreeTextWriter, freeTextWriter } from "../../turns/free_text.ts";
import { type Citation, MAX_CITATIONS } from "../../model/citation.ts";
import type { ReplyEvent } from "../../model/reply.ts";
import type { Signature } from "../../model/request.ts";
import { type CallArguments, callArguments } from "./call_arguments.ts";
import { unnamedCall } from "../../model/reply_faults.ts";

/** The kinds of block that hold plain text, as opposed to a call. */
type TextKind = "text" | "reasoning" | "refusal";

/**
 * A piece of a tool call. An absent field was not in the chunk; `id` and `name` are never empty.
 */
interface CallPiece {
  /** The upstream's `index` of the call. */
  readonly index?: number;
  readonly id?: string;
  /** The function's name in the upstream request, possibly shortened from the client's. */
  readonly name?: string;
  /** The next fragment of the arguments, possibly empty. */
  readonly text: string;
  /** True if `text` is the whole arguments so far; a later piece may replace them. */
  readonly isWhole?: boolean;
  /** The complete signature of the call. */
  readonly signature?: Signature;
  /**
   * True for the deprecated `function_call` form, which has no ids: the writer then does not wait
   * for one.
   */
  readonly withoutId?: boolean;
  /** True if `text` is free text instead of arguments. */
  readonly freeText?: boolean;
}

/** Accepts pieces in the order of arrival and returns events in the order of blocks. */
interface BlockWriter {
  /** Appends text to a block of this kind. An empty text opens no block. */
  addText(kind: TextKind, text: string): void;
  /**
   * Signs the preceding block of reasoning or text. Without such a block, or for redacted reasoning,
   * the signature gets a block of its own.
   */
  sign(signature: Signature, kind: "reasoning" | "text"): void;
  /** Adds a source to the text block that is open, or to the next one. */
  cite(citation: Citation): void;
  /** Appends a piece to the call that it continues, or begins a new call. */
  addCall(piece: CallPiece): void;
  /** Appends text to the open block, whatever its kind. */
  extendOpen(text: string): void;
  /**
   * Opens and closes the blocks that are still queued; no piece may follow.
   *
   * @throws {ApiError} `upstream` for a call without a name
   */
  finish(): void;
  /** Removes and returns the events produced since the last call of `take()`. */
  take(): ReplyEvent[];
  /** Whether any block was begun, including queued ones. */
  began(): boolean;
  /** Whether a refusal was begun. */
  refused(): boolean;
}

interface Prose {
  readonly kind: TextKind;
  readonly texts: string[];
  signature?: Signature;
}

interface OpenCall {
  readonly kind: "call";
  readonly args: CallArguments;
  readonly texts: string[];
  id?: string;
  name?: string;
  signature?: Signature;
  withoutId: boolean;
  /** Wraps the input of a free-text call as arguments. */
  readonly freeText?: FreeTextWriter;
  /** Whether any argument text has arrived. */
  fed: boolean;
}

/** The calls of a reply: the last one, and the last of each index and id. */
interface Calls {
  last: OpenCall | undefined;
  readonly byIndex: Map<number, OpenCall>;
  readonly byId: Map<string, OpenCall>;
}

export function blockWriter(context: DecodeContext): BlockWriter {
  let events: ReplyEvent[] = [];
  let open: Prose | OpenCall | undefined;
  /** The blocks from `first` on wait. Removing each one that opens would move all others. */
  let queue: (Prose | OpenCall)[] = [];
  let first = 0;
  let started = false;
  let sawRefusal = false;
  let citations: Citation[] = [];
  const calls: Calls = { last: undefined, byIndex: new Map(), byId: new Map() };

  const emit = (text: string): void => {
    if (text !== "") events.push({ type: "delta", text });
  };
  const sealBlock = (signature: Signature): void => {
    events.push({ type: "sign", signature });
  };
  const close = (): void => {
    if (open === undefined) return;
    if (open.kind === "call") {
      emit(open.freeText?.end() ?? open.args.end());
    }
    if (open.kind === "text") {
      for (const citation of citations) events.push({ type: "cite", citation });
      citations = [];
    }
    events.push({ type: "close" });
    open = undefined;
  };
  const start = (item: Prose | OpenCall): void => {
    close();
    open = item;
    if (item.kind !== "call") {
      events.push({ type: "open", kind: item.kind });
      for (const text of item.texts) emit(text);
      if (item.signature !== undefined) sealBlock(item.signature);
      return;
    }
    if (item.name !== undefined && item.name === context.formatTool) {
      events.push({ type: "open", kind: "text", isAnswer: true });
    } else {
      const name = item.name ?? "";
      events.push({
        type: "open",
        kind: "tool",
        ...(item.id === undefined ? {} : { id: item.id }),
        name: context.toolNames.get(name) ?? name,
      });
      if (item.signature !== undefined) sealBlock(item.signature);
    }
    for (const text of item.texts) emit(written(item, text));
  };
  /** Opens queued blocks until one has to wait for the open call. With `force`, opens all. */
  const drain = (force: boolean): void => {
    for (; first < queue.length; first++) {
      const next = queue[first];
      if (next === undefined) break;
      if (!force && open?.kind === "call" && !open.args.isComplete()) break;
      if (next.kind === "call" && !force && !isReady(next)) break;
      if (next.kind === "call" && next.name === undefined) {
        if (next.id === undefined && !next.fed) continue;
        throw unnamedCall();
      }
      start(next);
    }
    if (first > 0 && first === queue.length) {
      queue = [];
      first = 0;
    }
  };
  const isWaiting = (): boolean => first < queue.length;
  const busy = (): boolean =>
    isWaiting() || (open?.kind === "call" && !open.args.isComplete());
  const add = (call: OpenCall, piece: CallPiece): void => {
    if (piece.id !== undefined && call.id === undefined) {
      call.id = piece.id;
      calls.byId.set(piece.id, call);
    }
    if (piece.name !== undefined) call.name ??= piece.name;
    call.withoutId ||= piece.withoutId === true;
    call.fed ||= piece.text !== "";
    const text = newText(call, piece.text, piece.isWhole);
    if (call !== open) {
      // Kept until the call opens. Text for a call that was already closed is ignored, since its
      // arguments were complete.
      if (text !== "") call.texts.push(text);
      if (piece.signature !== undefined) call.signature ??= piece.signature;
      return;
    }
    if (piece.signature !== undefined && call.signature === undefined) {
      call.signature = piece.signature;
      if (call.name !== context.formatTool) sealBlock(piece.signature);
    }
    emit(written(call, text));
  };
  return {
    addText(kind, text) {
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
    sign(signature, kind) {
      started = true;
      const last = busy() ? queue.at(-1) : open;
      const fits = last?.kind === kind &&
        last.signature === undefined && signature.redacted !== true;
      if (!fits) {
        const block: Prose = { kind, texts: [], signature };
        if (busy()) queue.push(block);
        else start(block);
        return;
      }
      last.signature = signature;
      if (last === open) sealBlock(signature);
    },
    cite(citation) {
      if (citations.length < MAX_CITATIONS) citations.push(citation);
    },
    addCall(piece) {
      started = true;
      const known = findCall(piece, calls);
      const call = known ?? {
        kind: "call",
        args: callArguments(),
        texts: [],
        withoutId: false,
        fed: false,
        ...(piece.freeText === true ? { freeText: freeTextWriter() } : {}),
      };
      if (known === undefined) {
        calls.last = call;
        queue.push(call);
      }
      if (piece.index !== undefined) calls.byIndex.set(piece.index, call);
      add(call, piece);
      drain(false);
    },
    extendOpen(text) {
      if (open?.kind === "call") {
        open.fed = true;
        emit(written(open, newText(open, text)));
      } else emit(text);
      if (isWaiting()) drain(false);
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

/**
 * What is new in a fragment. Free text has no end of its own, so the arguments of such a call are
 * never complete.
 */
function newText(call: OpenCall, text: string, isWhole?: boolean): string {
  return call.freeText === undefined && text !== ""
    ? call.args.add(text, isWhole)
    : text;
}

/** A fragment of a call's arguments or free text, as arguments. */
function written(call: OpenCall, text: string): string {
  return call.freeText?.push(text) ?? text;
}

/**
 * A call opens once its name and its id are known. The id may come late or never, so the call
 * also opens when its arguments begin.
 */
function isReady(call: OpenCall): boolean {
  return call.name !== undefined &&
    (call.id !== undefined || call.withoutId || call.fed);
}

/** The call that a piece continues; undefined if the piece begins a new call. */
function findCall(piece: CallPiece, calls: Calls): OpenCall | undefined {
  const { id, index } = piece;
  const likely = index === undefined ? calls.last : calls.byIndex.get(index);
  if (likely !== undefined && continues(likely, piece)) return likely;
  // A new index together with a name begins a new call, even if the vendor repeats an id.
  const fresh = index !== undefined && likely === undefined &&
    piece.name !== undefined;
  return id === undefined || fresh ? undefined : calls.byId.get(id);
}

/**
 * Some upstreams send index 0 for every call, or no index. Then a different id or name, or a name
 * after complete arguments, begins a new call.
 */
function continues(call: OpenCall, piece: CallPiece): boolean {
  if (piece.id !== undefined && call.id !== undefined) {
    return piece.id === call.id;
  }
  if (piece.name === undefined || call.name === undefined) return true;
  if (piece.name !== call.name) return false;
  const more = piece.text.trim() !== "";
  // Without an index, a name that is repeated before any arguments begins another call of the
  // same function.
  if (piece.index === undefined) {
    return more && call.fed && !call.args.isComplete();
  }
  return !more || !call.args.isComplete();
}
