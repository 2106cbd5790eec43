/** Scenarios of the area `limits`: requests beside and beyond the documented limits. */
import type { Json, JsonObject } from "../replay/json.ts";
import {
  firstRoute,
  GENERATION,
  type Generation,
  plainAsk,
  streamed,
} from "../suite/asks.ts";
import { UNLIMITED_OUTPUT_TOKENS } from "../suite/ask.ts";
import type { Lab } from "../suite/lab.ts";
import {
  calls,
  perRoute,
  type Route,
  type Scenario,
  together,
} from "../suite/scenario.ts";
import { COUNTED_SCENARIOS } from "./counted.ts";

/** A request with something special, and what must come of it. */
export interface Limit {
  /** The field at fault. */
  readonly field: string;
  /** What is put into the body; null takes the field away. */
  readonly more: Readonly<Record<string, Json | undefined>>;
  /** False: only in a replay run. */
  readonly live?: boolean;
}

const system = "You are a parrot.";

/** What must be refused, by endpoint. */
export const BEYOND: Readonly<
  Record<Generation, Readonly<Record<string, Limit>>>
> = {
  messages: {
    "no-max_tokens": { field: "max_tokens", more: { max_tokens: undefined } },
    "max_tokens-null": maxTokens(null),
    "max_tokens-text": maxTokens("16"),
    "max_tokens-fraction": maxTokens(1.5),
    "max_tokens-negative": maxTokens(-1),
    "max_tokens-list": maxTokens([16]),
    "temperature-above": { field: "temperature", more: { temperature: 1.5 } },
    "temperature-just-above": temperature(1.01),
    "temperature-two": temperature(2),
    "temperature-below": { field: "temperature", more: { temperature: -0.1 } },
    "temperature-text": temperature("0.5"),
  },
  chat: {
    "max_tokens-text": maxTokens("16"),
    "max_tokens-fraction": maxTokens(1.5),
    "max_tokens-negative": maxTokens(-1),
    "temperature-above": { field: "temperature", more: { temperature: 2.5 } },
    "temperature-just-above": temperature(2.01),
    "temperature-below": { field: "temperature", more: { temperature: -0.1 } },
    "temperature-text": temperature("0.5"),
    "system-text": { field: "system", more: { system } },
    "system-blocks": {
      field: "system",
      more: { system: [{ type: "text", text: system }] },
      live: false,
    },
    "system-empty": { field: "system", more: { system: "" }, live: false },
  },
};

/** What must be accepted, by endpoint. */
export const WITHIN: Readonly<
  Record<Generation, Readonly<Record<string, Limit>>>
> = {
  messages: {
    "control": { field: "", more: {} },
    "temperature-zero": { field: "temperature", more: { temperature: 0 } },
    "temperature-half": { ...temperature(0.5) },
    "temperature-one": { field: "temperature", more: { temperature: 1 } },
    "top_p": { field: "top_p", more: { top_p: 0.9 } },
  },
  chat: {
    "control": { field: "", more: {} },
    "no-max_tokens": { field: "max_tokens", more: { max_tokens: undefined } },
    "temperature-zero": { field: "temperature", more: { temperature: 0 } },
    "temperature-one": temperature(1),
    "temperature-above-one": temperature(1.5),
    "temperature-two": { field: "temperature", more: { temperature: 2 } },
    "system-first": {
      field: "system",
      more: { systemFirst: true },
    },
  },
};

function maxTokens(value: Json): Limit {
  return { field: "max_tokens", more: { max_tokens: value }, live: false };
}

function temperature(value: Json): Limit {
  return { field: "temperature", more: { temperature: value }, live: false };
}

/** Output tokens that the requests of this area ask for. */
export const ASKED_TOKENS = 16;

