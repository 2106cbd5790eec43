/**
 * Fuzzing of requests, for tests: each spoiled body is decoded as its endpoint does and encoded for
 * every kind of candidate. A defect is any exception other than an `ApiError` with a 4xx status,
 * and any upstream body that is not a JSON object.
 */
import { replyHeaders } from "../../../gateway/http/reply_headers.ts";
import { readConfig } from "../../../gateway/settings/config.ts";
import { inputTokens } from "../../../gateway/pipeline/estimate.ts";
import {
  type Candidate,
  modelRegistry,
} from "../../../gateway/upstream/catalogue/model_registry.ts";
import { replayVendors } from "../../../gateway/upstream/catalogue/replay_vendors.ts";
import {
  type Capabilities,
  DEFAULT_CAPABILITIES,
} from "../../../translate/model/capabilities.ts";
import { chatCompletions } from "../../../translate/formats/chat_completions/mod.ts";
import type { Dialect, UpstreamDialect } from "../../../translate/dialect.ts";
import { ApiError, invalidField } from "../../../translate/model/error.ts";
import { exactJson } from "../../../translate/bytes/exact_json.ts";
import {
  isObject,
  type JsonObject,
  MAX_LEVELS,
} from "../../../translate/bytes/json.ts";
import { duplicateKey } from "../../../translate/bytes/duplicate_key.ts";
import { topLevelOf } from "../../../translate/bytes/json_splice.ts";
import { generateContent } from "../../../translate/formats/generate_content/mod.ts";
import {
  decodeCountTokens,
  messages,
} from "../../../translate/formats/messages/mod.ts";
import { upstreamRequest } from "../../../translate/upstream_request.ts";
import type { GenerationRequest } from "../../../translate/model/request.ts";
import { responses } from "../../../translate/formats/responses/mod.ts";
import { atOnce, type Steps } from "../../../translate/steps.ts";
import { type Dice, diceOf, pick, spoiled } from "./spoil.ts";
import { requestSeeds } from "./spoil_seeds.ts";

interface Tally {
  tried: number;
  /** Bodies that at least one candidate accepted. */
  sent: number;
  refused: number;
}

/** A spoiled input that was handled wrongly. */
export interface Defect {
  readonly body: string;
  /** The endpoint, and the candidate if one had been chosen. */
  readonly where: string;
  readonly error: unknown;
}

interface Endpoint {
  readonly path: string;
  readonly dialect: Dialect;
  readonly decode: (body: unknown) => Steps<GenerationRequest>;
  readonly seeds: readonly JsonObject[];
}

interface Target {
  readonly name: string;
  readonly dialect: UpstreamDialect;
  readonly can: Capabilities;
}

const ENCODER = new TextEncoder();
const DECODER = new TextDecoder("utf-8", { fatal: true });
/** Longest permitted error message, in characters. */
const MAX_MESSAGE = 2_000;

function endpoints(): readonly Endpoint[] {
  const own = requestSeeds("messages");
  const chat = requestSeeds("chat_completions");
  const items = requestSeeds("responses");
  const content = requestSeeds("generate_content");
  return [
    {
      path: "/v1/messages",
      dialect: messages,
      decode: messages.decodeRequest,
      // Some bodies are in the other format, a common mistake of clients.
      seeds: [...own, ...own, ...own, ...chat.slice(0, 3)],
    },
    {
      path: "/v1/messages/count_tokens",
      dialect: messages,
      decode: decodeCountTokens,
      seeds: own,
    },
    {
      path: "/v1/chat/completions",
      dialect: chatCompletions,
      decode: chatCompletions.decodeRequest,
      seeds: [...chat, ...chat, ...chat, ...own.slice(0, 2)],
    },
    {
      path: "/v1/responses",
      dialect: responses,
      decode: responses.decodeRequest,
      seeds: [...items, ...items, ...items, ...chat.slice(0, 2)],
    },
    {
      path: "/v1beta/models/m:generateContent",
      dialect: generateContent,
      decode: generateContent.decodeRequest,
      seeds: [...content, ...content, ...content, ...chat.slice(0, 2)],
    },
  ];
}

/**
 * Every distinct candidate of the built-in catalogue, and a variant of each with fewer
 * capabilities.
 */
