/**
 * Scenarios of the area `upstream`: requests with a value in each member, compared with the request
 * upstream.
 */
import type { Json, JsonObject } from "@model-gateway/replay/json";
import {
  GENERATION,
  type Generation,
  plainRequest,
  streamed,
} from "../../suite/requests.ts";
import { runConcurrently } from "../../suite/all_routes.ts";
import type { Session } from "../../suite/session.ts";
import { perRoute, type Scenario } from "../../suite/scenario.ts";
import type { Route } from "../../suite/route.ts";

// Names of scenarios that other areas read.
export const SENT_TALK = "sent-talk";

/**
 * Text that is easily damaged: whitespace, line ends, scripts, escapes, sequences that look like
 * markup or a template.
 */
const DIFFICULT =
  '  two  blanks\n\n\ttab, "quotes" \\n \\u0041 {{x}} <b>&amp;</b> %20 naïve é 你好 👩‍👩‍👧‍👦 🇩🇪 𝒳 e\u0301 ﬁ \u200b\u2028 end ';

/** Instructions with a line end and a multi-byte character. */
const SYSTEM = "Answer briefly – in one line.\nNever use the word “foo”.";

/** Turns before the last one, which is a user turn with the marker. */
const HISTORY: readonly (readonly [string, string])[] = [
  ["user", "First question: 1 + 1?"],
  ["assistant", "First answer: 2."],
  ["user", DIFFICULT],
  ["assistant", "Second answer – ünïcode ✓."],
];

const LONG = Array.from(
  { length: 4096 },
  (_, at) => `line ${`${at}`.padStart(9)}\n`,
).join("");

export const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const PICTURE_URL = "https://pictures.example/cat.png?size=2&x=%20y";

/** Values of the members, unlike any default. */
export const VALUES = {
  maxTokens: 77,
  temperature: 0.35,
  /** Outside the range of the message format. */
  hot: 1.6,
  topP: 0.65,
  stops: ["ENDE", "##\n"],
  user: "user-4711",
} as const;

/** Members that only one of the formats has. */
export const OWN: Readonly<Record<Generation, JsonObject>> = {
  messages: { top_k: 7, service_tier: "standard_only" },
  chat: {
    seed: 4711,
    presence_penalty: 0.25,
    frequency_penalty: -0.25,
    response_format: { type: "json_object" },
    service_tier: "default",
    user: "user-own",
    logit_bias: { "50256": -1 },
    metadata: { team: "own" },
  },
};

/**
 * Blocks of an earlier reply that must be sent back unchanged: the vendor verifies their
 * signatures.
 */
export const KEPT: readonly JsonObject[] = [
  {
    type: "thinking",
    thinking: "Hm – ünï 你好.\n",
    signature: "EqQBCg/+kept==",
  },
  { type: "redacted_thinking", data: "EmwKAhgB/+kept==" },
];

/** A cache mark: the vendor caches the prompt up to here. */
export const CACHED: JsonObject = { type: "ephemeral" };

const TOOLS = [
  {
    name: "get_weather",
    description: "Tells the weather of a city.",
    schema: {
      type: "object",
      properties: {
        city: { type: "string", description: "Its name" },
        days: { type: "integer" },
      },
      required: ["city"],
    },
  },
  {
    name: "save_note",
    description: "Keeps a note.",
    schema: {
      type: "object",
      properties: { text: { type: "string" } },
      required: ["text"],
    },
  },
] as const;

function tools(endpoint: Generation): JsonObject {
  return {
    tools: TOOLS.map(({ name, description, schema }) =>
      endpoint === "messages" ? { name, description, input_schema: schema } : {
        type: "function",
        function: { name, description, parameters: schema },
      }
    ),
  };
}

function entries(
  turns: readonly (readonly [string, string])[],
): readonly JsonObject[] {
  return turns.map(([role, content]) => ({ role, content }));
}

