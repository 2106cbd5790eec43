/** Plays the same on all routes of both endpoints, some requests at a time. */
import type { JsonObject } from "../replay/json.ts";
import { GENERATION, type Generation, plainAsk, streamed } from "./asks.ts";
import type { Lab } from "./lab.ts";
import type { Route } from "./scenario.ts";

/** Requests of one scenario that are under way together. */
const WIDTH = 16;

/** A fixture to ask for, under the last part of a label. */
export interface Wanted {
  /** The last part of the label. */
  readonly form: string;
  /** The fixture, with its parameters. */
  readonly fixture: string;
  /** True when a stream is asked for. */
  readonly stream: boolean;
  /** True where the upstream sends many small pieces. */
  readonly slow?: boolean;
  /** Members of the body besides the usual ones. */
  readonly more?: (endpoint: Generation) => JsonObject;
}

/** Runs the jobs, at most 16 at a time. */
export async function atOnce(
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

/** Asks for what is wanted on every route of both endpoints; what is wanted may depend on the route. */
export async function askForAll(
  lab: Lab,
  wanted: (route: Route, endpoint: Generation) => readonly Wanted[],
): Promise<void> {
  await atOnce(
    GENERATION.flatMap((endpoint) =>
      lab.routes(endpoint).flatMap((route) =>
        wanted(route, endpoint).map((
          { form, fixture, stream, more, slow = false },
        ) =>
        () =>
          lab.send({
            ...plainAsk(
              endpoint,
              route,
              form,
              lab.prompt(fixture, "Say something."),
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

/** The fixture whole and streamed: `NAME-whole` and `NAME-stream`. */
export function bothForms(fixture: string, name: string = fixture): Wanted[] {
  return [
    { form: `${name}-whole`, fixture, stream: false },
    { form: `${name}-stream`, fixture, stream: true },
  ];
}
