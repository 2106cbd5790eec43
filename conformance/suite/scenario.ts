/** What a scenario is: one set of requests, made once, that many checks judge. */
import type { Dialect } from "../replay/call.ts";
import { type Cost, sumOf } from "./budget.ts";
import type { Mode } from "./check.ts";
import type { Lab } from "./lab.ts";

/** A model to ask, and the dialect it is reached by. */
export interface Route {
  /** The part of a label that names the route: the dialect, or `model`. */
  readonly name: string;
  /** The dialect of the upstream; undefined in a live run, where nobody can tell. */
  readonly via: Dialect | undefined;
  /** The model id to send. */
  readonly model: string;
}

/** What the suite knows of the target before the scenarios. */
export interface TargetProfile {
  /** The ids of `GET /v1/models`; empty when it could not be read. */
  readonly models: readonly string[];
  /** The models that the message endpoint is asked for: one per upstream dialect in a replay run, one in a live run. */
  readonly messages: readonly Route[];
  /** The same for the chat endpoint. */
  readonly chat: readonly Route[];
}

/** One set of requests. */
export interface Scenario {
  /** Its name; checks refer to it. */
  readonly name: string;
  /** One line: what it does. */
  readonly about: string;
  /** Where it can be played. */
  readonly mode: Mode;
  /** What it costs at most in a live run; in a replay run nothing is billed. */
  readonly cost: (profile: TargetProfile) => Cost;
  /** True: nothing else runs beside it. */
  readonly alone?: boolean;
  /** Makes the requests. A thrown error stops the scenario; what was recorded stays. */
  readonly play: (lab: Lab) => Promise<void>;
}

/** The cost of requests that no model sees. */
export function free(requests: number): Scenario["cost"] {
  return () => ({ requests, inputTokens: 0, outputTokens: 0 });
}

/** The cost of `requests` calls of a model on every route of both endpoints, each of at most so many output tokens. */
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

/** The cost of `requests` calls of a model in all, each of at most so many output tokens. */
export function calls(
  requests: number,
  outputTokens: number,
): Scenario["cost"] {
  return () => modelCalls(requests, outputTokens, INPUT_TOKENS);
}

/** The costs of several kinds of request in one scenario. */
export function together(
  ...costs: readonly Scenario["cost"][]
): Scenario["cost"] {
  return (profile) => sumOf(costs.map((cost) => cost(profile)));
}

/** Input tokens that a request of the suite bills at most, unless a scenario says otherwise. */
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
