/** Scenarios of the area `upstream`: every way in which an upstream refuses a request before it answers. */
import { GENERATION, plainAsk } from "../suite/asks.ts";
import { askForAll, atOnce, bothForms } from "../suite/everywhere.ts";
import { perRoute, type Scenario } from "../suite/scenario.ts";

/** Statuses that an upstream refuses with. */
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

/** Refusals whose bodies are odd, and a fault of the connection: none is the caller's. */
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

/** Seconds that the upstream asks the caller to wait, unlike any default. */
export const WAIT_SECONDS = 13;

/** Statuses with which an upstream says how long to wait. */
export const WAITING = [429, 503, 529] as const;

const OTHERS: Readonly<Record<string, string>> = {
  "overflow": "context-overflow",
  "detail-422": "error-detail",
  "quota": "quota",
};

/** Each error status, whole and streamed. */
export const REFUSALS: Scenario = {
  name: "upstream-refusals",
  about: "Each error status of the upstream, whole and streamed",
  mode: "replay",
  cost: perRoute(2 * STATUSES.length, 64),
  play: (lab) =>
    askForAll(
      lab,
      () =>
        STATUSES.flatMap((code) =>
          bothForms(`status?code=${code}`, String(code))
        ),
    ),
};

/** Refusals in odd words. */
export const ODD_REFUSALS: Scenario = {
  name: "odd-refusals",
  about: "Refusals of the upstream whose bodies no vendor documents",
  mode: "replay",
  cost: perRoute(30, 64),
  async play(lab) {
    await askForAll(lab, () => [
      ...Object.entries({ ...ODD_FAULTS, ...OTHERS }).flatMap((
        [form, fixture],
      ) => bothForms(fixture, form)),
      ...WAITING.flatMap((code) =>
        bothForms(`status?code=${code}&after=${WAIT_SECONDS}`, `wait-${code}`)
      ),
    ]);
    await askForAll(lab, () => bothForms("text", "afterwards"));
  },
};

/** A redirect to a place that only the journal knows. */
export const REDIRECTED: Scenario = {
  name: "redirected",
  about:
    "The upstream sends the gateway elsewhere, where its key does not belong",
  mode: "replay",
  cost: perRoute(2, 64),
  async play(lab) {
    await atOnce(
      GENERATION.flatMap((endpoint) =>
        lab.routes(endpoint).flatMap((route) =>
          [false, true].map((stream) => async () => {
            const nonce = lab.nonce();
            const place = `${lab.replay.url}/elsewhere/${nonce}`;
            const ask = plainAsk(
              endpoint,
              route,
              stream ? "redirect-stream" : "redirect-whole",
              lab.prompt(
                `redirect?to=${encodeURIComponent(place)}`,
                "Say hello.",
                nonce,
              ),
              { stream },
            );
            await lab.send(ask);
            const followed = lab.replay.journal.entries.some(({ request }) =>
              request.path.includes(`/elsewhere/${nonce}`)
            );
            lab.note(`${ask.label} followed`, followed);
          })
        )
      ),
    );
  },
};
