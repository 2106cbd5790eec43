/**
 * Walks a stream of the message endpoint event by event, and lists the events that are out of
 * order.
 */
import { fact, factOf, type Finding } from "../suite/finding.ts";
import type { Exchange, Frame } from "../evidence/exchange.ts";
import { at, textAt } from "../evidence/json_path.ts";
import {
  type Json,
  type JsonObject,
  parseJson,
} from "@model-gateway/replay/json";

type OrderRule =
  /** `message_start` is the first event and is sent once. */
  | "start"
  /** Indexes count from 0 in the order of the blocks. */
  | "index"
  /** One block is open at a time, and each is stopped before the end. */
  | "overlap"
  /** Deltas and stops belong to the block that is open. */
  | "in-block"
  /** A delta is of its block's kind. */
  | "kind"
  /** `message_delta` follows all blocks, and carries the stop reason once. */
  | "delta"
  /** `message_stop` is sent once, and nothing follows it. */
  | "stop";

interface OrderFault {
  readonly rule: OrderRule;
  readonly frame: Frame | undefined;
  readonly expected: string;
}

interface StreamedBlock {
  /** The event that opened it. */
  readonly start: Frame;
  readonly deltas: readonly Frame[];
}

interface StreamParts {
  /** Every `message_start`. */
  readonly starts: readonly Frame[];
  readonly blocks: readonly StreamedBlock[];
  /** Every `message_delta`. */
  readonly finals: readonly Frame[];
  /** Every `message_stop`. */
  readonly stops: readonly Frame[];
  /** Every `error`. */
  readonly errors: readonly Frame[];
  readonly faults: readonly OrderFault[];
}

/** Types of the deltas of each block type. Block types that are not listed may have any. */
const DELTAS: Readonly<Record<string, readonly string[]>> = {
  text: ["text_delta", "citations_delta"],
  tool_use: ["input_json_delta"],
  thinking: ["thinking_delta", "signature_delta"],
  redacted_thinking: [],
};

/** The field with the content of each delta type. */
const FIELDS: Readonly<Record<string, string>> = {
  text_delta: "text",
  input_json_delta: "partial_json",
  thinking_delta: "thinking",
  signature_delta: "signature",
};

/** Walks the frames of an exchange. */
export function splitStream(x: Pick<Exchange, "frames">): StreamParts {
  const starts: Frame[] = [];
  const blocks: { start: Frame; deltas: Frame[] }[] = [];
  const finals: Frame[] = [];
  const stops: Frame[] = [];
  const errors: Frame[] = [];
  const faults: OrderFault[] = [];
  let open: { start: Frame; deltas: Frame[] } | undefined;
  let stopReasons = 0;
  for (const frame of x.frames) {
    const { json } = frame;
    const wrong = (rule: OrderRule, expected: string): void => {
      faults.push({ rule, frame, expected });
    };
    const type = textAt(json, "type");
    if (starts.length === 0 && type !== "message_start") {
      wrong("start", "message_start before every other event");
    }
    if (stops.length + errors.length > 0) {
      wrong("stop", "nothing after message_stop or error");
    }
    switch (type) {
      case "message_start":
        if (starts.push(frame) > 1) wrong("start", "one message_start");
        break;
      case "content_block_start":
        if (open !== undefined) wrong("overlap", "the open block is stopped");
        if (at(json, "index") !== blocks.length) {
          wrong("index", `index ${blocks.length}`);
        }
        if (finals.length > 0) wrong("delta", "all blocks before it");
        open = { start: frame, deltas: [] };
        blocks.push(open);
        break;
      case "content_block_delta":
      case "content_block_stop":
        if (
          open === undefined ||
          at(json, "index") !== at(open.start.json, "index")
        ) {
          wrong("in-block", "the index of the block that is open");
        } else if (type === "content_block_stop") open = undefined;
        else {
          open.deltas.push(frame);
          const kind = textAt(open.start.json, "content_block.type");
          if (!fits(kind, at(json, "delta"))) {
            wrong("kind", `a delta of a ${kind} block, with its content`);
          }
        }
        break;
      case "message_delta":
        if (open !== undefined) wrong("overlap", "the open block is stopped");
        finals.push(frame);
        if (textAt(json, "delta.stop_reason") !== "" && ++stopReasons > 1) {
          wrong("delta", "the stop reason once");
        }
        break;
      case "message_stop":
        if (finals.length === 0) wrong("delta", "message_delta first");
        if (open !== undefined) wrong("overlap", "the open block is stopped");
        stops.push(frame);
        break;
      case "error":
        errors.push(frame);
        break;
    }
  }
  const missing = (rule: OrderRule, expected: string): void => {
    faults.push({ rule, frame: x.frames.at(-1), expected });
  };
  if (starts.length === 0) missing("start", "message_start");
  if (errors.length === 0) {
    if (stopReasons === 0) missing("delta", "message_delta with a stop reason");
    if (stops.length === 0) missing("stop", "message_stop");
  }
  return { starts, blocks, finals, stops, errors, faults };
}

function fits(kind: string, delta: Json | undefined): boolean {
  const type = textAt(delta, "type");
  const field = FIELDS[type];
  const known = DELTAS[kind];
  if (known === undefined) return type !== "";
  return known.includes(type) &&
    (field === undefined || typeof at(delta, field) === "string");
}

/** Findings about one rule in the walks of streams. */
export function orderFindings(
  streams: readonly Exchange[],
  rule: OrderRule,
  expected: string,
): Finding[] {
  return streams.flatMap((x) => {
    const faults = splitStream(x).faults.filter((fault) => fault.rule === rule);
    if (faults.length === 0) return [fact(true, rule, expected, expected, x)];
    return faults.map((fault) =>
      factOf(
        `event ${fault.frame?.at ?? 0}`,
        fault.frame?.data.slice(0, 200) ?? "no event",
        x,
        fault.frame,
      ).mustBe(fault.expected, false)
    );
  });
}

/** The content blocks that the events of a stream add up to. */
export function streamedBlocks(x: Pick<Exchange, "frames">): JsonObject[] {
  return splitStream(x).blocks.map(({ start, deltas }) => {
    const joined = (type: string): string =>
      deltas.filter(({ json }) => textAt(json, "delta.type") === type)
        .map(({ json }) => textAt(json, `delta.${FIELDS[type]}`)).join("");
    const block = at(start.json, "content_block");
    const type = textAt(block, "type");
    const field = (name: string): Json => at(block, name) ?? null;
    switch (type) {
      case "text":
        return { type, text: textAt(block, "text") + joined("text_delta") };
      case "tool_use": {
        const input = parseJson(joined("input_json_delta") || "{}") ?? null;
        return { type, id: field("id"), name: field("name"), input };
      }
      case "thinking":
        return {
          type,
          thinking: textAt(block, "thinking") + joined("thinking_delta"),
          signature: textAt(block, "signature") + joined("signature_delta"),
        };
      case "redacted_thinking":
        return { type, data: field("data") };
      default:
        return { type };
    }
  });
}
