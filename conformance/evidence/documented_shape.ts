/** Checks a reply for the documented members of its format, for any model, whole and streamed. */
import { type Exchange, headerOf, isStream } from "./exchange.ts";
import { at, listAt, sameJson, textAt } from "./json_path.ts";
import { isObject, type Json } from "@model-gateway/replay/json";

const STOP_REASONS = ["end_turn", "max_tokens", "stop_sequence", "tool_use"];

type Test = (value: Json | undefined) => boolean;

const isCount: Test = (value) => Number.isInteger(value) && Number(value) >= 0;
const isText: Test = (value) => typeof value === "string";
const isName: Test = (value) => isText(value) && value !== "";
const isPrefixed = (prefix: string): Test => (value) =>
  typeof value === "string" && value.startsWith(prefix) &&
  value.length > prefix.length;
const isOneOf = (...values: readonly Json[]): Test => (value) =>
  value !== undefined && values.includes(value);

/** A path, and the name of the test that its value must pass. */
type Member = readonly [path: string, test: Test];

const MESSAGE: readonly Member[] = [
  ["id", isPrefixed("msg_")],
  ["type", isOneOf("message")],
  ["role", isOneOf("assistant")],
  ["model", isName],
  ["content", Array.isArray],
  ["stop_reason", isOneOf(...STOP_REASONS)],
  ["stop_sequence", (value) => value === null || isText(value)],
  ["usage.input_tokens", isCount],
  ["usage.output_tokens", isCount],
];

const COMPLETION: readonly Member[] = [
  ["id", isPrefixed("chatcmpl-")],
  ["object", isOneOf("chat.completion")],
  ["model", isName],
  ["choices.0.index", isCount],
  ["choices.0.message.role", isOneOf("assistant")],
  ["choices.0.finish_reason", isName],
  ["usage.prompt_tokens", isCount],
  ["usage.completion_tokens", isCount],
  ["usage.total_tokens", isCount],
];

function firstWrong(
  value: Json | undefined,
  members: readonly Member[],
): string | undefined {
  const wrong = members.find(([path, test]) => !test(at(value, path)));
  return wrong === undefined
    ? undefined
    : `${wrong[0]} is ${JSON.stringify(at(value, wrong[0])) ?? "missing"}`;
}

/**
 * Why a request was not accepted; undefined when it was, whatever may be wrong with the reply
 * otherwise.
 */
export function refusal(x: Exchange): string | undefined {
  if (x.head?.status !== 200) {
    return `status ${x.head?.status ?? x.ending}: ${x.text.slice(0, 160)}`;
  }
  if (x.ending !== "complete") return `the body is ${x.ending}`;
  if (isStreamed(x) !== isStream(x)) {
    return `content-type ${headerOf(x, "content-type")}`;
  }
  const parts = isStream(x) ? x.frames.map(({ json }) => json) : [x.json];
  const failed = parts.find((json) => at(json, "error") !== undefined);
  if (failed !== undefined) return `error ${JSON.stringify(failed)}`;
  return parts.some(isObject) ? undefined : `the body is ${x.text || "empty"}`;
}

function isStreamed({ request }: Exchange): boolean {
  return /"stream":true/.test(request.body);
}

/**
 * The first documented member that is missing or wrong in a reply of status 200; undefined when
 * there is none.
 */
export function shapeFault(x: Exchange): string | undefined {
  const refused = refusal(x);
  if (refused !== undefined) return refused;
  if (!isStreamed(x)) {
    return firstWrong(x.json, x.endpoint === "chat" ? COMPLETION : MESSAGE) ??
      (x.endpoint === "messages" ? blockFault(x.json) : undefined);
  }
  return x.endpoint === "chat" ? chunkFault(x) : eventFault(x);
}

function blockFault(json: Json | undefined): string | undefined {
  const wrong = listAt(json, "content").find((block) =>
    !isName(at(block, "type")) ||
    (at(block, "type") === "text" && !isText(at(block, "text")))
  );
  return wrong === undefined ? undefined : `block ${JSON.stringify(wrong)}`;
}

function eventFault({ frames }: Exchange): string | undefined {
  const first = frames.at(0);
  const last = frames.at(-1);
  const final = frames.findLast(({ event }) => event === "message_delta");
  if (first?.event !== "message_start") return `first event ${first?.event}`;
  if (last?.event !== "message_stop") return `last event ${last?.event}`;
  const unlike = frames.find(({ event, json }) => at(json, "type") !== event);
  if (unlike !== undefined) return `event ${unlike.event}: ${unlike.data}`;
  const deltas = frames.filter(({ event }) => event === "content_block_delta");
  const wrong = deltas.map(({ json }) =>
    firstWrong(json, [
      ["index", isCount],
      ["delta.type", isName],
      ...(at(json, "delta.type") === "text_delta"
        ? [["delta.text", isText] as const]
        : []),
    ])
  ).find((fault) => fault !== undefined);
  return wrong ?? firstWrong(first.json, [
    ["message.id", isPrefixed("msg_")],
    ["message.usage.input_tokens", isCount],
  ]) ?? firstWrong(final?.json, [
    ["delta.stop_reason", isOneOf(...STOP_REASONS)],
    ["usage.output_tokens", isCount],
  ]);
}

function chunkFault({ frames }: Exchange): string | undefined {
  const last = frames.at(-1);
  if (last?.data !== "[DONE]") return `last line ${last?.data}`;
  const chunks = frames.slice(0, -1);
  const odd = chunks.find(({ json, event }) =>
    !isObject(json) || event !== undefined
  );
  if (odd !== undefined) return `chunk ${odd.data}`;
  const wrong = chunks.flatMap(({ json }) => listAt(json, "choices"))
    .map((choice) => firstWrong(choice, [["index", isCount]]))
    .find((fault) => fault !== undefined);
  if (wrong !== undefined) return wrong;
  const end = chunks.findLast(({ json }) => listAt(json, "choices").length > 0);
  return firstWrong(end?.json, [
    ["choices.0.finish_reason", isName],
    ["choices.0.delta", (delta) => sameJson(delta, {})],
  ]);
}

/** The model that an exchange requests; "" when there is none. */
export function modelIn({ request }: Exchange): string {
  const [, model = ""] = /"model":("(?:[^"\\]|\\.)*")/.exec(request.body) ?? [];
  return model === "" ? "" : textAt({ model: JSON.parse(model) }, "model");
}
