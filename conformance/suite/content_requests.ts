/** Requests of the generate-content format. */
import type { JsonObject } from "@model-gateway/replay/json";
import type { Cost } from "./budget.ts";
import type { Route } from "./route.ts";
import type { Scenario } from "./scenario.ts";
import type { Session } from "./session.ts";
import type { TestRequest } from "./test_request.ts";

/** The forms of a reply: one object, an event stream, and a stream that is one JSON array. */
export const CONTENT_FORMS = ["whole", "stream", "array"] as const;

export type ContentForm = typeof CONTENT_FORMS[number];

const ENDS: Readonly<Record<ContentForm, string>> = {
  whole: ":generateContent",
  stream: ":streamGenerateContent?alt=sse",
  array: ":streamGenerateContent",
};

/** The path of a model, with what follows its id. */
export function contentPath(model: string, end: string): string {
  return `/v1beta/models/${encodeURIComponent(model)}${end}`;
}

/** A turn of the user with one text. */
export function contents(text: string): JsonObject {
  return { contents: [{ role: "user", parts: [{ text }] }] };
}

/** The most tokens of a reply, where a request states nothing else. */
export const MOST_TOKENS = 32;

/** A request; its label is `generate_content/ROUTE/FORM/NAME`. */
export function contentRequest(
  route: Route,
  form: ContentForm,
  name: string,
  body: JsonObject,
): TestRequest {
  return {
    label: `generate_content/${route.name}/${form}/${name}`,
    endpoint: "generate_content",
    route,
    path: contentPath(route.model, ENDS[form]),
    body: {
      json: { generationConfig: { maxOutputTokens: MOST_TOKENS }, ...body },
    },
  };
}

/** Sends the bodies in these forms on every route, the requests of a route at once. */
export async function sendContents(
  session: Session,
  bodies: Readonly<Record<string, () => JsonObject>>,
  forms: readonly ContentForm[] = CONTENT_FORMS,
): Promise<void> {
  for (const route of session.routes("generate_content")) {
    await Promise.all(
      Object.entries(bodies).flatMap(([name, body]) =>
        forms.map((form) =>
          session.send(contentRequest(route, form, name, body()))
        )
      ),
    );
  }
}

/** The cost of `requests` calls on every route. */
export function contentCost(
  requests: number,
  outputTokens: number = MOST_TOKENS,
): Scenario["cost"] {
  return ({ generate_content: routes }): Cost => ({
    requests: requests * routes.length,
    inputTokens: requests * routes.length * 200,
    outputTokens: requests * routes.length * outputTokens,
  });
}
