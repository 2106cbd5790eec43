/**
 * The addresses of Azure's convention, below `/openai`: the routes of `/v1`, and those that name the
 * model as a deployment in the path. The query's `api-version` may be any.
 */
import { parseJsonBody } from "../gateway/http/request_body.ts";
import { spliceFields } from "../translate/bytes/json_splice.ts";
import { CHAT_COMPLETIONS_ROUTES } from "./chat_completions.ts";
import { EMBEDDINGS_ROUTE } from "./embeddings.ts";
import { readBody } from "./generation.ts";
import { MODELS_ROUTES } from "./models/models.ts";
import { RESPONSES_ROUTES } from "./responses.ts";
import type { KeyRoute, Route, RouteContext } from "./route.ts";

const SAME: readonly Route[] = [
  ...CHAT_COMPLETIONS_ROUTES,
  EMBEDDINGS_ROUTE,
  ...RESPONSES_ROUTES,
  ...MODELS_ROUTES,
];

/** Described in the API description by their addresses below `/v1` alone. */
export const AZURE_ROUTES: readonly KeyRoute[] = SAME.filter((route) =>
  route.access === "key"
).flatMap(({ operation: _, ...route }) => {
  const tail = route.path.slice("/v1".length);
  const isPaid = route.method === "POST" && route.isPaid === true;
  return [
    { ...route, path: `/openai/v1${tail}` },
    // Older versions of the API have these without a deployment.
    ...(tail.startsWith("/responses") || tail.startsWith("/models")
      ? [{ ...route, path: `/openai${tail}` }]
      : []),
    ...(isPaid ? [ofDeployment(route, tail)] : []),
  ];
});

/** The route with its model in the path, whatever the body names. */
function ofDeployment(route: KeyRoute, tail: string): KeyRoute {
  return {
    ...route,
    path: `/openai/deployments/:deployment${tail}`,
    handle: (context, caller) =>
      route.handle({
        ...context,
        turn: { readBody: () => readDeploymentBody(context) },
      }, caller),
  };
}

async function readDeploymentBody(
  context: RouteContext,
): ReturnType<typeof readBody> {
  const body = await readBody(context);
  const model = context.parameters["deployment"] ?? "";
  return body.json["model"] === model
    ? body
    : await parseJsonBody(spliceFields(body.bytes, { model }, body.top));
}
