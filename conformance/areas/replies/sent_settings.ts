/** The rule that a setting reaches the model, for every endpoint. */
import {
  readUpstreamRequest,
  type UpstreamRequest,
} from "../../evidence/upstream_request.ts";
import type { Check } from "../../suite/check.ts";
import { observed } from "../../suite/finding.ts";
import { sentFor } from "../responses/sent_request.ts";

/** Judges a setting that some models do not take: it is right wherever it is sent, and sent to one. */
export function sentWhereTaken(
  pattern: string,
  read: (request: UpstreamRequest) => number | string | undefined,
  value: number | string,
): Check["judge"] {
  return (e) => {
    const all = e.matching(pattern).filter(({ head }) => head?.status === 200)
      .map((x) => [x, read(readUpstreamRequest(sentFor(x)))] as const);
    return [
      ...all.map(([x, found]) =>
        observed("setting upstream", found, x).mustBe(
          `${value}, or nothing`,
          found === undefined || found === value,
        )
      ),
      observed("models that receive it", all.map(([, found]) => found)).mustBe(
        "at least one",
        all.some(([, found]) => found === value),
      ),
    ];
  };
}
