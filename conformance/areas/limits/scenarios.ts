/** Scenarios of the area `limits`: requests within and beyond the documented limits. */
import type { Json, JsonObject } from "@model-gateway/replay/json";
import {
  firstRoute,
  GENERATION,
  type Generation,
  plainRequest,
  streamed,
} from "../../suite/requests.ts";
import { UNLIMITED_OUTPUT_TOKENS } from "../../suite/test_request.ts";
import type { Session } from "../../suite/session.ts";
import {
  calls,
  perRoute,
  type Scenario,
  together,
} from "../../suite/scenario.ts";
import type { Route } from "../../suite/route.ts";
import { INPUT_TOKEN_SCENARIOS } from "./scenarios_input_tokens.ts";
import { REQUEST_FORM_SCENARIOS } from "./scenarios_request_forms.ts";
import { STOP_STRING_SCENARIOS } from "./scenarios_stop_strings.ts";

export const BOUNDED_SCENARIO = "bounded";
export const LIMITS_REFUSED = "limits";

/** A change to a request, and whether it must be accepted or refused. */
interface Limit {
  readonly field: string;
  /** Members to put into the body; null removes the field. */
  readonly more: Readonly<Record<string, Json | undefined>>;
  /** How a live run sends it; absent means whole only. */
  readonly live?: "never" | "both";
  /** True for a variation of another limit, which a replay run sends only once, whole. */
  readonly isVariant?: boolean;
}

const system = "You are a parrot.";

/** Values that must be refused, by endpoint. */
export const BEYOND: Readonly<
  Record<Generation, Readonly<Record<string, Limit>>>
> = {
  messages: {
    "no-max_tokens": {
      field: "max_tokens",
      more: { max_tokens: undefined },
      live: "both",
    },
    "max_tokens-null": maxTokens(null),
    "max_tokens-text": maxTokens("16"),
    "max_tokens-fraction": maxTokens(1.5),
    "max_tokens-negative": maxTokens(-1),
    "max_tokens-list": maxTokens([16]),
    "temperature-above": {
      field: "temperature",
      more: { temperature: 1.5 },
      live: "both",
    },
    "temperature-just-above": alsoLive(temperature(1.01)),
    "temperature-two": temperature(2),
    "temperature-below": { field: "temperature", more: { temperature: -0.1 } },
    "temperature-text": alsoLive(temperature("0.5")),
    "temperature-and-top_p": {
      field: "top_p",
      more: { temperature: 0.5, top_p: 0.9 },
    },
  },
  chat: {
    "max_tokens-text": maxTokens("16"),
    "max_tokens-fraction": maxTokens(1.5),
    "max_tokens-negative": maxTokens(-1),
    "temperature-above": {
      field: "temperature",
      more: { temperature: 2.5 },
      live: "both",
    },
    "temperature-just-above": alsoLive(temperature(2.01)),
    "temperature-below": { field: "temperature", more: { temperature: -0.1 } },
    "temperature-text": alsoLive(temperature("0.5")),
    "system-text": { field: "system", more: { system }, live: "both" },
    "system-blocks": {
      field: "system",
      more: { system: [{ type: "text", text: system }] },
      isVariant: true,
    },
    "system-empty": {
      field: "system",
      more: { system: "" },
      live: "never",
      isVariant: true,
    },
  },
};

/** Values that must be accepted, by endpoint. */
export const WITHIN: Readonly<
  Record<Generation, Readonly<Record<string, Limit>>>
> = {
  messages: {
    "control": { field: "", more: {} },
    "temperature-zero": unlive({ temperature: 0 }),
    "temperature-half": temperature(0.5),
    "temperature-one": unlive({ temperature: 1 }),
    "top_p": { field: "top_p", more: { top_p: 0.9 }, live: "never" },
  },
  chat: {
    "control": { field: "", more: {} },
    "no-max_tokens": { field: "max_tokens", more: { max_tokens: undefined } },
    "temperature-zero": unlive({ temperature: 0 }),
    "temperature-one": temperature(1),
    "temperature-above-one": temperature(1.5),
    "temperature-two": unlive({ temperature: 2 }),
    "system-first": { field: "system", more: { systemFirst: true } },
  },
};

function maxTokens(value: Json): Limit {
  return {
    field: "max_tokens",
    more: { max_tokens: value },
    live: "never",
    isVariant: true,
  };
}

function temperature(value: Json): Limit {
  return {
    field: "temperature",
    more: { temperature: value },
    live: "never",
    isVariant: true,
  };
}

/** A temperature that only replay runs send here: a live run sends it with the documented forms. */
function unlive(more: { readonly temperature: number }): Limit {
  return { field: "temperature", more, live: "never" };
}

