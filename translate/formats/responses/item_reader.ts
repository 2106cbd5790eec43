/**
 * Decodes the items of an upstream's reply into neutral events, in the order in which the items
 * begin. Items are identified by `output_index`, because their ids may change from frame to
 * frame. If items overlap, the events of the later one wait until the earlier one is complete.
 * Content that only a later frame contains (the `done` event of a part or item, or the whole
 * reply) is emitted when that frame arrives. `reply_reader.ts` handles the beginning and the end
 * of the reply.
 */
import type { DecodeContext } from "../../dialect.ts";
import type { ApiError } from "../../model/error.ts";
import {
  arrayOr,
  countIn,
  isObject,
  type JsonObject,
  objectOr,
  stringIn,
  textIn,
} from "../../bytes/json.ts";
import { TextBuffer } from "../../bytes/text_buffer.ts";
import { decodeLogprobs } from "../../families/chat/logprobs.ts";
import { MAX_CITATIONS, readUrlCitation } from "../../model/citation.ts";
import type { ReplyEvent, StopReason } from "../../model/reply.ts";
import type { TokenProbability } from "../../model/token_probability.ts";
import {
  argumentsOf,
  DELTAS,
  DONES,
  isCall,
  type ItemKind,
  type ItemState,
  keyOf,
  kindOf,
  newItemState,
  partKey,
} from "./item_state.ts";
import { clientCalls } from "./client_calls.ts";
import { pairItems } from "./pair_items.ts";
import { plainName } from "./tool_names.ts";
import { unnamedCall } from "../../model/reply_faults.ts";

/** Receives the decoded events. */
interface EventSink {
  /** Called before the first event of an item. */
  begin(): void;
  /** Receives the next event. */
  push(event: ReplyEvent): void;
  /** Receives the error that makes the reply unreadable. */
  fail(error: ApiError): void;
}

/** Decodes the items of one reply. */
interface ItemReader {
  /**
   * Reads an event about a part of an item. `type` is the event's type without `response.`.
   * Returns false if the event is not about a part.
   */
  part(type: string, data: JsonObject): boolean;
  /** Reads a delta that differs from the previous one only in its text. */
  more(text: string): void;
  /** The text so far of the item that was read last, if it is not closed. */
  partialText(): string;
  added(data: JsonObject): void;
  /** Reads `output_item.done`. */
  done(data: JsonObject): void;
  /** Reads the items of the whole reply, and emits what no earlier frame contained. */
  reconcile(output: readonly unknown[]): void;
  /** Whether a call has begun whose arguments are not known to be complete. */
  hasCutCall(): boolean;
  /** Closes all items. */
  close(): void;
  /** Whether the reply had no items. */
  isEmpty(): boolean;
  /** Why the model stopped, unless the upstream reported a reason of its own. */
  stopReason(): StopReason;
}

