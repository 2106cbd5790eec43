/** Scenarios of the area `upstream`: each kind of refusal by the upstream. */
import { GENERATION, plainRequest } from "../../suite/requests.ts";
import {
  bothForms,
  requestFixtures,
  runConcurrently,
} from "../../suite/all_routes.ts";
import { perRoute, type Scenario } from "../../suite/scenario.ts";

export const UPSTREAM_REFUSALS = "upstream-refusals";

export const STATUSES = [
  400,
  401,
  402,
  403,
  404,
  408,
  413,
  422,
  429,
  500,
  502,
  503,
  504,
  529,
] as const;

/** Refusals with unusual bodies, and a broken connection: none is the client's mistake. */
export const ODD_FAULTS: Readonly<Record<string, string>> = {
  "html-502": "html-502",
  "empty-502": "empty-502",
  "plain-503": "plain-503",
  "array-503": "error-array",
  "string-500": "error-string",
  "bad-key": "bad-key",
  "drop-reset": "drop",
  "drop-fin": "drop?how=fin",
};

/** Seconds in the upstream's `retry-after`, unlike any default. */
export const WAIT_SECONDS = 13;

/** Statuses with which an upstream sends `retry-after`. */
export const WAITING = [429, 503, 529] as const;

const OTHERS: Readonly<Record<string, string>> = {
  "overflow": "context-overflow",
  "detail-422": "error-detail",
  "quota": "quota",
  "typed": "typed-error",
};

export const REFUSALS: Scenario = {
  name: UPSTREAM_REFUSALS,
  about: "Each error status of the upstream, whole and streamed",
  mode: "replay",
  cost: perRoute(2 * STATUSES.length, 64),
  play: (session) =>
    requestFixtures(
      session,
      () =>
        STATUSES.flatMap((code) =>
          bothForms(`status?code=${code}`, String(code))
        ),
    ),
};

/** Requests that the upstream refuses with undocumented bodies. */
export const ODD_REFUSALS: Scenario = {
  name: "odd-refusals",
  about: "Refusals of the upstream with undocumented bodies",
  mode: "replay",
  cost: perRoute(32, 64),
  async play(session) {
    await requestFixtures(session, () => [
      ...Object.entries({ ...ODD_FAULTS, ...OTHERS }).flatMap((
        [form, fixture],
      ) => bothForms(fixture, form)),
      ...WAITING.flatMap((code) =>
        bothForms(`status?code=${code}&after=${WAIT_SECONDS}`, `wait-${code}`)
      ),
    ]);
    await requestFixtures(session, () => bothForms("text", "afterwards"));
  },
};

/** The redirect leads to an address that only the request log knows. */
export const REDIRECTED: Scenario = {
  name: "redirected",
  about:
    "The upstream redirects the gateway to a place where its key does not belong",
  mode: "replay",
  cost: perRoute(2, 64),
  async play(session) {
    await runConcurrently(
      GENERATION.flatMap((endpoint) =>
        session.routes(endpoint).flatMap((route) =>
          [false, true].map((stream) => async () => {
            const nonce = session.nonce();
            const place = `${session.replay.url}/elsewhere/${nonce}`;
            const wanted = plainRequest(
              endpoint,
              route,
              stream ? "redirect-stream" : "redirect-whole",
              session.prompt(
                `redirect?to=${encodeURIComponent(place)}`,
                "Say hello.",
                nonce,
              ),
              { stream },
            );
            await session.send(wanted);
            const followed = session.replay.requestLog.entries.some((
              { request },
            ) => request.path.includes(`/elsewhere/${nonce}`));
            session.note(`${wanted.label} followed`, followed);
          })
        )
      ),
    );
  },
};
