/** A scenario: a set of requests that is made once and that many checks judge. */
import { type Cost, sumOf } from "./budget.ts";
import type { Mode } from "./check.ts";
import type { Session } from "./session.ts";
import type { TargetProfile } from "./route.ts";

/** A set of requests. */
export interface Scenario {
  /** Unique name; checks refer to it. */
  readonly name: string;
  /** One line that describes the requests. */
  readonly about: string;
  /** Where it can be played. */
  readonly mode: Mode;
  /** The most that it costs in a live run; a replay run costs nothing. */
  readonly cost: (profile: TargetProfile) => Cost;
  /** True when no other scenario may run concurrently. */
  readonly alone?: boolean;
  /** Makes the requests. An error stops the scenario; exchanges recorded so far are kept. */
  readonly play: (session: Session) => Promise<void>;
}

/** The cost of requests that reach no model. */
export function free(requests: number): Scenario["cost"] {
  return () => ({ requests, inputTokens: 0, outputTokens: 0 });
}

/**
 * The cost of `requests` model calls on every route of both endpoints, each with at most
 * `outputTokens`.
 */
export function perRoute(
  requests: number,
  outputTokens: number,
  inputTokens: number = INPUT_TOKENS,
): Scenario["cost"] {
  return ({ messages, chat }) =>
    modelCalls(
      requests * (messages.length + chat.length),
      outputTokens,
      inputTokens,
    );
}

/** The cost of `requests` model calls in all, each with at most `outputTokens`. */
export function calls(
  requests: number,
  outputTokens: number,
): Scenario["cost"] {
  return () => modelCalls(requests, outputTokens, INPUT_TOKENS);
}

/** The sum of the costs of several kinds of requests. */
export function together(
  ...costs: readonly Scenario["cost"][]
): Scenario["cost"] {
  return (profile) => sumOf(costs.map((cost) => cost(profile)));
}

/** Input tokens that a request bills at most, unless a scenario states otherwise. */
const INPUT_TOKENS = 100;

function modelCalls(
  requests: number,
  outputTokens: number,
  inputTokens: number,
): Cost {
  return {
    requests,
    inputTokens: requests * inputTokens,
    outputTokens: requests * outputTokens,
  };
}
