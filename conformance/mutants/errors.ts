/** Mutants for the checks of the area `errors`. */
import type { Mutant } from "./mutant.ts";

/** The mutants. */
export const ERRORS_MUTANTS: readonly Mutant[] = [
  {
    name: "unknown-model-served",
    about: "An unknown model is answered by another one",
    hooks: {
      ask: (ask) =>
        ask.model.startsWith("vendor")
          ? ask
          : { ...ask, model: "vendora-haiku-4-5" },
    },
  },
  {
    name: "unknown-model-500",
    about: "An unknown model is a fault of the gateway",
    hooks: {
      problem: (problem) =>
        problem.code === "model_not_found"
          ? { ...problem, status: 500 }
          : problem,
    },
  },
  {
    name: "wrong-request-500",
    about: "A wrong request is a fault of the gateway",
    hooks: {
      problem: (problem) =>
        problem.status === 400 ? { ...problem, status: 500 } : problem,
    },
  },
];
