/** Checks of the area `embeddings`: what a request may contain, and what reaches the vendor. */
import { mapValues } from "@model-gateway/replay/map_values";
import { at, brief, listAt } from "../../evidence/json_path.ts";
import { objectOf } from "@model-gateway/replay/json";
import { type Check, checksWith } from "../../suite/check.ts";
import { factOf } from "../../suite/finding.ts";
import {
  COMMON,
  first,
  inputsOf,
  sentFor,
  sentInputs,
  vectorsOf,
} from "./vectors.ts";
import { inReply, inUpstream } from "./faults.ts";

export const EMBEDDINGS_REQUEST_CHECKS: readonly Check[] = checksWith(COMMON, [
  {
    id: "embeddings.inputs",
    rule: "All inputs reach the vendor, unchanged, in order and once.",
    mode: "replay",
    each: (x) => {
      const sent = sentInputs(sentFor(x));
      const calls = x.upstream.length;
      return [
        factOf("inputs upstream", brief(sent, 400), x).mustBe(
          brief(inputsOf(x), 400),
          JSON.stringify(sent) === JSON.stringify(inputsOf(x)),
        ),
        // The other requests share their inputs.
        factOf("calls of the upstream", calls, x).mustBe(
          "one",
          calls === 1 || !x.label.endsWith("/text"),
        ),
      ];
    },
    misses: {
      "twice": {
        attempts: ({ endpoint }) => endpoint === "embeddings" ? 2 : 1,
      },
      "trimmed": inUpstream((text) => text.replace(/\.$/, "")),
      "lower-case": inUpstream((text) => text.toLowerCase()),
      "reversed": {
        upstream: (call, { endpoint }) =>
          endpoint === "embeddings"
            ? {
              ...call,
              body: mapValues(
                call.body,
                (value) => Array.isArray(value) ? value.toReversed() : value,
              ),
            }
            : call,
      },
    },
  },
  {
    id: "embeddings.tokens",
    rule: "An input may be its tokens.",
    mode: "replay",
    reads: ["embeddings-tokens"],
    replies: "embeddings/*/*",
    each: (x) => {
      const expected = x.label.endsWith("/several-tokens") ? 2 : 1;
      return factOf("vectors", first(vectorsOf(x)), x).mustBe(
        `${expected}`,
        vectorsOf(x).length === expected,
      );
    },
    misses: {
      "one-each": inReply((body, { asked }) =>
        typeof at(asked, "input.0") === "number"
          ? {
            ...body,
            data: listAt(asked, "input").map((_, index) => ({
              ...objectOf(listAt(body, "data")[0]),
              index,
            })),
          }
          : body
      ),
      "refused": {
        accept: (problem, body, { endpoint }) =>
          endpoint === "embeddings" && Array.isArray(at(body, "input.0"))
            ? { status: 400, type: "invalid_request_error", message: "input" }
            : problem,
      },
    },
  },
]);
