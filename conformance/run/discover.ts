/** Discovers a target's models before the scenarios, and the upstream dialect of each. */
import { compact } from "@model-gateway/replay/compact";
import { at, listAt, textAt } from "../evidence/json_path.ts";
import type { DialectName } from "@model-gateway/replay/parse_request";
import type { Json } from "@model-gateway/replay/json";
import { contentRequest, contents } from "../suite/content_requests.ts";
import {
  COUNT_FORMATS,
  type CountName,
  countRequest,
} from "../suite/count_formats.ts";
import { webSocketHandshake } from "../suite/web_socket_handshake.ts";
import { Session, type Stage } from "../suite/session.ts";
import {
  type Feature,
  OPTIONAL_ENDPOINTS,
  type Route,
  type Routed,
  type TargetProfile,
  UNKNOWN_TARGET,
} from "../suite/route.ts";
import type { Exchange } from "../evidence/exchange.ts";
import { outcome } from "../suite/evidence.ts";
import { unreachableText } from "./unreachable.ts";

/** The target is unreachable, refuses the key or has other upstreams: nothing can be judged. */
export class Unreachable extends Error {}

interface DiscoveryOptions extends Stage {
  /**
   * Comma-separated models for the message endpoint, and for the chat endpoint unless `chatModel`
   * is given.
   */
  readonly model?: string;
  /** Comma-separated models for the chat endpoint. */
  readonly chatModel?: string;
  /** Comma-separated models that make embeddings; absent: those that the list declares. */
  readonly embeddingModel?: string;
  /** The optional features to look for; absent: all of them. */
  readonly asks?: ReadonlySet<Feature>;
}

/** Words in the ids of cheap models; a live run uses the first model that matches. */
const CHEAP = /haiku|flash|mini|nano|lite|small/i;

/** Most models that are tried to find their dialect. */
const MAX_TRIED = 24;

/**
 * Discovers the models of the target.
 * @throws {Unreachable} when it does not answer or refuses the key
 */
export async function discover(
  unknown: DiscoveryOptions,
): Promise<TargetProfile> {
  const session = new Session({
    ...unknown,
    scenario: "discover",
    profile: UNKNOWN_TARGET,
  });
  const list = await session.send({ label: "models", endpoint: "models" });
  const status = list.head?.status;
  if (status === undefined) {
    throw new Unreachable(unreachableText(unknown.baseUrl, list));
  }
  // A list may need another key than the models that are given.
  if ((status === 401 || status === 403) && unknown.model === undefined) {
    throw new Unreachable(`the key is refused: ${outcome(list)}`);
  }
  const listed = listAt(list.json, "data").filter((entry) =>
    textAt(entry, "id") !== ""
  );
  const models = listed.filter((entry) => !isForEmbeddings(entry)).map(idOf);
  const { model, chatModel = model } = unknown;
  if (models.length === 0 && model === undefined && chatModel === undefined) {
    const flaw =
      `GET /v1/models lists no model, and none is given with --model (the base address must not include /v1): ${
        outcome(list)
      }`;
    const untried = Object.values(OPTIONAL_ENDPOINTS).flat();
    const lacks = untried.map((feature) =>
      [feature, "no model is known to try it with"] as const
    );
    return { ...UNKNOWN_TARGET, flaw, lacks: new Map(lacks) };
  }
  if (unknown.mode === "live") {
    const usual = models.find((id) => CHEAP.test(id)) ?? models[0];
    const route = (id: string | undefined): Route[] =>
      id === undefined ? [] : [{ name: "model", via: undefined, model: id }];
    const first = idsIn(chatModel)?.[0] ?? usual;
    return await withOptional(
      session,
      unknown,
      {
        ...UNKNOWN_TARGET,
        models,
        messages: route(idsIn(model)?.[0] ?? usual),
        chat: route(first),
      },
      first === undefined ? [] : [first],
      listed,
    );
  }
  const candidates = (wanted: string | undefined): readonly string[] =>
    idsIn(wanted) ?? models.slice(0, MAX_TRIED);
  const messages = await routesOf(session, "messages", candidates(model));
  const chat = await routesOf(session, "chat", candidates(chatModel));
  if (messages.length + chat.length === 0) {
    const last = session.finish().exchanges.at(-1);
    throw new Unreachable(
      `no request reached the replay upstream: do the target's upstream addresses point at it? The last reply was ${
        last === undefined ? "none" : outcome(last)
      }`,
    );
  }
  return await withOptional(
    session,
    unknown,
    { ...UNKNOWN_TARGET, models, messages, chat },
    candidates(chatModel),
    listed,
  );
}

const idOf = (entry: Json): string => textAt(entry, "id");

/** Whether a listed model makes embeddings and generates nothing. */
function isForEmbeddings(entry: Json): boolean {
  const operations = at(entry, "operations");
  return Array.isArray(operations)
    ? !operations.includes("generation")
    : /embed/i.test(idOf(entry));
}

