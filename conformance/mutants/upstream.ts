/** Mutants for the checks of the area `upstream`. */
import type { Mutant } from "./mutant.ts";
import { SENT_MUTANTS } from "./sent_upstream.ts";
import { REFUSAL_MUTANTS } from "./upstream_refusals.ts";

/** The mutants. */
export const UPSTREAM_MUTANTS: readonly Mutant[] = [
  {
    name: "429-becomes-500",
    about: "Rate limits of the upstream are told as a fault of the gateway",
    hooks: {
      problem: (problem) =>
        problem.status === 429 ? { ...problem, status: 500 } : problem,
    },
  },
  {
    name: "upstream-error-as-200",
    about: "Errors of the upstream are answered with 200",
    hooks: {
      problem: (problem) =>
        problem.status >= 500 ? { ...problem, status: 200 } : problem,
    },
  },
  {
    name: "upstream-error-body-empty",
    about: "Error bodies are empty objects",
    hooks: {
      reply: (reply) => reply.status >= 400 ? { ...reply, body: {} } : reply,
    },
  },
  {
    name: "upstream-401-passed-on",
    about: "A refused upstream key is told as the caller's",
    hooks: {
      problem: (problem) =>
        problem.message.includes("status 401")
          ? { ...problem, status: 401 }
          : problem,
    },
  },
  {
    name: "break-becomes-end",
    about: "A stream that broke off is ended properly",
    hooks: { part: (part) => part.type === "failed" ? [] : [part] },
  },
  ...REFUSAL_MUTANTS,
  ...SENT_MUTANTS,
];
