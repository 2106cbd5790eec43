/**
 * Writes the request of a token count as the candidate's host takes it, and reads the count.
 *
 * @module
 */
import { isObject, parseJson } from "../../translate/bytes/json.ts";
import { spliceFields } from "../../translate/bytes/json_splice.ts";
import type { BodyEdits } from "../../translate/body_edits.ts";
import {
  type ClientRequest,
  type UpstreamRequest,
  upstreamRequest,
} from "../../translate/upstream_request.ts";
import type { HostCount } from "./hosts/host.ts";
import type { Candidate } from "./model_registry.ts";

/** Parts of a model id that the count of Vertex does not take. */
const MOVING_VERSION = /@(?:default|latest)$/;

/**
 * The request for a candidate whose host counts.
 *
 * @throws {ApiError} `invalid_request` if the candidate's format cannot express the request
 */
export function countRequest(
  client: ClientRequest,
  candidate: Candidate,
  { wrap, refusedBetas }: HostCount,
): UpstreamRequest {
  const own = candidate.host.edits ?? {};
  const edits: BodyEdits = refusedBetas === undefined ? own : {
    ...own,
    betas: { in: "header", ...own.betas, refuses: refusedBetas },
  };
  const request = (model: string, changed: BodyEdits): UpstreamRequest =>
    upstreamRequest(
      client,
      candidate.dialect,
      model,
      candidate.capabilities,
      "sent",
      { ...candidate.host, edits: changed },
    );
  switch (wrap) {
    case "messages":
      return request(candidate.upstreamModel, edits);
    case "vertex":
      // Its path names no model, so the body does.
      return request(candidate.upstreamModel.replace(MOVING_VERSION, ""), {
        ...edits,
        remove: edits.remove?.filter((key) => key !== "model") ?? [],
      });
    case "bedrock": {
      const inner = request(candidate.upstreamModel, edits);
      // A body for an invocation, which requires a limit.
      const body = client.body["max_tokens"] === undefined
        ? spliceFields(inner.bytes, { max_tokens: 1 })
        : inner.bytes;
      const wrapped = { input: { invokeModel: { body: body.toBase64() } } };
      return {
        ...inner,
        bytes: new TextEncoder().encode(JSON.stringify(wrapped)),
      };
    }
  }
}

/** The count in a host's reply; undefined if it is none. */
export function countOf(text: string): number | undefined {
  const reply = parseJson(text);
  if (!isObject(reply)) return undefined;
  const count = reply["input_tokens"] ?? reply["inputTokens"];
  return typeof count === "number" && Number.isSafeInteger(count) && count >= 0
    ? count
    : undefined;
}