function targets(caller: Dialect): readonly Target[] {
  const config = readConfig({
    env: { GATEWAY_KEY: "sk-test-0123456789abcdef" },
    readFile: () => "{}",
  });
  const offer = modelRegistry(
    config.catalogue,
    replayVendors("http://127.0.0.1", config.catalogue.vendors),
  );
  const different = new Map<string, Target>();
  const candidates: readonly Pick<
    Candidate,
    "name" | "dialect" | "capabilities"
  >[] = [
    ...offer.models.flatMap((model) => offer.candidates(model, caller.name)),
    // The replay upstream does not support it.
    {
      name: "responses",
      dialect: responses,
      capabilities: DEFAULT_CAPABILITIES.responses,
    },
  ];
  for (const { name, dialect, capabilities: can } of candidates) {
    const lesser: Capabilities = {
      ...can,
      structuredOutput: false,
      mediaUrls: false,
      systemAnywhere: !can.systemAnywhere,
      imagesInToolResult: !can.imagesInToolResult,
      prefill: !can.prefill,
      replayReasoning: true,
      schema: can.schema === "openapi" ? "json_schema" : "openapi",
    };
    for (const one of [can, lesser]) {
      different.set(dialect.name + JSON.stringify(one), {
        name: `${name} (${dialect.name})`,
        dialect,
        can: one,
      });
    }
  }
  return [...different.values()];
}

/** Tries `count` spoiled bodies and calls `found` for every defect. */
export function trySpoiledRequests(
  count: number,
  seed: number,
  found: (defect: Defect) => void,
): Tally {
  const dice = diceOf(seed);
  const tally: Tally = { tried: 0, sent: 0, refused: 0 };
  const all = endpoints().map((endpoint) => ({
    endpoint,
    targets: targets(endpoint.dialect),
  }));
  while (tally.tried < count) {
    const { endpoint, targets } = pick(dice, all);
    const body = spoiled(
      { model: "m", ...pick(dice, endpoint.seeds) },
      endpoint.seeds,
      dice,
    );
    if (!body.startsWith("{")) continue;
    tryBody(body, endpoint, targets, dice, tally, found);
  }
  return tally;
}

/** Candidates per body; more would add little because they are much alike. */
const TARGETS_EACH = 4;

function tryBody(
  body: string,
  endpoint: Endpoint,
  targets: readonly Target[],
  dice: Dice,
  tally: Tally,
  found: (defect: Defect) => void,
): void {
  tally.tried++;
  const bytes = ENCODER.encode(body);
  const caller = guarded(
    () => {
      const parsed = exactJson(body);
      if (!isObject(parsed)) throw new Error("the body is no object");
      const top = topLevelOf(bytes, body);
      if (duplicateKey(body) !== undefined) {
        throw new Error("a key is repeated");
      }
      if (top.depth > MAX_LEVELS) throw invalidField("", "nests too deep");
      const request = atOnce(endpoint.decode(parsed));
      atOnce(inputTokens(request));
      return { dialect: endpoint.dialect, bytes, body: parsed, top, request };
    },
    (error) => found({ body, where: endpoint.path, error }),
    endpoint.dialect,
  );
  if (caller === undefined) {
    tally.refused++;
    return;
  }
  let sent = false;
  for (let n = 0; n < TARGETS_EACH; n++) {
    const target = pick(dice, targets);
    sent = guarded(
          () => {
            const { bytes, dropped: losses } = upstreamRequest(
              caller,
              target.dialect,
              "upstream-model",
              target.can,
            );
            const written: unknown = JSON.parse(DECODER.decode(bytes));
            if (!isObject(written)) throw new Error("no object is sent");
            new Headers(
              replyHeaders({
                stream: caller.request.stream,
                dialect: endpoint.dialect,
                limits: {},
                dropped: losses,
                replay: false,
                nowMs: 0,
              }),
            );
            return true;
          },
          (error) =>
            found({ body, where: `${endpoint.path} → ${target.name}`, error }),
          endpoint.dialect,
        ) === true || sent;
  }
  if (sent) tally.sent++;
  else tally.refused++;
}

/**
 * Runs `work`. An `ApiError` that blames the client is accepted; any other exception goes to
 * `found`.
 */
function guarded<T>(
  work: () => T,
  found: (error: unknown) => void,
  dialect: Dialect,
): T | undefined {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) found(error);
    else {
      const encoded = dialect.encodeError(error, "req_1");
      if (encoded.status >= 500 || error.message.length > MAX_MESSAGE) {
        found(error);
      }
    }
    return undefined;
  }
}