function picture(endpoint: Generation, url: string): JsonObject {
  if (endpoint === "chat") return { type: "image_url", image_url: { url } };
  const [, media, data] = /^data:([^;]+);base64,(.*)$/.exec(url) ?? [];
  return {
    type: "image",
    source: media === undefined
      ? { type: "url", url }
      : { type: "base64", media_type: media, data },
  };
}

/** Members of a body; undefined removes one. */
type Members = Readonly<Record<string, Json | undefined>>;

/** Members of each form; `words` contains the marker. */
const FORMS: Readonly<
  Record<string, (endpoint: Generation, words: string) => Members>
> = {
  history: (endpoint, words) => {
    const turns = entries([...HISTORY, ["user", words]]);
    return endpoint === "messages"
      ? { system: SYSTEM, messages: turns }
      : { messages: [{ role: "system", content: SYSTEM }, ...turns] };
  },
  blocks: (endpoint, words) => {
    const content = [{ type: "text", text: words }];
    return endpoint === "messages"
      ? {
        system: [{ type: "text", text: SYSTEM }],
        messages: [{ role: "user", content }],
      }
      : {
        messages: [
          { role: "system", content: [{ type: "text", text: SYSTEM }] },
          { role: "user", content },
        ],
      };
  },
  temperature: () => ({ temperature: VALUES.temperature }),
  zero: () => ({ temperature: 0 }),
  top_p: () => ({ top_p: VALUES.topP }),
  stops: (endpoint) =>
    endpoint === "messages"
      ? { stop_sequences: VALUES.stops }
      : { stop: VALUES.stops },
  limit: () => ({ max_tokens: VALUES.maxTokens }),
  tools: (endpoint) => tools(endpoint),
  metadata: (endpoint) =>
    endpoint === "messages"
      ? { metadata: { user_id: VALUES.user } }
      : { user: VALUES.user },
  own: (endpoint) => OWN[endpoint],
  unknown: () => ({ x_unknown_member: { a: [1] } }),
  "no-limit": () => ({ max_tokens: undefined }),
  neighbours: (_, words) => ({
    messages: entries([["user", "One."], ["user", "Two."], ["user", words]]),
  }),
  parts: (_, words) => ({
    messages: [{
      role: "user",
      content: ["One.", "Two.", words].map((text) => ({ type: "text", text })),
    }],
  }),
  "two-systems": (_, words) => ({
    messages: entries([["system", "One."], ["system", "Two."], [
      "user",
      words,
    ]]),
  }),
  "system-blocks": (_, words) => ({
    system: ["One.", "Two."].map((text) => ({ type: "text", text })),
    messages: [{ role: "user", content: words }],
  }),
  developer: (_, words) => ({
    messages: entries([["developer", SYSTEM], ["user", words]]),
  }),
  "long-history": (_, words) => ({
    messages: entries([
      ...Array.from(
        { length: 24 },
        (_, at) =>
          [at % 2 === 0 ? "user" : "assistant", `Turn ${at + 1}.`] as const,
      ),
      ["user", words],
    ]),
  }),
  "long-text": (_, words) => ({
    messages: [{ role: "user", content: LONG + words }],
  }),
  "kept-blocks": (_, words) => ({
    messages: [
      { role: "user", content: "Think first." },
      {
        role: "assistant",
        content: [...KEPT, { type: "text", text: "Done." }],
      },
      {
        role: "user",
        content: [{ type: "text", text: words, cache_control: CACHED }],
      },
    ],
  }),
  "stop-text": () => ({ stop: VALUES.stops[0] }),
  several: () => ({ n: 2 }),
  hot: () => ({ temperature: VALUES.hot }),
  // The last turn names no fixture: the replay upstream answers in the schema.
  schema: (_, words) => ({
    messages: entries([
      ["system", words],
      ["user", "Paris, three days, as JSON."],
    ]),
    response_format: {
      type: "json_schema",
      json_schema: { name: "trip", schema: TRIP },
    },
  }),
  images: (endpoint, words) => ({
    messages: [{
      role: "user",
      content: [
        { type: "text", text: "Before." },
        ...["image/jpeg", "image/webp"].map((media, at) =>
          picture(endpoint, `data:${media};base64,${at}${PIXEL.slice(1)}`)
        ),
        { type: "text", text: words },
      ],
    }],
  }),
  image: (endpoint, words) => ({
    messages: [{
      role: "user",
      content: [
        picture(endpoint, `data:image/png;base64,${PIXEL}`),
        { type: "text", text: words },
      ],
    }],
  }),
  "image-url": (endpoint, words) => ({
    messages: [{
      role: "user",
      content: [picture(endpoint, PICTURE_URL), { type: "text", text: words }],
    }],
  }),
};