/** A variation that a live run sends too, whole. */
function alsoLive({ field, more }: Limit): Limit {
  return { field, more, isVariant: true };
}

/** Output tokens that the requests of this area allow. */
export const ASKED_TOKENS = 16;

const LIMITS: Scenario = {
  name: LIMITS_REFUSED,
  about:
    "max_tokens, temperature, top_p and system at, within and beyond the documented limits, on both endpoints",
  mode: "both",
  cost: together(calls(17, ASKED_TOKENS), calls(3, UNLIMITED_OUTPUT_TOKENS)),
  async play(session) {
    await onRoutes(session, async (endpoint, route) => {
      const send = (form: string, more: Limit["more"]) => {
        const { systemFirst, ...fields } = more;
        const words = session.prompt("text", "Say hello in one word.");
        const request = plainRequest(endpoint, route, form, words, {
          max_tokens: ASKED_TOKENS,
        });
        const json: Record<string, Json | undefined> = {
          model: route.model,
          max_tokens: ASKED_TOKENS,
          messages: [
            ...(systemFirst === true
              ? [{ role: "system", content: system }]
              : []),
            { role: "user", content: words },
          ],
          ...fields,
        };
        return session.send({ ...request, body: { json } });
      };
      for (
        const [form, { more, live, isVariant = false }] of [
          ...Object.entries(WITHIN[endpoint]),
          ...Object.entries(BEYOND[endpoint]),
        ]
      ) {
        const isFirst = route === session.routes(endpoint)[0];
        if (
          session.mode === "live" ? live === "never" : isVariant && !isFirst
        ) {
          continue;
        }
        await send(form, more);
        if (session.mode === "live" ? live !== "both" : isVariant) continue;
        await send(`${form}-stream`, { ...more, ...streamed(endpoint) });
      }
      if (endpoint === "chat" && session.mode === "replay") {
        await send("max_completion_tokens", {
          max_tokens: undefined,
          max_completion_tokens: ASKED_TOKENS,
        });
      }
    });
  },
};

/** All routes in a replay run; the first of each endpoint in a live run. */
async function onRoutes(
  session: Session,
  one: (endpoint: Generation, route: Route) => Promise<void>,
): Promise<void> {
  await Promise.all(
    GENERATION.flatMap((endpoint) =>
      (session.mode === "live"
        ? [firstRoute(session, endpoint)]
        : session.routes(endpoint))
        .map((route) => one(endpoint, route))
    ),
  );
}

const BOUNDED: Scenario = {
  name: BOUNDED_SCENARIO,
  about: "A reply that would be long, with few output tokens allowed",
  mode: "both",
  cost: perRoute(2, ASKED_TOKENS),
  async play(session) {
    await onRoutes(session, async (endpoint, route) => {
      // Without a marker the replay upstream generates a reply within the `max_tokens` that it
      // receives.
      const words = "Count from 1 to 500, one number a line.";
      const few = { max_tokens: ASKED_TOKENS };
      await session.send(plainRequest(endpoint, route, "whole", words, few));
      await session.send(
        plainRequest(endpoint, route, "stream", words, {
          ...few,
          ...streamed(endpoint),
        }),
      );
    });
  },
};

/** Earlier turns, whose words occur nowhere else. */
export const HISTORY = [
  "The kestrel hovered above the quarry until noon.",
  "Seventeen lanterns were hung along the northern pier.",
] as const;

const RESENT: Scenario = {
  name: "resent-history",
  about: "The same last turn, alone and after a history",
  mode: "both",
  cost: perRoute(4, ASKED_TOKENS),
  async play(session) {
    const [asked, answered] = HISTORY;
    const last = { role: "user", content: "Say hello in one word." };
    await onRoutes(session, async (endpoint, route) => {
      for (
        const [form, stream] of [["whole", {}], [
          "stream",
          streamed(endpoint),
        ]] as const
      ) {
        const send = (label: string, messages: readonly JsonObject[]) =>
          session.send(plainRequest(endpoint, route, label, "", {
            max_tokens: ASKED_TOKENS,
            messages: [...messages],
            ...stream,
          }));
        await send(`${form}-alone`, [last]);
        // A marker outside the last turn identifies the exchange and names no fixture.
        await send(`${form}-after-history`, [
          { role: "user", content: session.prompt("text", asked) },
          { role: "assistant", content: answered },
          last,
        ]);
      }
    });
  },
};

export const LIMITS_SCENARIOS: readonly Scenario[] = [
  LIMITS,
  BOUNDED,
  RESENT,
  ...INPUT_TOKEN_SCENARIOS,
  ...REQUEST_FORM_SCENARIOS,
  ...STOP_STRING_SCENARIOS,
];
