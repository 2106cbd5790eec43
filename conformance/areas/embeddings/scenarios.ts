/** Scenarios of the area `embeddings`. */
import type { Json, JsonObject } from "@model-gateway/replay/json";
import type { Cost } from "../../suite/budget.ts";
import type { Route } from "../../suite/route.ts";
import { free, type Scenario } from "../../suite/scenario.ts";
import type { Session } from "../../suite/session.ts";
import type { TestRequest } from "../../suite/test_request.ts";

export const EMBEDDINGS = "embeddings";

const WORDS = ["A cat sat.", "A dog ran.", "Nothing happened."];

/** Length of the vectors that a request asks for. */
export const DIMENSIONS = 64;

const TOKENS = [9906, 1917, 0];

/** Requests with one mistake each, and the members that a refusal may name. */
export const WRONG: Readonly<
  Record<string, { readonly body: JsonObject; readonly param: RegExp }>
> = {
  "no-input": { body: { input: undefined }, param: /^input/ },
  "input-number": { body: { input: 7 }, param: /^input/ },
  "input-empty": { body: { input: "" }, param: /^input/ },
  "inputs-none": { body: { input: [] }, param: /^input/ },
  "encoding-unknown": {
    body: { encoding_format: "hex" },
    param: /^encoding_format$/,
  },
  "dimensions-zero": { body: { dimensions: 0 }, param: /^dimensions$/ },
};

/** A request; its label is `embeddings/ROUTE/NAME`. */
function requestOf(
  route: Route,
  name: string,
  body: JsonObject,
): TestRequest {
  return {
    label: `embeddings/${route.name}/${name}`,
    endpoint: "embeddings",
    route,
    body: { json: { model: route.model, ...body } },
  };
}

/** Sends the bodies on every route, the requests of a route at once. */
async function sendEach(
  session: Session,
  bodies: Readonly<Record<string, () => JsonObject>>,
  routes: readonly Route[] = session.routes("embeddings"),
): Promise<void> {
  for (const route of routes) {
    await Promise.all(
      Object.entries(bodies).map(([name, body]) =>
        session.send(requestOf(route, name, body()))
      ),
    );
  }
}

function perRoute(requests: number): Scenario["cost"] {
  return ({ embeddings }): Cost => ({
    requests: requests * embeddings.length,
    inputTokens: requests * embeddings.length * 60,
    outputTokens: 0,
  });
}

/** The words with a marker, by which the request is found upstream. */
function marked(session: Session): readonly Json[] {
  return WORDS.map((words, index) =>
    index === 0 ? session.prompt("text", words) : words
  );
}

export const EMBEDDINGS_SCENARIOS: readonly Scenario[] = [
  {
    name: EMBEDDINGS,
    about: "Vectors of a text, of several, and in both encodings",
    mode: "both",
    cost: perRoute(4),
    async play(session) {
      const several = marked(session);
      await sendEach(session, {
        text: () => ({ input: marked(session)[0] ?? "" }),
        texts: () => ({ input: several }),
        float: () => ({ input: several, encoding_format: "float" }),
        base64: () => ({ input: several, encoding_format: "base64" }),
      });
    },
  },
  {
    name: "embeddings-length",
    about: "Vectors of a length that the request states",
    mode: "replay",
    cost: perRoute(2),
    play: (session) =>
      sendEach(session, {
        short: () => ({ input: marked(session), dimensions: DIMENSIONS }),
        "short-base64": () => ({
          input: marked(session),
          dimensions: DIMENSIONS,
          encoding_format: "base64",
        }),
      }),
  },
  {
    name: "embeddings-tokens",
    about: "Tokens in place of texts",
    mode: "replay",
    cost: perRoute(2),
    play: (session) =>
      sendEach(
        session,
        {
          tokens: () => ({ input: TOKENS }),
          "several-tokens": () => ({ input: [TOKENS, TOKENS.slice(1)] }),
        },
        session.routes("embeddings").filter(({ via }) =>
          via === "chat_completions"
        ),
      ),
  },
  {
    name: "embeddings-refused",
    about: "Requests with one mistake each, another model, and no key",
    mode: "both",
    cost: ({ embeddings }) => ({
      requests: embeddings.length === 0 ? 0 : Object.keys(WRONG).length + 3,
      inputTokens: 200,
      outputTokens: 0,
    }),
    async play(session) {
      const [route] = session.routes("embeddings");
      if (route === undefined) return;
      for (const [name, { body }] of Object.entries(WRONG)) {
        await session.send(
          requestOf(route, name, { input: "Hello.", ...body }),
        );
      }
      const { route: _, ...plain } = requestOf(route, "no-key", {
        input: "Hello.",
      });
      await session.send({ ...plain, auth: "none" });
      const other = (name: string, model: string) =>
        session.send(
          requestOf({ ...route, model }, name, { input: "Hello." }),
        );
      await other("unknown-model", "no-such-model-17");
      const [generating] = session.routes("chat");
      if (generating !== undefined) await other("generating", generating.model);
    },
  },
  {
    name: "embeddings-failures",
    about: "Vendors of embeddings that refuse a request",
    mode: "replay",
    cost: free(0),
    play: (session) =>
      sendEach(session, {
        limited: () => ({
          input: session.prompt("status?code=429&after=7", "Hello."),
        }),
        failing: () => ({ input: session.prompt("status?code=500", "Hello.") }),
      }),
  },
];