const LIMITS: Scenario = {
  name: "limits",
  about:
    "max_tokens, temperature, top_p and system at, within and beyond what is documented, on both endpoints",
  mode: "both",
  cost: together(calls(20, ASKED_TOKENS), calls(2, UNLIMITED_OUTPUT_TOKENS)),
  async play(lab) {
    await onRoutes(lab, async (endpoint, route) => {
      const send = (form: string, more: Limit["more"]) => {
        const { systemFirst, ...fields } = more;
        const words = lab.prompt("text", "Say hello in one word.");
        const ask = plainAsk(endpoint, route, form, words, {
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
        return lab.send({ ...ask, body: { json } });
      };
      for (
        const [form, { more, live }] of [
          ...Object.entries(WITHIN[endpoint]),
          ...Object.entries(BEYOND[endpoint]),
        ]
      ) {
        // What only varies a fault is sent once.
        const first = route === lab.routes(endpoint)[0];
        if (live === false && (lab.mode === "live" || !first)) continue;
        await send(form, more);
        if (live === false || lab.mode === "live") continue;
        await send(`${form}-stream`, { ...more, ...streamed(endpoint) });
      }
      if (endpoint === "messages") {
        await send("temperature-and-top_p", { temperature: 0.5, top_p: 0.9 });
      } else if (lab.mode === "replay") {
        await send("max_completion_tokens", {
          max_tokens: undefined,
          max_completion_tokens: ASKED_TOKENS,
        });
      }
    });
  },
};

/** On every route of a replay run; in a live run on the first of each endpoint. */
async function onRoutes(
  lab: Lab,
  one: (endpoint: Generation, route: Route) => Promise<void>,
): Promise<void> {
  await Promise.all(
    GENERATION.flatMap((endpoint) =>
      (lab.mode === "live" ? [firstRoute(lab, endpoint)] : lab.routes(endpoint))
        .map((route) => one(endpoint, route))
    ),
  );
}

const BOUNDED: Scenario = {
  name: "bounded",
  about: "A reply that would be long, with few output tokens allowed",
  mode: "both",
  cost: perRoute(2, ASKED_TOKENS),
  async play(lab) {
    await onRoutes(lab, async (endpoint, route) => {
      // Without a marker the replay upstream speaks freely, within the limit that reaches it.
      const words = "Count from 1 to 500, one number a line.";
      const few = { max_tokens: ASKED_TOKENS };
      await lab.send(plainAsk(endpoint, route, "whole", words, few));
      await lab.send(
        plainAsk(endpoint, route, "stream", words, {
          ...few,
          ...streamed(endpoint),
        }),
      );
    });
  },
};

/** What was said before, in words that come nowhere else. */
export const HISTORY = [
  "The kestrel hovered above the quarry until noon.",
  "Seventeen lanterns were hung along the northern pier.",
] as const;

const RESENT: Scenario = {
  name: "resent-history",
  about: "The same last turn, alone and after a history",
  mode: "both",
  cost: perRoute(4, ASKED_TOKENS),
  async play(lab) {
    const [asked, answered] = HISTORY;
    const last = { role: "user", content: "Say hello in one word." };
    await onRoutes(lab, async (endpoint, route) => {
      for (
        const [form, stream] of [["whole", {}], [
          "stream",
          streamed(endpoint),
        ]] as const
      ) {
        const send = (label: string, messages: readonly JsonObject[]) =>
          lab.send(plainAsk(endpoint, route, label, "", {
            max_tokens: ASKED_TOKENS,
            messages: [...messages],
            ...stream,
          }));
        await send(`${form}-alone`, [last]);
        // A marker outside the last turn names the exchange and no fixture.
        await send(`${form}-after-history`, [
          { role: "user", content: lab.prompt("text", asked) },
          { role: "assistant", content: answered },
          last,
        ]);
      }
    });
  },
};

/** The scenarios. */
export const LIMITS_SCENARIOS: readonly Scenario[] = [
  LIMITS,
  BOUNDED,
  RESENT,
  ...COUNTED_SCENARIOS,
];
