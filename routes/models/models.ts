/**
 * `GET /v1/models` and `GET /v1/models/:id`, in one shape that the client libraries of both formats
 * read.
 */
import { accessibleModel } from "../../gateway/pipeline/model_access.ts";
import type { Model } from "../../gateway/upstream/catalogue/catalogue.ts";
import { cardAt, pricesUse } from "../../gateway/accounts/charges/rate_card.ts";
import type { Gateway } from "../../gateway/gateway.ts";
import {
  GENERATES,
  generates,
} from "../../gateway/upstream/catalogue/models.ts";
import { searchesWeb } from "../../translate/turns/web_search.ts";
import { ApiError } from "../../translate/model/error.ts";
import { type JsonObject } from "../../translate/bytes/json.ts";
import { contentModel, contentModels } from "../generate_content.ts";
import { listedModels } from "./listed_models.ts";
import { modelCapabilities } from "./model_capabilities.ts";
import { requireOnce } from "../target.ts";
import { jsonReply, type KeyRoute, type RouteContext } from "../route.ts";

const MAX_LIMIT = 1000;

export const MODELS_ROUTES: readonly KeyRoute[] = [
  {
    access: "key",
    method: "GET",
    path: "/v1/models",
    operation: "listModels",
    handle(context, caller) {
      if (readsContentShape(context)) return contentModels(context, caller);
      const { gateway, query } = context;
      requireOnce(query, REPEATABLE);
      const models = stagesOf(query).includes(STAGE)
        ? listedModels(gateway, caller)
        : [];
      return jsonReply(page(models, query, gateway));
    },
  },
  {
    access: "key",
    method: "GET",
    path: "/v1/models/:id",
    operation: "getModel",
    handle(context, caller) {
      if (readsContentShape(context)) return contentModel(context, caller);
      const { gateway, parameters } = context;
      return jsonReply(
        modelEntry(
          accessibleModel(gateway, caller, parameters["id"] ?? ""),
          gateway,
        ),
      );
    },
  },
];

/** Whether the client speaks generate-content, which has its own shape at this path. */
function readsContentShape({ request }: RouteContext): boolean {
  return request.headers.has("x-goog-api-key");
}

const REPEATABLE = ["lifecycle", "lifecycle[]"] as const;

/** The stages of a model's life that a client can ask for. */
const STAGES: readonly string[] = ["active", "deprecated", "retired"];
/** The stage of every model of the catalogue: others are not offered, or not known to be. */
const STAGE = "active";

function modelEntry(
  model: Model,
  { models, now }: Pick<Gateway, "models" | "now">,
): JsonObject {
  const card = cardAt(model.cards, now());
  const [first] = models.candidates(model, "messages");
  return {
    id: model.id,
    object: "model",
    created: model.created,
    owned_by: model.vendor,
    type: "model",
    display_name: model.displayName,
    created_at: new Date(model.created * 1000).toISOString().replace(
      ".000Z",
      "Z",
    ),
    max_input_tokens: model.contextTokens,
    max_tokens: model.capabilities.maxOutputTokens ?? null,
    // They are about generated replies.
    capabilities: first === undefined || !generates(model)
      ? null
      : modelCapabilities(
        first.dialect.name,
        first.capabilities,
        (tool) => card !== undefined && pricesUse(card, tool),
        models.candidates(model, "messages", "web search").some((one) =>
          searchesWeb(one.dialect.name, one.capabilities)
        ),
      ),
    operations: [...model.operations ?? GENERATES],
    lifecycle: STAGE,
    deprecated_at: null,
    retires_at: null,
    line: null,
    allowed_fallback_models: null,
  };
}

/**
 * The whole list, or the page that a client of the message format requests (`limit`, `after_id`,
 * `before_id`).
 */
function page(
  models: readonly Model[],
  query: URLSearchParams,
  gateway: Pick<Gateway, "models" | "now">,
): JsonObject {
  const limit = limitOf(query.get("limit"));
  const after = position(models, query.get("after_id"), "after_id");
  const before = position(models, query.get("before_id"), "before_id");
  const within = models.slice(
    after === undefined ? 0 : after + 1,
    before ?? models.length,
  );
  const shown = before === undefined || after !== undefined
    ? within.slice(0, limit)
    : within.slice(-limit);
  return {
    object: "list",
    data: shown.map((model) => modelEntry(model, gateway)),
    has_more: shown.length < within.length,
    first_id: shown[0]?.id ?? null,
    last_id: shown.at(-1)?.id ?? null,
  };
}

/** The stages to list, from `lifecycle`; the format's default without it. */
function stagesOf(query: URLSearchParams): readonly string[] {
  const asked = REPEATABLE.flatMap((name) => query.getAll(name));
  const unknown = asked.find((stage) => !STAGES.includes(stage));
  if (unknown === undefined) {
    return asked.length === 0 ? ["active", "deprecated"] : asked;
  }
  throw new ApiError(
    "invalid_request",
    `lifecycle: expected ${STAGES.join(", ")}`,
    { param: "lifecycle" },
  );
}

function limitOf(text: string | null): number {
  if (text === null) return MAX_LIMIT;
  const limit = Number(text);
  if (/^\d+$/.test(text) && limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw new ApiError(
    "invalid_request",
    `limit: must be a whole number from 1 to ${MAX_LIMIT}`,
    { param: "limit" },
  );
}

function position(
  models: readonly Model[],
  id: string | null,
  name: string,
): number | undefined {
  if (id === null) return undefined;
  const at = models.findIndex((model) => model.id === id);
  if (at >= 0) return at;
  throw new ApiError("invalid_request", `${name}: no such model in the list`, {
    param: name,
  });
}
