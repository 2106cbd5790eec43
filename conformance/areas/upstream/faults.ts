/** Mutants for the checks of the area `upstream`. */
import type { Mutant } from "../../reference_gateway/mutant.ts";
import { REQUEST_MUTANTS } from "./faults_request.ts";
import { REFUSAL_MUTANTS } from "./faults_refusals.ts";

/** All mutants of the area `upstream`. */
export const UPSTREAM_MUTANTS: readonly Mutant[] = [
  {
    name: "429-becomes-500",
    about:
      "Rate limits of the upstream are reported as a failure of the gateway",
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
    about: "A refused upstream key is reported as the client's",
    hooks: {
      problem: (problem) =>
        problem.message.includes("status 401")
          ? { ...problem, status: 401 }
          : problem,
    },
  },
  {
    name: "break-becomes-end",
    about: "A stream that broke off ends as if it were complete",
    hooks: { part: (part) => part.type === "failed" ? [] : [part] },
  },
  ...REFUSAL_MUTANTS,
  ...REQUEST_MUTANTS,
];
