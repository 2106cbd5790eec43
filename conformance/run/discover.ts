/** Discovers a target's models before the scenarios, and the upstream dialect of each. */
import { at, listAt, textAt } from "../evidence/json_path.ts";
import type { DialectName } from "@model-gateway/replay/parse_request";
import { Session, type Stage } from "../suite/session.ts";
import {
  type Feature,
  type Route,
  type TargetProfile,
  UNKNOWN_TARGET,
} from "../suite/route.ts";
import type { Generation } from "../suite/requests.ts";
import type { Exchange } from "../evidence/exchange.ts";
import { outcome } from "../suite/evidence.ts";
import { unreachableText } from "./unreachable.ts";

/** The target is unreachable or refuses the key, so that nothing can be judged. */
export class Unreachable extends Error {}

/** The settings of discovery. */
interface DiscoveryOptions extends Stage {
  /**
   * Comma-separated models for the message endpoint, and for the chat endpoint unless `chatModel`
   * is given.
   */
  readonly model?: string;
  /** Comma-separated models for the chat endpoint. */
  readonly chatModel?: string;
  /** False: no request is made to the Responses endpoint. */
  readonly asksResponses?: boolean;
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
  if (status === 401 || status === 403) {
    throw new Unreachable(`the key is refused: ${outcome(list)}`);
  }
  const models = listAt(list.json, "data").map((entry) => textAt(entry, "id"))
    .filter((id) => id !== "");
  const { model, chatModel = model } = unknown;
  if (unknown.mode === "live") {
    const usual = models.find((id) => CHEAP.test(id)) ?? models[0];
    if (usual === undefined && model === undefined && chatModel === undefined) {
      throw new Unreachable(
        `GET /v1/models lists no model, and none is given with --model (the base address must not include /v1): ${
          outcome(list)
        }`,
      );
    }
    const route = (id: string | undefined): Route[] =>
      id === undefined ? [] : [{ name: "model", via: undefined, model: id }];
    const first = idsIn(chatModel)?.[0] ?? usual;
    return {
      models,
      messages: route(idsIn(model)?.[0] ?? usual),
      chat: route(first),
      responses: route(first),
      lacks: unknown.asksResponses === false || first === undefined
        ? new Map()
        : lacksOf([await tryModel(session, "responses", first)], unknown),
    };
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
  if (unknown.asksResponses === false) {
    return { models, messages, chat, responses: [], lacks: new Map() };
  }
  const tried: Exchange[] = [];
  const ids = candidates(chatModel);
  const responses = await routesOf(session, "responses", ids, tried);
  const lacks = lacksOf(tried, unknown);
  return { models, messages, chat, responses, lacks };
}

/** Statuses with which a target without an endpoint answers. */
const NO_ENDPOINT: readonly unknown[] = [404, 405, 501];

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
  if (tried.every(({ head }) => NO_ENDPOINT.includes(head?.status))) {
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
  endpoint: Generation | "responses",
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
  endpoint: Generation | "responses",
  model: string,
): Promise<Exchange> {
  const prompt = session.prompt("text", "Hello.");
  return await session.send({
    label: `${endpoint}/${model}`,
    endpoint,
    route: { name: model, via: undefined, model },
    body: {
      json: endpoint === "responses"
        ? { model, max_output_tokens: 64, input: prompt }
        : {
          model,
          max_tokens: 64,
          messages: [{ role: "user", content: prompt }],
        },
    },
  });
}
