/** Scenarios of the area `models`. */
import { textAt } from "../../evidence/json_path.ts";
import { GENERATION, plainRequest, streamed } from "../../suite/requests.ts";
import { ownerOf } from "../../suite/other_models.ts";
import { UNKNOWN_TARGET } from "../../suite/route.ts";
import { calls, free, type Scenario } from "../../suite/scenario.ts";

export const MODEL_LIST_NAME = "model-list";

const MODEL_LIST: Scenario = {
  name: MODEL_LIST_NAME,
  about:
    "The model list twice, as both formats' libraries request it, page by page, and one entry alone",
  mode: "both",
  cost: free(10),
  async play(session) {
    const get = (
      label: string,
      path: string,
      more: Partial<Parameters<typeof session.send>[0]> = {},
    ) => session.send({ label, endpoint: "models", path, ...more });
    const first = await get("first", "/v1/models");
    await get("second", "/v1/models");
    await get("message-library", "/v1/models", {
      auth: "x-api-key",
      headers: [
        ["anthropic-version", "2023-06-01"],
        ["vendora-version", "2023-06-01"],
      ],
    });
    await get("with-query", "/v1/models?limit=1000");
    const id = textAt(first.json, "data.0.id");
    const second = textAt(first.json, "data.1.id");
    await get("page-one", "/v1/models?limit=1");
    await get(
      "page-two",
      `/v1/models?limit=1&after_id=${encodeURIComponent(id)}`,
    );
    await get(
      "page-before",
      `/v1/models?limit=1&before_id=${encodeURIComponent(second)}`,
    );
    await get("entry", `/v1/models/${encodeURIComponent(id)}`);
    await get("no-entry", "/v1/models/no-such-model-1");
    await get("entry-without-key", `/v1/models/${encodeURIComponent(id)}`, {
      auth: "none",
    });
  },
};

/** Most listed models that are called; fewer in a live run. */
const MAX_CALLED = { replay: 24, live: 12 } as const;

/** At most this many ids, spread over the whole list. */
function spread(ids: readonly string[], most: number): readonly string[] {
  if (ids.length <= most) return ids;
  return Array.from(
    { length: most },
    (_, at) => ids[Math.floor(at * ids.length / most)] ?? "",
  );
}

const LISTED_MODELS: Scenario = {
  name: "listed-models",
  about:
    "Every listed model on both endpoints, whole and streamed; a live run alternates: whole on one endpoint, streamed on the other",
  mode: "both",
  cost: ({ models }) =>
    calls(2 * Math.min(models.length, MAX_CALLED.live), 16)(UNKNOWN_TARGET),
  async play(session) {
    const ids = spread(session.profile.models, MAX_CALLED[session.mode]);
    await Promise.all(GENERATION.map(async (endpoint) => {
      for (const [at, id] of ids.entries()) {
        const route = { name: String(at), via: undefined, model: id };
        const words = (): string => session.prompt("text", "Say hello.");
        // In a live run each model answers whole on one endpoint and streamed on the other; the
        // models of one owner alternate.
        const rank = ids.slice(0, at).filter((other) =>
          ownerOf(other) === ownerOf(id)
        ).length;
        const isWhole = (rank % 2 === 0) === (endpoint === "messages");
        if (session.mode === "replay" || isWhole) {
          await session.send(
            plainRequest(endpoint, route, "whole", words(), { max_tokens: 16 }),
          );
        }
        if (session.mode === "replay" || !isWhole) {
          await session.send(
            plainRequest(endpoint, route, "stream", words(), {
              max_tokens: 16,
              ...streamed(endpoint),
            }),
          );
        }
      }
    }));
  },
};

/** Unlisted ids similar to a listed one. */
const NEAR: Readonly<Record<string, (id: string) => string>> = {
  "cut": (id) => id.slice(0, -1),
  "extended": (id) => `${id}x`,
  "upper-case": (id) => id.toUpperCase(),
  "blank-after": (id) => `${id} `,
  "blank-before": (id) => ` ${id}`,
  "with-vendor": (id) => `nobody/${id}`,
  "newline-after": (id) => `${id}\n`,
  "unknown": () => "no-such-model-1",
};

/**
 * A marker: if the gateway asks the vendor, the vendor does not have the model either, also when
 * the gateway drops a vendor prefix.
 */
function withoutModel(form: string, model: string): string {
  const params = new URLSearchParams({ "no-model": model });
  const own = model.split(/[/:,]/).at(-1) ?? "";
  if (form !== "with-vendor") params.set("nor-model", own);
  return `text?${params}`;
}

const UNLISTED_MODELS: Scenario = {
  name: "unlisted-models",
  about: "Unlisted model ids, most of them similar to a listed one",
  mode: "both",
  cost: calls(16, 16),
  async play(session) {
    for (const endpoint of GENERATION) {
      for (const route of session.routes(endpoint).slice(0, 1)) {
        const send = (form: string, model: string, stream = false) =>
          session.send(
            plainRequest(
              endpoint,
              route,
              form,
              session.prompt(
                form === "control" ? "text" : withoutModel(form, model),
                "Say hello.",
              ),
              { max_tokens: 16, model, ...(stream ? streamed(endpoint) : {}) },
            ),
          );
        await send("control", route.model);
        for (const [form, change] of Object.entries(NEAR)) {
          const model = change(route.model);
          if (session.profile.models.includes(model)) continue;
          // The wrong requests of the area `errors` include the unknown id.
          if (session.mode === "live" && /blank|unknown/.test(form)) continue;
          await send(form, model);
          if (session.mode === "replay") {
            await send(`${form}-stream`, model, true);
          }
        }
      }
    }
  },
};

export const MODELS_SCENARIOS: readonly Scenario[] = [
  MODEL_LIST,
  LISTED_MODELS,
  UNLISTED_MODELS,
];