export function itemReader(
  context: DecodeContext,
  sink: EventSink,
): ItemReader {
  const items = new Map<number, ItemState>();
  /**
   * The items that are not closed, in the order in which they began. The first one emits its
   * events; the others collect theirs.
   */
  const queue: ItemState[] = [];
  let last: ItemState | undefined;
  /** Generated index for items without one. Negative, so that it never equals a real index. */
  let unplaced = 0;
  const foreignCalls = clientCalls();
  let sawCall = false;
  let sawRefusal = false;

  const emit = (item: ItemState, event: ReplyEvent): void => {
    if (queue[0] === item) sink.push(event);
    else item.waiting.push(event);
  };
  const itemAt = (data: JsonObject, kind: ItemKind): ItemState | undefined => {
    const index = countIn(data["output_index"]);
    const found = index === undefined
      ? last?.closed === false ? last : undefined
      : items.get(index);
    if (found !== undefined) return found.kind === kind ? found : undefined;
    return newItem(index ?? --unplaced, kind);
  };
  const newItem = (index: number, kind: ItemKind): ItemState => {
    sink.begin();
    const item = newItemState(kind);
    items.set(index, item);
    queue.push(item);
    last = item;
    return item;
  };
  const closeBlock = (item: ItemState): void => {
    if (!item.open) return;
    item.open = false;
    emit(item, { type: "close" });
  };
  /** Opens the block that the part belongs to. Returns false if a call has no name yet. */
  const openBlock = (item: ItemState, part: string, key: string): boolean => {
    switch (item.kind) {
      case "message": {
        if (item.open && item.part === key) return true;
        closeBlock(item);
        const kind = part === "refusal" ? "refusal" : "text";
        sawRefusal ||= kind === "refusal";
        emit(item, openEvent(item, kind));
        break;
      }
      case "reasoning":
        if (!item.open) emit(item, openEvent(item, "reasoning"));
        else if (item.part !== key) {
          emit(item, { type: "delta", text: "\n\n" });
        }
        break;
      case "call":
      case "free call":
        if (item.open) return true;
        if (item.name === undefined) return false;
        sawCall = true;
        emit(item, {
          type: "open",
          kind: "tool",
          ...(item.callId === undefined ? {} : { id: item.callId }),
          name: nameOf(item.name, item.namespace),
        });
        break;
      case "other":
        return false;
    }
    item.open = true;
    item.part = key;
    return true;
  };
  const nameOf = (name: string, namespace: string | undefined): string => {
    const plain = plainName(name, namespace);
    return context.toolNames.get(plain) ?? plain;
  };
  const add = (
    item: ItemState,
    part: string,
    key: string,
    text: string,
    tokens: readonly TokenProbability[] = [],
  ): void => {
    if (text === "" || item.closed) return;
    if (part === "summary" || part === "content") {
      item.source ??= part;
      if (item.source !== part) return;
    }
    item.lastPart = partOf(item, key);
    item.lastPart.push(text);
    if (isCall(item) && !item.open) return openCall(item);
    if (!openBlock(item, part, key)) return;
    weigh(item, key, tokens);
    const written = item.freeText?.push(text) ?? text;
    if (written !== "") emit(item, { type: "delta", text: written });
  };
  /** Emits the probabilities of tokens of a part, if it is open. */
  const weigh = (
    item: ItemState,
    key: string,
    tokens: readonly TokenProbability[],
  ): void => {
    if (tokens.length === 0 || !item.open || item.part !== key) return;
    item.weighed.set(key, (item.weighed.get(key) ?? 0) + tokens.length);
    emit(item, { type: "probabilities", tokens });
  };
  const tokensIn = (data: JsonObject): readonly TokenProbability[] =>
    context.wantsProbabilities === true ? decodeLogprobs(data["logprobs"]) : [];
  /** Emits the rest of a part whose complete text is known. */
  const complete = (
    item: ItemState,
    part: string,
    key: string,
    whole: string,
    allTokens: readonly TokenProbability[] = [],
  ): void => {
    const known = item.parts.get(key);
    if (known === undefined && isRead(item, part, whole)) return;
    const length = known?.length ?? 0;
    const tokens = allTokens.slice(item.weighed.get(key) ?? 0);
    if (whole.length > length && whole.startsWith(String(known ?? ""))) {
      add(item, part, key, whole.slice(length), tokens);
    } else weigh(item, key, tokens);
  };
  /** Emits the sources of a part, if it is open. Those that came alone are repeated with it. */
  const cite = (
    item: ItemState,
    key: string,
    annotations: readonly unknown[],
    isMore = false,
  ): void => {
    if (!item.open || item.part !== key) return;
    const known = isMore ? 0 : item.cited.get(key) ?? 0;
    for (const annotation of annotations.slice(known, MAX_CITATIONS)) {
      const citation = readUrlCitation(objectOr(annotation));
      if (citation !== undefined) emit(item, { type: "cite", citation });
    }
    item.cited.set(
      key,
      isMore ? (item.cited.get(key) ?? 0) + 1 : annotations.length,
    );
  };
  const describe = (item: ItemState, raw: JsonObject): void => {
    if (item.kind === "message") item.phase ??= textIn(raw["phase"]);
    if (!isCall(item) || item.closed) return;
    item.name ??= textIn(raw["name"]);
    item.namespace ??= textIn(raw["namespace"]);
    item.callId ??= textIn(raw["call_id"]);
    if (item.open || item.name === undefined || item.callId === undefined) {
      return;
    }
    openCall(item);
  };
  /** Opens a call and emits the arguments that arrived before its name. */
  const openCall = (item: ItemState): void => {
    const key = item.kind === "call" ? "arguments:0" : "input:0";
    if (item.open || !openBlock(item, "", key)) return;
    const text = String(item.parts.get(key) ?? "");
    const written = item.freeText?.push(text) ?? text;
    if (written !== "") emit(item, { type: "delta", text: written });
  };
  /** Emits everything in a complete item that was not emitted before. */
  const completeItem = (item: ItemState, raw: JsonObject): void => {
    describe(item, raw);
    switch (item.kind) {
      case "message":
        arrayOr(raw["content"]).forEach((part, index) => {
          const { type, text, refusal } = objectOr(part);
          const word = type === "refusal" ? "refusal" : "text";
          const given = stringIn(word === "refusal" ? refusal : text);
          // A picture, a sound, or a kind that is newer than this file.
          if (given === undefined && !PART_TYPES.has(type) && !item.closed) {
            emit(item, { type: "lost", kind: stringIn(type) ?? "" });
          }
          const whole = given ?? "";
          const key = partKey(word, index);
          complete(item, word, key, whole, tokensIn(objectOr(part)));
          cite(item, key, arrayOr(objectOr(part)["annotations"]));
        });
        break;
      case "reasoning":
        for (const source of ["summary", "content"] as const) {
          arrayOr(raw[source]).forEach((part, index) => {
            const whole = stringIn(objectOr(part)["text"]) ?? "";
            complete(item, source, partKey(source, index), whole);
          });
        }
        sign(item, textIn(raw["encrypted_content"]) ?? item.signature);
        break;
      case "call":
        complete(item, "arguments", "arguments:0", argumentsOf(raw));
        break;
      case "free call":
        complete(item, "input", "input:0", stringIn(raw["input"]) ?? "");
        break;
      case "other": {
        const kind = stringIn(raw["type"]) ?? "";
        if (!KNOWN_ITEMS.test(kind)) emit(item, { type: "lost", kind });
        break;
      }
    }
  };
  const sign = (item: ItemState, value: string | undefined): void => {
    if (value === undefined || item.closed) return;
    const hadText = item.open;
    if (!hadText) {
      emit(item, openEvent(item, "reasoning"));
      item.open = true;
    }
    emit(item, {
      type: "sign",
      signature: {
        from: "responses",
        value,
        ...(hadText ? {} : { redacted: true }),
      },
    });
  };
  /** Closes an item and emits the events of the items that waited for it. */
  /** Searches that wait until no block is open, and the items that were read as one. */
  let searches: ReplyEvent[] = [];
  const searched = new Set<ItemState>();
  const search = (item: ItemState, raw: JsonObject): void => {
    const event = context.wantsSearch === true ? searchOf(raw) : undefined;
    if (event === undefined || searched.has(item)) return;
    searched.add(item);
    sink.begin();
    searches.push(event);
    releaseSearches();
  };
  const releaseSearches = (): void => {
    if (queue.some(({ open }) => open)) return;
    for (const event of searches) sink.push(event);
    searches = [];
  };
  const closeItem = (item: ItemState): void => {
    if (item.closed) return;
    if (isCall(item)) {
      openCall(item);
      if (!item.open) {
        return sink.fail(unnamedCall());
      }
      if (item.freeText !== undefined) {
        emit(item, { type: "delta", text: item.freeText.end() });
      }
    }
    closeBlock(item);
    item.closed = true;
    while (queue[0]?.closed === true) {
      queue.shift();
      const next = queue[0];
      if (next === undefined) break;
      for (const event of next.waiting.splice(0)) sink.push(event);
    }
    releaseSearches();
  };
  const itemAdded = (data: JsonObject): void => {
    const raw = objectOr(data["item"]);
    foreignCalls.note(raw);
    const index = countIn(data["output_index"]) ?? --unplaced;
    if (items.has(index)) return;
    const kind = kindOf(raw);
    const item = newItem(index, kind);
    describe(item, raw);
    if (kind === "reasoning") {
      item.signature = textIn(raw["encrypted_content"]);
    }
    // Items of other types, such as the vendor's own tools, have no text and must not block later
    // items.
    if (kind === "other") finishItem(item, raw);
  };
  const itemDone = (data: JsonObject): void => {
    const raw = objectOr(data["item"]);
    foreignCalls.note(raw);
    const item = itemAt(data, kindOf(raw));
    if (item === undefined) return;
    search(item, raw);
    finishItem(item, raw);
  };
  const finishItem = (item: ItemState, raw: JsonObject): void => {
    if (item.closed) return;
    item.done = true;
    completeItem(item, raw);
    closeItem(item);
  };
  /** Emits the items of the whole reply that no frame contained. */
  const reconcile = (output: readonly unknown[]): void => {
    for (
      const [raw, item] of pairItems(items.values(), output.filter(isObject))
    ) {
      foreignCalls.note(raw);
      const known = item ?? newItem(--unplaced, kindOf(raw));
      search(known, raw);
      finishItem(known, raw);
    }
  };
  const readPart = (type: string, data: JsonObject): boolean => {
    const delta = DELTAS.get(type);
    if (delta !== undefined) {
      const [kind, part] = delta;
      const item = itemAt(data, kind);
      if (item === undefined) return true;
      last = item;
      add(
        item,
        part,
        keyOf(part, data),
        stringIn(data["delta"]) ?? "",
        tokensIn(data),
      );
      return true;
    }
    if (type === "output_text.annotation.added") {
      const item = itemAt(data, "message");
      if (item === undefined) return true;
      cite(item, keyOf("text", data), [data["annotation"]], true);
      return true;
    }
    const whole = DONES.get(type);
    if (whole !== undefined) {
      const [kind, part, field] = whole;
      const item = itemAt(data, kind);
      if (item === undefined) return true;
      describe(item, data);
      item.done ||= isCall(item);
      complete(
        item,
        part,
        keyOf(part, data),
        stringIn(data[field]) ?? "",
        tokensIn(data),
      );
      return true;
    }
    // A type that is newer than this file. What the vendor's own tools write is no part of the
    // answer.
    const index = countIn(data["output_index"]);
    const item = index === undefined ? undefined : items.get(index);
    if (
      type.endsWith(".delta") && item !== undefined && item.kind !== "other"
    ) {
      emit(item, { type: "lost", kind: type });
    }
    return false;
  };
  return {
    part: readPart,
    more(text) {
      // The frame before gave one delta, so the block of its part is open.
      if (last?.lastPart === undefined || text === "" || last.closed) return;
      last.lastPart.push(text);
      const written = last.freeText?.push(text) ?? text;
      if (written !== "") emit(last, { type: "delta", text: written });
    },
    partialText() {
      if (last === undefined || last.closed) return "";
      const between = last.kind === "reasoning" ? "\n\n" : "";
      return [...last.parts.values()].join(between);
    },
    added: itemAdded,
    done: itemDone,
    reconcile,
    hasCutCall: () =>
      [...items.values()].some((item) =>
        isCall(item) && !item.closed && !item.done
      ),
    close() {
      for (const item of items.values()) closeItem(item);
    },
    isEmpty: () => items.size === 0,
    stopReason() {
      if (sawCall) return "tool_use";
      if (foreignCalls.areOpen()) return "other";
      return sawRefusal ? "refusal" : "end";
    },
  };
}

