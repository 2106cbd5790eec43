/** Mutants for the checks about several stop strings. */
import { at, listAt } from "../../evidence/json_path.ts";
import { parseJson } from "@model-gateway/replay/json";
import { frames, withAt } from "../../reference_gateway/change_reply.ts";
import { asking } from "./hooks.ts";
import type { Mutant } from "../../reference_gateway/mutant.ts";

/** Part of `LIMITS_MUTANTS`. */
export const STOP_STRING_MUTANTS: readonly Mutant[] = [
  {
    name: "only-first-stop",
    about: "Only the first stop string is sent",
    hooks: asking(({ stops }) => ({ stops: stops.slice(0, 1) })),
  },
  {
    name: "only-last-stop",
    about: "Only the last stop string is sent",
    hooks: asking(({ stops }) => ({ stops: stops.slice(-1) })),
  },
  {
    name: "stops-lost-in-streams",
    about: "Stop strings are not sent for a stream request",
    hooks: asking(({ stops, stream }) => ({ stops: stream ? [] : stops })),
  },
  {
    name: "stop-named-by-order",
    about: "The first stop string is reported whichever one hit",
    hooks: {
      reply: (reply, x) =>
        reply.body["stop_reason"] === "stop_sequence"
          ? {
            ...reply,
            body: withAt(
              reply.body,
              "stop_sequence",
              listAt(parseJson(x.request.body), "stop_sequences")[0],
            ),
          }
          : reply,
    },
  },
  {
    name: "stream-stop-unnamed",
    about: "A stream reports that a stop string hit, but not which one",
    hooks: frames(
      "messages",
      (data) =>
        at(data, "delta.stop_reason") === "stop_sequence"
          ? withAt(data, "delta.stop_sequence", null)
          : data,
    ),
  },
];
