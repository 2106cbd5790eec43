/** What is found out about a target before the scenarios: its models, and which upstream dialect each is reached by. */
import type { Redaction } from "../evidence/redaction.ts";
import { listAt, textAt } from "../evidence/json_path.ts";
import type { Dialect } from "../replay/call.ts";
import type { Budget } from "../suite/budget.ts";
import type { ReplayServer } from "../replay.ts";
import { Lab } from "../suite/lab.ts";
import type { Patience } from "../suite/patience.ts";
import type { Route, TargetProfile } from "../suite/scenario.ts";
import type { Exchange, Header } from "../evidence/exchange.ts";
import { outcome } from "../suite/evidence.ts";

/** The target cannot be reached, or refuses the key: nothing can be judged. */
export class Unreachable extends Error {}

/** What discovery needs. */
export interface Unknown {
  /** How the target is judged. */
  readonly mode: "live" | "replay";
  /** Base address. */
  readonly baseUrl: string;
  /** The valid key. */
  readonly key: string;
  /** Headers that every request carries, as given on the command line. */
  readonly headers?: readonly Header[];
  /** The models for the message endpoint, with commas, and for the other one unless those are given too. */
  readonly model?: string;
  /** The models for the chat endpoint, with commas. */
  readonly chatModel?: string;
  /** The replay upstream. */
  readonly replay?: ReplayServer;
  /** What hides keys. */
  readonly redaction: Redaction;
  /** The caps. */
  readonly budget: Budget;
  /** What waits where a live target limits the rate. */
  readonly patience?: Patience;
  /** A request may last so long. */
  readonly timeoutMs: number;
  /** Makes nonces differ. */
  readonly seed: number;
}

/** Models that cost little, by words in their ids; the first that matches is used in a live run. */
const CHEAP = /haiku|flash|mini|nano|lite|small/i;

/** At most so many models are tried for their dialect. */
const MAX_TRIED = 24;

/**
 * Finds out what the target offers.
 * @throws {Unreachable} when it does not answer or refuses the key
 */
export async function discover(unknown: Unknown): Promise<TargetProfile> {
  const nothing: TargetProfile = { models: [], messages: [], chat: [] };
  const lab = new Lab({ ...unknown, scenario: "discover", profile: nothing });
  const list = await lab.send({ label: "models", endpoint: "models" });
  const status = list.head?.status;
  if (status === undefined) {
    throw new Unreachable(`${unknown.baseUrl} is ${outcome(list)}`);
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
        `GET /v1/models names no model, and none is given with --model (the base address stands without /v1): ${
          outcome(list)
        }`,
      );
    }
    const route = (id: string | undefined): Route[] =>
      id === undefined ? [] : [{ name: "model", via: undefined, model: id }];
    return {
      models,
      messages: route(idsIn(model)?.[0] ?? usual),
      chat: route(idsIn(chatModel)?.[0] ?? usual),
    };
  }
  const candidates = (wanted: string | undefined): readonly string[] =>
    idsIn(wanted) ?? models.slice(0, MAX_TRIED);
  const messages = await routesOf(lab, "messages", candidates(model));
  const chat = await routesOf(lab, "chat", candidates(chatModel));
  if (messages.length + chat.length === 0) {
    const last = lab.finish().exchanges.at(-1);
    throw new Unreachable(
      `no request reached the replay upstream: do the target's upstream addresses point at it? The last reply was ${
        last === undefined ? "none" : outcome(last)
      }`,
    );
  }
  return { models, messages, chat };
}

/** The ids that a flag names; a comma inside an id is written as %2C. */
function idsIn(text: string | undefined): string[] | undefined {
  return text?.split(",").map((id) => id.replaceAll(/%2c/gi, ","));
}

async function routesOf(
  lab: Lab,
  endpoint: "messages" | "chat",
  models: readonly string[],
): Promise<Route[]> {
  const routes = new Map<Dialect, Route>();
  const tries = await Promise.all(
    models.map(async (model) => ({
      model,
      tried: await ask(lab, endpoint, model),
    })),
  );
  for (const { model, tried } of tries) {
    const via = tried.upstream[0]?.dialect;
    if (via === undefined || routes.has(via)) continue;
    routes.set(via, { name: via, via, model });
  }
  return [...routes.values()];
}

async function ask(
  lab: Lab,
  endpoint: "messages" | "chat",
  model: string,
): Promise<Exchange> {
  return await lab.send({
    label: `${endpoint}/${model}`,
    endpoint,
    route: { name: model, via: undefined, model },
    body: {
      json: {
        model,
        max_tokens: 64,
        messages: [{ role: "user", content: lab.prompt("text", "Hello.") }],
      },
    },
  });
}
