/** How a request of the format reaches the model, and how faults change that. */
import type { UpstreamCall } from "../../evidence/exchange.ts";
import {
  readUpstreamRequest,
  type UpstreamRequest,
} from "../../evidence/upstream_request.ts";
import { changeContentRequest } from "../../faults/change_generate_content.ts";
import { changeRequest } from "../../faults/change_request.ts";
import type { Hooks } from "../../reference_gateway/hooks.ts";
import type { ModelRequest, TurnPart } from "../../reference_gateway/part.ts";
import type { Check } from "../../suite/check.ts";
import { factOf } from "../../suite/finding.ts";
import { sentFor } from "../responses/sent_request.ts";

/** Judges the request upstream of each request with that name. */
export function upstream(
  name: string,
  expected: string,
  test: (request: UpstreamRequest, call: UpstreamCall) => boolean,
): Check["judge"] {
  return (e) =>
    e.matching(`generate_content/*/*/${name}`).map((x) => {
      const call = sentFor(x);
      return factOf("request upstream", call.body.slice(0, 400), x).mustBe(
        expected,
        test(readUpstreamRequest(call), call),
      );
    });
}

/** Changes the parts of every turn as the reference gateway understood them. */
export function inTurns(
  change: (part: TurnPart) => TurnPart | undefined,
): Hooks {
  return ofContents(({ turns }) => ({
    turns: turns.map((turn) => ({
      ...turn,
      parts: turn.parts.flatMap((part) => change(part) ?? []),
    })),
  }));
}

/** Changes the request of a client of the format as it was understood. */
export function ofContents(
  change: (request: ModelRequest) => Partial<ModelRequest>,
): Hooks {
  return changeRequest((request, { endpoint }) =>
    endpoint === "generate_content" ? change(request) : {}
  );
}

export const forgets = (name: string): Hooks =>
  changeContentRequest({ [name]: undefined });
