/** Requests of the area `responses`. */
import type { JsonObject } from "@model-gateway/replay/json";
import type { Cost } from "../../suite/budget.ts";
import type { Route } from "../../suite/route.ts";
import type { Scenario } from "../../suite/scenario.ts";
import type { Session } from "../../suite/session.ts";
import type { TestRequest } from "../../suite/test_request.ts";

export const FORMS = ["whole", "stream"] as const;

export const WEATHER: JsonObject = {
  type: "function",
  name: "get_weather",
  description: "The weather of a city.",
  parameters: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  },
  strict: false,
};

/** Input tokens of the longest request, and output tokens that a request asks for at most. */
const INPUT_TOKENS = 320;
const OUTPUT_TOKENS = 64;

/** The fewest output tokens that every vendor accepts. */
export const FEW_TOKENS = 16;

/** The cost of `requests` calls on every route. */
export function perRoute(
  requests: number,
  outputTokens: number = OUTPUT_TOKENS,
): Scenario["cost"] {
  return ({ responses }): Cost => ({
    requests: requests * responses.length,
    inputTokens: requests * responses.length * INPUT_TOKENS,
    outputTokens: requests * responses.length * outputTokens,
  });
}

/** A request; its label is `responses/ROUTE/FORM/NAME`. */
export function requestOf(
  route: Route,
  form: typeof FORMS[number],
  name: string,
  body: JsonObject,
): TestRequest {
  return {
    label: `responses/${route.name}/${form}/${name}`,
    endpoint: "responses",
    route,
    body: {
      json: {
        model: route.model,
        max_output_tokens: OUTPUT_TOKENS,
        ...(form === "stream" ? { stream: true } : {}),
        ...body,
      },
    },
  };
}

/** Sends the bodies in both forms on every route, the requests of a route at once. */
export async function sendInBothForms(
  session: Session,
  bodies: Readonly<Record<string, () => JsonObject>>,
  forms: readonly (typeof FORMS[number])[] = FORMS,
): Promise<void> {
  for (const route of session.routes("responses")) {
    await Promise.all(
      Object.entries(bodies).flatMap(([name, body]) =>
        forms.map((form) => session.send(requestOf(route, form, name, body())))
      ),
    );
  }
}

/**
 * Members of a request that the replay upstream answers as the request demands, not from a fixture:
 * the marker, by which the request is found upstream, is not in the last turn.
 */
export function demanding(session: Session, words: string): JsonObject {
  return {
    instructions: session.prompt("text", "Do what is asked."),
    input: words,
  };
}
