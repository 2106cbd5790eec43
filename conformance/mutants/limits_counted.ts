/** Mutants for the checks of the area `limits` about what is read of a request. */
import type { Mutant } from "./mutant.ts";
import { asking } from "./limits_hooks.ts";
import { parts } from "./sent_talk.ts";

/** The mutants. */
export const LIMITS_COUNTED_MUTANTS: readonly Mutant[] = [
  {
    name: "long-text-unread",
    about: "Of a text only the first 64 characters are sent",
    hooks: {
      ask:
        parts((part) =>
          part.type === "text"
            ? [{ ...part, text: part.text.slice(0, 64) }]
            : [part]
        ) ?? ((ask) => ask),
    },
  },
  {
    name: "tool-results-emptied",
    about: "Results of tools are sent without their texts",
    hooks: {
      ask:
        parts((part) =>
          part.type === "result" ? [{ ...part, text: "" }] : [part]
        ) ?? ((ask) => ask),
    },
  },
  {
    name: "second-system-lost",
    about: "Only the first of several instructions is sent",
    hooks: asking(({ system }) => ({ system: system.split("\n")[0] ?? "" })),
  },
  {
    name: "system-long-on-chat",
    about: "The chat endpoint adds instructions of its own",
    hooks: {
      ask: (ask, { endpoint }) =>
        endpoint === "chat"
          ? { ...ask, system: `${ask.system} Be kind and brief.`.repeat(9) }
          : ask,
    },
  },
];