/** The search that an item is; undefined for another one, such as the opening of a page. */
function searchOf({ type, action }: JsonObject): ReplyEvent | undefined {
  if (type !== "web_search_call") return undefined;
  const { type: step = "search", query, queries, sources } = objectOr(action);
  if (step !== "search") return undefined;
  const listed = arrayOr(queries).filter((one) => typeof one === "string");
  const only = textIn(query);
  return {
    type: "search",
    queries: listed.length > 0 || only === undefined ? listed : [only],
    sources: arrayOr(sources).slice(0, MAX_CITATIONS).flatMap((source) => {
      const url = textIn(objectOr(source)["url"]);
      return url === undefined ? [] : [{ url }];
    }),
  };
}

/** Items without which the answer is complete, and those that `client_calls.ts` reads. */
const KNOWN_ITEMS =
  /_(?:call|output)$|^(?:additional_tools|compaction|mcp_approval_request|mcp_list_tools|program)$/;

/** Types of a message's parts. */
const PART_TYPES: ReadonlySet<unknown> = new Set([
  "output_text",
  "refusal",
  "text",
]);

/** Whether the text was read as another part of the item: some hosts number the parts anew. */
function isRead(item: ItemState, part: string, text: string): boolean {
  for (const [key, known] of item.parts) {
    if (key.startsWith(`${part}:`) && String(known) === text) return true;
  }
  return false;
}

function openEvent(
  item: ItemState,
  kind: "text" | "reasoning" | "refusal",
): ReplyEvent {
  return {
    type: "open",
    kind,
    ...(item.phase === undefined ? {} : { phase: item.phase }),
  };
}

function partOf(item: ItemState, key: string): TextBuffer {
  let part = item.parts.get(key);
  if (part === undefined) {
    part = new TextBuffer();
    item.parts.set(key, part);
  }
  return part;
}
