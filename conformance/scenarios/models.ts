/** Scenarios of the area `models`. */
import { textAt } from "../evidence/json_path.ts";
import { GENERATION, plainAsk, streamed } from "../suite/asks.ts";
import { calls, free, type Scenario } from "../suite/scenario.ts";

const MODEL_LIST: Scenario = {
  name: "model-list",
  about:
    "The model list twice, as both formats' libraries ask for it, page by page, and one entry alone",
  mode: "both",
  cost: free(11),
  async play(lab) {
    const get = (
      label: string,
      path: string,
      more: Partial<Parameters<typeof lab.send>[0]> = {},
    ) => lab.send({ label, endpoint: "models", path, ...more });
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

/** At most so many listed models are called; in a live run fewer. */
const MAX_CALLED = { replay: 24, live: 4 } as const;

const LISTED_MODELS: Scenario = {
  name: "listed-models",
  about: "Every listed model on both endpoints, whole and streamed",
  mode: "both",
  cost: ({ models }) =>
    calls(2 * Math.min(models.length, MAX_CALLED.live), 16)({
      models,
      messages: [],
      chat: [],
    }),
  async play(lab) {
    const ids = lab.profile.models.slice(0, MAX_CALLED[lab.mode]);
    await Promise.all(GENERATION.map(async (endpoint) => {
      for (const [at, id] of ids.entries()) {
        const route = { name: String(at), via: undefined, model: id };
        const words = (): string => lab.prompt("text", "Say hello.");
        await lab.send(
          plainAsk(endpoint, route, "whole", words(), { max_tokens: 16 }),
        );
        if (lab.mode === "live") continue;
        await lab.send(
          plainAsk(endpoint, route, "stream", words(), {
            max_tokens: 16,
            ...streamed(endpoint),
          }),
        );
      }
    }));
  },
};

/** Ids that are near a listed one and are not listed. */
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

/** The vendor does not have the model either, should it be asked; nor by the part of the id after a vendor's name. */
function withoutModel(form: string, model: string): string {
  const params = new URLSearchParams({ "no-model": model });
  const own = model.split(/[/:,]/).at(-1) ?? "";
  if (form !== "with-vendor") params.set("nor-model", own);
  return `text?${params}`;
}

const UNLISTED_MODELS: Scenario = {
  name: "unlisted-models",
  about: "Model ids that are not listed, most of them near a listed one",
  mode: "both",
  cost: calls(18, 16),
  async play(lab) {
    for (const endpoint of GENERATION) {
      for (const route of lab.routes(endpoint).slice(0, 1)) {
        const send = (form: string, model: string, stream = false) =>
          lab.send(
            plainAsk(
              endpoint,
              route,
              form,
              lab.prompt(
                form === "control" ? "text" : withoutModel(form, model),
                "Say hello.",
              ),
              {
                max_tokens: 16,
                model,
                ...(stream ? streamed(endpoint) : {}),
              },
            ),
          );
        await send("control", route.model);
        for (const [form, change] of Object.entries(NEAR)) {
          const model = change(route.model);
          if (lab.profile.models.includes(model)) continue;
          if (lab.mode === "live" && form.includes("blank")) continue;
          await send(form, model);
          if (lab.mode === "replay") {
            await send(`${form}-stream`, model, true);
          }
        }
      }
    }
  },
};

/** The scenarios. */
export const MODELS_SCENARIOS: readonly Scenario[] = [
  MODEL_LIST,
  LISTED_MODELS,
  UNLISTED_MODELS,
];
