/** Mutants for the checks of the area `limits` about which parts of a request are read. */
import type { Mutant } from "../../reference_gateway/mutant.ts";
import { asking } from "./hooks.ts";
import { parts } from "../upstream/faults_conversation.ts";

/** Part of `LIMITS_MUTANTS`. */
export const INPUT_TOKEN_MUTANTS: readonly Mutant[] = [
  {
    name: "long-text-unread",
    about: "Only the first 64 characters of a text are sent",
    hooks: {
      modelRequest:
        parts((part) =>
          part.type === "text"
            ? [{ ...part, text: part.text.slice(0, 64) }]
            : [part]
        ) ?? ((request) => request),
    },
  },
  {
    name: "tool-results-emptied",
    about: "Tool results are sent without their texts",
    hooks: {
      modelRequest:
        parts((part) =>
          part.type === "result" ? [{ ...part, text: "" }] : [part]
        ) ?? ((request) => request),
    },
  },
  {
    name: "second-system-lost",
    about: "Only the first of several instructions is sent",
    hooks: asking(({ system }) => ({ system: system.split("\n")[0] ?? "" })),
  },
  {
    name: "system-long-on-chat",
    about: "The chat endpoint adds its own instructions",
    hooks: {
      modelRequest: (request, { endpoint }) =>
        endpoint === "chat"
          ? {
            ...request,
            system: `${request.system} Be kind and brief.`.repeat(9),
          }
          : request,
    },
  },
];
