/** Mutants for the checks of the area `limits`. */
import { problemOf } from "../golden/problems.ts";
import type { Mutant } from "./mutant.ts";

/** The mutants. */
export const LIMITS_MUTANTS: readonly Mutant[] = [
  {
    name: "max_tokens-has-default",
    about: "max_tokens may be left out on the message endpoint",
    hooks: {
      accept: (problem) =>
        problem?.param === "max_tokens" ? undefined : problem,
    },
  },
  {
    name: "chat-needs-max_tokens",
    about: "max_tokens is demanded on the chat endpoint",
    hooks: {
      accept: (problem, body, { endpoint }) =>
        endpoint === "chat" && body["max_tokens"] === undefined
          ? problemOf(400, "max_tokens: required")
          : problem,
    },
  },
  {
    name: "temperature-unchecked",
    about: "Any temperature is accepted",
    hooks: {
      accept: (problem) =>
        problem?.param === "temperature" ? undefined : problem,
    },
  },
];
