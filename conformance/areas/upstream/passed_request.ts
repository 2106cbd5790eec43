/**
 * Shared by the checks of requests upstream: pairs of the client's request and the request
 * upstream.
 */
import type { Exchange, UpstreamCall } from "../../evidence/exchange.ts";
import {
  readUpstreamRequest,
  type UpstreamRequest,
} from "../../evidence/upstream_request.ts";
import { parseJson } from "@model-gateway/replay/json";
import { STREAMED } from "./scenarios_request.ts";
import type { Evidence } from "../../suite/evidence.ts";
import { fact, type Finding, NotTestable } from "../../suite/finding.ts";

/** A request of the client and the request upstream that it caused. */
export interface PassedRequest {
  readonly x: Exchange;
  readonly asked: UpstreamRequest;
  readonly sent: UpstreamRequest;
  readonly call: UpstreamCall;
}

/** The exchanges of a form, whole and streamed, that reached the upstream. */
export function passed(
  e: Evidence,
  form: string,
  endpoint = "*",
): readonly PassedRequest[] {
  const whole = e.replies(`${endpoint}/*/${form}-whole`);
  return STREAMED.some((name) => name === form)
    ? [...whole, ...e.streams(`${endpoint}/*/${form}-stream`)].map(
      passedRequest,
    )
    : whole.map(passedRequest);
}

/** A single exchange with its request upstream. */
export function passedRequest(x: Exchange): PassedRequest {
  const [call] = x.upstream;
  if (call === undefined) {
    throw new NotTestable(`"${x.label}" did not reach the replay upstream`, x);
  }
  const asked = readUpstreamRequest({
    ...call,
    dialect: x.endpoint === "chat" ? "chat_completions" : "messages",
    path: x.request.path,
    json: parseJson(x.request.body),
  });
  return { x, asked, sent: readUpstreamRequest(call), call };
}

export function equal(
  { x }: PassedRequest,
  what: string,
  asked: unknown,
  sent: unknown,
): Finding {
  const text = (value: unknown) => JSON.stringify(value) ?? "nothing";
  return fact(text(asked) === text(sent), what, text(asked), text(sent), x);
}

/** Source of most of these rules. */
export const SAME =
  "A gateway forwards requests (section What the service does)";
/** Section with the members of a message request. */
export const TABLE = "POST /v1/messages";

/** Forms with an additional member beside the conversation. */
export const MEMBERS = ["limit", "stops", "metadata"] as const;