export const TRIP: JsonObject = {
  type: "object",
  properties: { city: { type: "string" }, days: { type: "integer" } },
  required: ["city", "days"],
  additionalProperties: false,
};

/** Forms that are sent to only one endpoint. */
const ONLY: Readonly<Record<string, Generation>> = {
  "no-limit": "chat",
  "two-systems": "chat",
  "system-blocks": "messages",
  "kept-blocks": "messages",
  "stop-text": "chat",
  several: "chat",
  developer: "chat",
  hot: "chat",
  schema: "chat",
};

export const STREAMED = [
  "history",
  "blocks",
  "parts",
  "two-systems",
  "limit",
  "temperature",
  "zero",
  "top_p",
  "stops",
  "metadata",
  "own",
  "tools",
  "image",
] as const;

/** The user's text in requests whose form does not define its own. */
const WORDS = `Say hello.${DIFFICULT}`;

/** The forms that each scenario sends. */
const GROUPS = {
  talk: [
    "history",
    "long-history",
    "long-text",
    "blocks",
    "neighbours",
    "parts",
    "two-systems",
    "system-blocks",
    "kept-blocks",
    "developer",
  ],
  members: [
    "limit",
    "no-limit",
    "temperature",
    "zero",
    "hot",
    "top_p",
    "stops",
    "stop-text",
    "several",
    "metadata",
    "own",
    "schema",
    "unknown",
  ],
  things: ["tools", "image", "images", "image-url"],
} as const;

function requestsFor(
  session: Session,
  endpoint: Generation,
  route: Route,
  forms: readonly string[],
) {
  return forms.filter((form) => (ONLY[form] ?? endpoint) === endpoint)
    .flatMap((form) =>
      [false, ...STREAMED.some((name) => name === form) ? [true] : []].map(
        (stream) => async () => {
          const words = session.prompt("text", WORDS);
          await session.send(plainRequest(
            endpoint,
            route,
            `${form}-${stream ? "stream" : "whole"}`,
            words,
            {
              ...(stream ? streamed(endpoint) : {}),
              ...FORMS[form]?.(endpoint, words) ?? {},
            },
          ));
        },
      )
    );
}

function scenarioOf(group: keyof typeof GROUPS, about: string): Scenario {
  const forms = GROUPS[group];
  return {
    name: `sent-${group}`,
    about,
    mode: "replay",
    cost: perRoute(forms.length + STREAMED.length, 77),
    async play(session) {
      await runConcurrently(
        GENERATION.flatMap((endpoint) =>
          session.routes(endpoint).flatMap((route) =>
            requestsFor(session, endpoint, route, forms)
          )
        ),
      );
      const { entries } = session.replay.requestLog;
      const seen = entries.find(({ request }) =>
        [request.body, request.path, ...Object.values(request.headers)]
          .some((text) => text.includes(session.key))
      )?.request;
      const where = `${seen?.method} ${seen?.path.split("?")[0]}`;
      session.note(
        "the client's key was seen upstream",
        seen === undefined ? false : where.replaceAll(session.key, "(the key)"),
      );
    },
  };
}

/** One scenario for each group of forms. */
export const REQUEST_SCENARIOS: readonly Scenario[] = [
  scenarioOf("talk", "A long conversation, instructions, texts in parts"),
  scenarioOf("members", "Each documented member beside the conversation"),
  scenarioOf("things", "Tools and pictures"),
];
