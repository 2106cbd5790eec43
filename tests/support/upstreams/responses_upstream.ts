/**
 * An upstream of the Responses format for tests. It replies with the items that a test sets, as a
 * stream or whole as requested, and records the calls.
 */
import {
  isObject,
  type JsonObject,
  objectOr,
} from "../../../translate/bytes/json.ts";
import { namedFrame } from "../../../translate/stream/sse.ts";
import { serveLoopback } from "../serve_loopback.ts";

/** How the upstream replies to a call. */
type ResponsesAction =
  /** A complete reply of these items. */
  | { readonly items: readonly JsonObject[]; readonly after?: Promise<void> }
  /** A stream that breaks after `cutAfter` frames; a whole reply breaks in its middle. */
  | { readonly items: readonly JsonObject[]; readonly cutAfter: number }
  /** A failure after `failAfter` frames of the stream, or a failed whole reply. */
  | {
    readonly items: readonly JsonObject[];
    readonly failAfter: number;
    readonly error: JsonObject;
  }
  /** An error reply with this HTTP status. */
  | { readonly status: number; readonly error: JsonObject };

interface ResponsesCall {
  readonly path: string;
  readonly headers: Headers;
  readonly body: JsonObject;
  readonly text: string;
}

export interface ResponsesUpstream extends AsyncDisposable {
  readonly url: string;
  readonly calls: readonly ResponsesCall[];
  nextCall(): Promise<void>;
  /** Sets the replies to the next calls, in order; the last one is repeated. */
  play(...actions: readonly ResponsesAction[]): void;
  close(): Promise<void>;
}

const RESPONSES_USAGE: JsonObject = {
  input_tokens: 11,
  input_tokens_details: { cached_tokens: 4 },
  output_tokens: 7,
  output_tokens_details: { reasoning_tokens: 2 },
  total_tokens: 18,
};

export function messageItem(text: string): JsonObject {
  return {
    id: "msg_up",
    type: "message",
    status: "completed",
    role: "assistant",
    content: [{ type: "output_text", text, annotations: [], logprobs: [] }],
  };
}

export function callItem(
  name: string,
  args: string,
  callId: string,
): JsonObject {
  return {
    id: `fc_${callId}`,
    type: "function_call",
    status: "completed",
    call_id: callId,
    name,
    arguments: args,
  };
}

export function reasoningItem(text: string, proof: string): JsonObject {
  return {
    id: `rs_${proof}`,
    type: "reasoning",
    summary: text === "" ? [] : [{ type: "summary_text", text }],
    encrypted_content: proof,
  };
}

export function startResponsesUpstream(): ResponsesUpstream {
  const calls: ResponsesCall[] = [];
  let arrived = Promise.withResolvers<void>();
  let actions: ResponsesAction[] = [{ items: [messageItem("hello")] }];
  const server = serveLoopback(async (request) => {
    const text = await request.text();
    const body = objectOr(JSON.parse(text));
    const { pathname: path } = new URL(request.url);
    calls.push({ path, headers: request.headers, body, text });
    arrived.resolve();
    arrived = Promise.withResolvers();
    const action = actions.length > 1 ? actions.shift() : actions[0];
    return action === undefined
      ? new Response(null)
      : await answer(action, body);
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    calls,
    nextCall: () => arrived.promise,
    play(...next) {
      actions = [...next];
    },
    close: () => server.shutdown(),
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

async function answer(
  action: ResponsesAction,
  body: JsonObject,
): Promise<Response> {
  if ("status" in action) {
    return Response.json({ error: action.error }, { status: action.status });
  }
  if ("after" in action) await action.after;
  const isStream = body["stream"] === true;
  const fails = "failAfter" in action;
  const reply: JsonObject = {
    id: "resp_upstream",
    object: "response",
    created_at: 1_800_000_000,
    status: fails ? "failed" : "completed",
    error: fails ? action.error : null,
    model: "theirs-2026-01-01",
    output: fails ? [] : action.items,
    store: body["store"] ?? true,
    previous_response_id: null,
    tools: body["tools"] ?? [],
    usage: RESPONSES_USAGE,
  };
  if (!isStream) {
    const text = JSON.stringify(reply);
    return new Response("cutAfter" in action ? text.slice(0, 40) : text, {
      headers: { "content-type": "application/json" },
    });
  }
  const frames = framesOf(action.items, reply);
  const sent = "cutAfter" in action
    ? frames.slice(0, action.cutAfter)
    : fails
    ? [
      ...frames.slice(0, action.failAfter),
      frame({ type: "error", ...action.error }, action.failAfter),
      frame({ type: "response.failed", response: reply }, action.failAfter + 1),
    ]
    : frames;
  return new Response(sent.join(""), {
    headers: { "content-type": "text/event-stream" },
  });
}

function frame(event: JsonObject, sequence_number: number): string {
  return namedFrame(
    String(event["type"]),
    JSON.stringify({ ...event, sequence_number }),
  );
}

function framesOf(
  items: readonly JsonObject[],
  reply: JsonObject,
): readonly string[] {
  const begun = { ...reply, status: "in_progress", output: [], usage: null };
  const events: JsonObject[] = [
    { type: "response.created", response: begun },
    { type: "response.in_progress", response: begun },
  ];
  items.forEach((item, output_index) => {
    const place = { item_id: item["id"], output_index };
    const emptied = { content: [], summary: [], arguments: "" };
    const kept = Object.entries(emptied).filter(([key]) => isIn(item, key));
    events.push({
      type: "response.output_item.added",
      output_index,
      item: { ...item, ...Object.fromEntries(kept) },
    });
    events.push(...bodyOf(item, place));
    events.push({ type: "response.output_item.done", output_index, item });
  });
  events.push({ type: "response.completed", response: reply });
  return events.map(frame);
}

function isIn(item: JsonObject, key: string): boolean {
  return item[key] !== undefined;
}

function bodyOf(item: JsonObject, place: JsonObject): readonly JsonObject[] {
  const [part] = [item["content"], item["summary"]].flatMap((parts) =>
    Array.isArray(parts) ? parts.filter(isObject) : []
  );
  const text = String(part?.["text"] ?? item["arguments"] ?? "");
  const pieces = text.match(/[^]{1,4}/gu) ?? [];
  const deltas = (type: string, where: JsonObject): readonly JsonObject[] =>
    pieces.map((delta) => ({ type, ...place, ...where, delta }));
  switch (item["type"]) {
    case "message":
      return [
        {
          type: "response.content_part.added",
          ...place,
          content_index: 0,
          part: { ...part, text: "" },
        },
        ...deltas("response.output_text.delta", {
          content_index: 0,
          logprobs: [],
        }),
        {
          type: "response.output_text.done",
          ...place,
          content_index: 0,
          text,
          logprobs: [],
        },
        {
          type: "response.content_part.done",
          ...place,
          content_index: 0,
          part,
        },
      ];
    case "reasoning":
      return part === undefined ? [] : [
        {
          type: "response.reasoning_summary_part.added",
          ...place,
          summary_index: 0,
          part: { ...part, text: "" },
        },
        ...deltas("response.reasoning_summary_text.delta", {
          summary_index: 0,
        }),
        {
          type: "response.reasoning_summary_text.done",
          ...place,
          summary_index: 0,
          text,
        },
        {
          type: "response.reasoning_summary_part.done",
          ...place,
          summary_index: 0,
          part,
        },
      ];
    default:
      return [
        ...deltas("response.function_call_arguments.delta", {}),
        {
          type: "response.function_call_arguments.done",
          ...place,
          arguments: text,
        },
      ];
  }
}
