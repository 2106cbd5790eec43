/**
 * A request that one model refuses may exceed that model's own limits. In a live run a refused
 * request is repeated for other models, of other owners first: a request that several models refuse
 * counts as refused by the target.
 */
import type { Exchange } from "../evidence/exchange.ts";
import type { TestRequest } from "./test_request.ts";
import type { Session } from "./session.ts";
import type { Route } from "./route.ts";

/** Most models that a documented request is tried with. */
const MODELS_ASKED = 3;

/** Limits how many requests a scenario may repeat. */
export class RepeatAllowance {
  #left: number;

  constructor(requests: number) {
    this.#left = requests;
  }

  /** Takes one repetition; returns false when none is left. */
  take(): boolean {
    return this.#left-- > 0;
  }
}

/** The owner's part of a model id, as most gateways write it. */
export function ownerOf(id: string): string {
  return /^[a-z]+/i.exec(id)?.[0] ?? id;
}

/** Other models of the target, those of new owners first. */
export function otherModels(route: Route, models: readonly string[]): Route[] {
  const rest = models.filter((id) => id !== route.model);
  const seen = new Set([ownerOf(route.model)]);
  const first = rest.filter((id) => {
    const isNew = !seen.has(ownerOf(id));
    seen.add(ownerOf(id));
    return isNew;
  });
  return [...first, ...rest.filter((id) => !first.includes(id))]
    .slice(0, MODELS_ASKED - 1)
    .map((model, at) => ({ name: `other-${at + 1}`, via: undefined, model }));
}

/**
 * Sends a request; in a live run it is repeated for other models while it is refused. Returns the
 * last exchange.
 */
export async function sendUntilAccepted(
  session: Session,
  route: Route,
  allowance: RepeatAllowance,
  requestFor: (route: Route) => TestRequest,
): Promise<Exchange> {
  let last = await session.send(requestFor(route));
  if (session.mode === "replay") return last;
  for (const other of otherModels(route, session.profile.models)) {
    if (last.head?.status === 200 || !allowance.take()) break;
    last = await session.send(requestFor(other));
  }
  return last;
}