/** The profile with the optional endpoints that the target offers. */
async function withOptional(
  session: Session,
  options: DiscoveryOptions,
  required: TargetProfile,
  ids: readonly string[],
  listed: readonly Json[],
): Promise<TargetProfile> {
  const { asks } = options;
  const asksFor = (...features: readonly Feature[]): boolean =>
    asks === undefined || features.some((feature) => asks.has(feature));
  const lacks = new Map<Feature, string>();
  const routesWith = async (
    endpoint: Routed,
    models: readonly string[],
    tried: Exchange[],
  ): Promise<Route[]> => {
    if (session.mode === "replay") {
      return await routesOf(session, endpoint, models, tried);
    }
    const [model] = models;
    if (model === undefined) return [];
    tried.push(await tryModel(session, endpoint, model));
    return [{ name: "model", via: undefined, model }];
  };
  let profile = required;
  if (
    asksFor(
      "responses",
      "stored-responses",
      "second-key",
      "signs-of-life",
      "response-counts",
      "web-socket",
    )
  ) {
    const tried: Exchange[] = [];
    const responses = await routesWith("responses", ids, tried);
    profile = { ...profile, responses };
    for (const lack of lacksOf(tried, options)) lacks.set(...lack);
  }
  if (asksFor("generate-content", "content-counts")) {
    const tried: Exchange[] = [];
    const routes = await routesWith("generate_content", ids, tried);
    profile = { ...profile, generate_content: routes };
    // A target without the format may not know its header for keys.
    const [model] = ids;
    const isUnsigned = tried.every(({ head }) => head?.status === 401);
    noteLack(
      lacks,
      "generate-content",
      isUnsigned && model !== undefined
        ? [await tryModel(session, "generate_content", model, "bearer")]
        : tried,
    );
  }
  if (asksFor("embeddings")) {
    const models = idsIn(options.embeddingModel) ??
      listed.filter(isForEmbeddings).map(idOf).slice(0, MAX_TRIED);
    const tried: Exchange[] = [];
    const embeddings = await routesWith("embeddings", models, tried);
    profile = { ...profile, embeddings };
    if (models.length === 0) {
      lacks.set(
        "embeddings",
        "GET /v1/models lists no model for them; --embedding-model names one",
      );
    } else noteLack(lacks, "embeddings", tried);
  }
  if (asksFor("web-socket") && profile.responses.length > 0) {
    const handshake = await session.send(webSocketHandshake(session.key));
    if (handshake.head?.status !== 101) {
      lacks.set("web-socket", outcome(handshake));
    }
  }
  for (const [name, { feature, endpoint }] of Object.entries(COUNT_FORMATS)) {
    const [route] = profile[endpoint];
    if (!asksFor(feature) || route === undefined) continue;
    const request = countRequest(name as CountName, route, "try", "Hello.");
    noteLack(lacks, feature, [await session.send(request)]);
  }
  return { ...profile, lacks };
}

/** Notes that the target does not offer a feature, unless a reply shows that it does. */
function noteLack(
  lacks: Map<Feature, string>,
  feature: Feature,
  tried: readonly Exchange[],
): void {
  const last = tried.at(-1);
  if (last === undefined) return;
  if (!tried.some(isOffered)) lacks.set(feature, outcome(last));
}

/** Members that only a reply has. */
const REPLIES = ["output", "candidates", "input_tokens", "totalTokens", "data"];

/**
 * Whether an exchange shows that the target has an endpoint. A status shows nothing: a target that
 * answers every path has any status for those that it does not know.
 */
function isOffered({ json, upstream }: Exchange): boolean {
  return upstream.length > 0 ||
    REPLIES.some((name) => at(json, name) !== undefined);
}

/** The optional features that no reply of the Responses endpoint shows. */
function lacksOf(
  tried: readonly Exchange[],
  { otherKey, keepAliveMs }: DiscoveryOptions,
): Map<Feature, string> {
  const lacks = new Map<Feature, string>();
  if (otherKey === undefined) {
    lacks.set("second-key", "CONFORMANCE_OTHER_KEY or --other-key gives one");
  }
  if (keepAliveMs === undefined) {
    lacks.set("signs-of-life", "--keep-alive gives their interval");
  }
  const last = tried.at(-1);
  if (last === undefined) return lacks;
  if (!tried.some(isOffered)) {
    lacks.set("responses", outcome(last));
    lacks.set("stored-responses", outcome(last));
  } else if (!tried.some(({ json }) => at(json, "store") === true)) {
    lacks.set("stored-responses", "replies say `store: false`");
  }
  return lacks;
}

/** The ids in a flag's value; a comma inside an id is written as %2C. */
function idsIn(text: string | undefined): string[] | undefined {
  return text?.split(",").map((id) => id.replaceAll(/%2c/gi, ","));
}

async function routesOf(
  session: Session,
  endpoint: Routed,
  models: readonly string[],
  all: Exchange[] = [],
): Promise<Route[]> {
  const routes = new Map<DialectName, Route>();
  const tries = await Promise.all(
    models.map(async (model) => ({
      model,
      tried: await tryModel(session, endpoint, model),
    })),
  );
  for (const { model, tried } of tries) {
    all.push(tried);
    const via = tried.upstream[0]?.dialect;
    if (via === undefined || routes.has(via)) continue;
    routes.set(via, { name: via, via, model });
  }
  return [...routes.values()];
}

async function tryModel(
  session: Session,
  endpoint: Routed,
  model: string,
  auth?: "bearer",
): Promise<Exchange> {
  const prompt = session.prompt("text", "Hello.");
  const route: Route = { name: model, via: undefined, model };
  if (endpoint === "generate_content") {
    return await session.send({
      ...contentRequest(route, "whole", "try", contents(prompt)),
      ...compact({ auth }),
    });
  }
  const input = { model, input: prompt };
  return await session.send({
    label: `${endpoint}/${model}`,
    endpoint,
    route,
    body: {
      json: endpoint === "embeddings"
        ? input
        : endpoint === "responses"
        ? { ...input, max_output_tokens: 64 }
        : {
          model,
          max_tokens: 64,
          messages: [{ role: "user", content: prompt }],
        },
    },
  });
}
