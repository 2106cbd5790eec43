/**
 * Passes replies of upstreams in the client's format through: their bytes stay, except for the
 * members with which this gateway keeps Responses itself. Their fixtures show it; all other replies
 * are written anew, since most faults are planted there.
 */
import { at } from "../evidence/json_path.ts";
import type { DialectName } from "@model-gateway/replay/parse_request";
import {
  type JsonObject,
  objectOf,
  parseJson,
} from "@model-gateway/replay/json";
import { type Call, callOf, SAME_FORMAT } from "./call_upstream.ts";
import type { Context } from "./hooks.ts";
import { Refused } from "./part.ts";
import { problemOf } from "./problems.ts";
import { requestIds, UNBUFFERED } from "./formats/write_reply.ts";

/** Found in requests whose replies pass through. */
export const PASSED = /\[\[fx:(?:passed|extras)#/;

/** Whether the reply to a request passes through. */
export function isPassed(x: Context, via: DialectName): boolean {
  return PASSED.test(x.request.body) &&
    (x.endpoint === via || SAME_FORMAT[x.endpoint] === via);
}

/** Makes the call and passes its reply through, in one piece. */
export async function passThrough(passed: Call): Promise<void> {
  const { modelRequest, via, writer, hooks, x, keep } = passed;
  const { asked = {}, stream } = modelRequest;
  const { path } = x.request;
  const isStored = via === "responses";
  const own = callOf(modelRequest, via, passed.upstreamUrl);
  const { model: _, ...asIs } = objectOf(parseJson(x.request.body));
  // A reply that is neither kept nor continued needs nothing of this gateway.
  const isKept = isStored &&
    !(asIs["store"] === false && asIs["previous_response_id"] === undefined);
  const plain = isKept
    ? own
    // The path of generate content has the model and the form of the reply.
    : via === "generate_content"
    ? { ...own, url: passed.upstreamUrl + path, body: asIs }
    : { ...own, body: { model: modelRequest.model, ...asIs } };
  const call = hooks.upstream?.(plain, x) ?? plain;
  const response = await fetch(call.url, {
    method: "POST",
    headers: { ...call.headers },
    body: JSON.stringify(
      via === "generate_content" ? call.body : { ...call.body, stream },
    ),
    signal: passed.signal,
  });
  const text = await response.text();
  if (response.status !== 200) {
    throw new Refused(problemOf(502, `The upstream sent ${response.status}`));
  }
  const members: JsonObject = {
    id: `resp_${passed.id}`,
    model: modelRequest.model,
    store: asked["store"] ?? true,
    previous_response_id: asked["previous_response_id"] ?? null,
  };
  const changed = !isStored
    ? text
    : stream
    ? text.split("\n\n").map((frame) => inFrame(frame, members)).join("\n\n")
    : withMembers(text, members);
  const last = stream
    ? at(parseJson(/[^]*\ndata: (.*)/.exec(changed)?.[1] ?? ""), "response")
    : parseJson(changed);
  if (isStored) keep(objectOf(last));
  const body = new TextEncoder().encode(hooks.wire?.(changed, x) ?? changed);
  writer.head(200, {
    "content-type": response.headers.get("content-type") ?? "",
    "content-length": String(body.length),
    ...(stream ? UNBUFFERED : {}),
    ...requestIds(),
  });
  writer.piece(body);
  writer.end();
}

/** The frame with the members of its reply replaced. */
function inFrame(frame: string, members: JsonObject): string {
  const from = frame.indexOf("{");
  const [start, end] = memberAt(frame, from, "response") ?? [0, 0];
  return frame.slice(0, start) + withMembers(frame.slice(start, end), members) +
    frame.slice(end);
}

/** The text of an object with the values of some of its members replaced. */
function withMembers(text: string, members: JsonObject): string {
  return Object.entries(members).reduce((all, [name, value]) => {
    const found = memberAt(all, all.indexOf("{"), name);
    if (found === undefined) return all;
    const [start, end] = found;
    return all.slice(0, start) + JSON.stringify(value) + all.slice(end);
  }, text);
}

/** Where the value of a member of the object at `from` begins and ends. */
function memberAt(
  text: string,
  from: number,
  name: string,
): readonly [number, number] | undefined {
  const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
  token.lastIndex = from;
  let depth = 0;
  let key = "";
  let start = -1;
  for (let found = token.exec(text); found; found = token.exec(text)) {
    const [word] = found;
    if (start >= 0 && depth === 1 && (word === "," || word === "}")) {
      return [start, text.slice(0, found.index).trimEnd().length];
    }
    if (depth === 1 && key === name && start < 0 && word !== ":") {
      start = found.index;
    }
    if (word === "{" || word === "[") depth++;
    else if (word === "}" || word === "]") depth--;
    else if (depth === 1 && word === ",") key = "";
    else if (depth === 1 && key === "" && word.startsWith('"')) {
      key = word.slice(1, -1);
    }
    if (depth === 0) return undefined;
  }
  return undefined;
}
