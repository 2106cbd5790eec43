/** Makes the same requests on all routes of both endpoints, several at a time. */
import type { JsonObject } from "@model-gateway/replay/json";
import {
  GENERATION,
  type Generation,
  plainRequest,
  streamed,
} from "./requests.ts";
import type { Session } from "./session.ts";
import type { Route } from "./route.ts";

/** Concurrent requests of one scenario. */
const WIDTH = 16;

export interface WantedReply {
  /** The last part of the label. */
  readonly form: string;
  /** The fixture, with its parameters. */
  readonly fixture: string;
  readonly stream: boolean;
  /** True where the upstream sends many small pieces. */
  readonly slow?: boolean;
  readonly more?: (endpoint: Generation) => JsonObject;
}

/** Runs the jobs, at most 16 at a time. */
export async function runConcurrently(
  jobs: readonly (() => Promise<unknown>)[],
): Promise<void> {
  const queue = [...jobs];
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      await next();
    }
  };
  await Promise.all(Array.from({ length: WIDTH }, work));
}

/** Makes the wanted requests on every route of both endpoints; they may depend on the route. */
export async function requestFixtures(
  session: Session,
  wanted: (route: Route, endpoint: Generation) => readonly WantedReply[],
): Promise<void> {
  await runConcurrently(
    GENERATION.flatMap((endpoint) =>
      session.routes(endpoint).flatMap((route) =>
        wanted(route, endpoint).map((
          { form, fixture, stream, more, slow = false },
        ) =>
        () =>
          session.send({
            ...plainRequest(
              endpoint,
              route,
              form,
              session.prompt(fixture, "Say something."),
              {
                ...(stream ? streamed(endpoint) : {}),
                ...more?.(endpoint) ?? {},
              },
            ),
            slow,
          })
        )
      )
    ),
  );
}

/** A fixture, whole and streamed: `NAME-whole` and `NAME-stream`. */
export function bothForms(
  fixture: string,
  name: string = fixture,
): WantedReply[] {
  return [
    { form: `${name}-whole`, fixture, stream: false },
    { form: `${name}-stream`, fixture, stream: true },
  ];
}
