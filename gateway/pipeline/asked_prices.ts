/**
 * What a request asks for beside tokens at the base rates, and whether the model's card has a price
 * for it. Nothing without a price is sent to an upstream.
 */
import { searchesWeb } from "../../translate/turns/web_search.ts";
import type { Capabilities } from "../../translate/model/capabilities.ts";
import type { Dialect } from "../../translate/dialect.ts";
import { ApiError } from "../../translate/model/error.ts";
import type {
  BilledAsk,
  BilledField,
} from "../../translate/model/billed_field.ts";
import {
  METERS,
  PART_METERS,
  type PartMeter,
  valueOf,
} from "../accounts/charges/meters.ts";
import {
  cardAt,
  prices,
  pricesMeter,
  pricesUse,
  type RateCard,
} from "../accounts/charges/rate_card.ts";
import type { Asked } from "../accounts/charges/asked.ts";
import type { DialectName } from "../../translate/model/request.ts";
import type { JsonObject } from "../../translate/bytes/json.ts";
import type { Caller } from "../accounts/accounts.ts";
import type { Gateway } from "../gateway.ts";
import type { Candidate } from "../upstream/catalogue/model_registry.ts";
import type { Model } from "../upstream/catalogue/catalogue.ts";

/**
 * Uses of a tool that are reserved where the request does not bound them: a vendor's own loop
 * pauses after about as many steps.
 */
const USES_WITHOUT_BOUND = 10;

/** The parts of a call that its prices depend on. */
interface PricedCall {
  readonly caller: Caller;
  readonly dialect: Dialect;
  readonly body: JsonObject;
  readonly model: Model;
  /** Any of them may reply. */
  readonly candidates: readonly Candidate[];
}

/**
 * What the request asks for; undefined where it is nothing but tokens at the base rates.
 *
 * @throws {ApiError} `invalid_request` naming the field that the model's card has no price for
 */
export function askedPrices(
  gateway: Gateway,
  call: PricedCall,
): Asked | undefined {
  const fields = call.dialect.billedFields(call.body);
  if (fields.length === 0) return undefined;
  const card = cardAt(call.model.cards, gateway.now());
  if (card === undefined) return undefined;
  const asked: {
    -readonly [K in "tier" | "speed" | "region"]?: string;
  } = {};
  const meters = new Set<PartMeter>();
  const uses: Record<string, number> = {};
  const otherCards = new Map<string, RateCard>();
  for (const { path, ask, isTranslated, isSearch } of fields) {
    const reached = call.candidates.filter(({ dialect, capabilities }) =>
      isTranslated || dialect.name === call.dialect.name ||
      (isSearch === true && searchesWeb(dialect.name, capabilities))
    );
    if (reached.length === 0) continue;
    switch (ask.type) {
      case "tier":
      case "speed":
      case "region": {
        const value = valueOf(ask.type, ask.value);
        if (value === undefined) break;
        if (!prices(card, ask.type, value)) {
          throw notPriced(call, path, `${ask.type} ${value.slice(0, 100)}`);
        }
        asked[ask.type] = value;
        break;
      }
      case "tokens":
        for (const meter of metersOf(ask.figure, call, reached)) {
          if (!pricesMeter(card, meter)) throw notPriced(call, path, meter);
          meters.add(meter);
        }
        break;
      case "use": {
        if (!pricesUse(card, ask.tool)) {
          throw notPriced(call, path, `uses.${ask.tool}`);
        }
        const isBound = reached.every(({ dialect }) =>
          dialect.name !== "generate_content"
        );
        uses[ask.tool] = (uses[ask.tool] ?? 0) +
          (isBound ? ask.most ?? USES_WITHOUT_BOUND : USES_WITHOUT_BOUND);
        break;
      }
      case "model": {
        if (card.isFree === true || card.atBaseRate?.has("fallbacks")) break;
        const other = cardOf(gateway, call, ask.model);
        if (other === undefined) {
          throw notPriced(call, path, `the model ${ask.model.slice(0, 100)}`);
        }
        otherCards.set(ask.model, other);
        break;
      }
      case "provider":
        if (card.isFree === true || card.atBaseRate?.has("provider")) break;
        throw notPriced(call, path, "the choice of a provider");
      case "payer":
        if (card.atBaseRate?.has("billing_policy")) break;
        throw new ApiError(
          "invalid_request",
          `${path}: is not allowed on this gateway: who pays is not the client's choice`,
          { code: "unsupported_parameter", param: path, retryable: false },
        );
    }
  }
  return {
    ...asked,
    ...(meters.size === 0 ? {} : { meters: [...meters] }),
    ...(Object.keys(uses).length === 0 ? {} : { uses }),
    ...(otherCards.size === 0 ? {} : { otherCards }),
  };
}

/** How long the long life of a cache is where a word of the messages format marks it. */
const LIFE_OF_WORD: Readonly<Record<Capabilities["cacheWord"], string>> = {
  cache_control: "cacheWrite1h",
  prompt_cache_breakpoint: "cacheWrite12h",
};

/** The same by format; undefined: by the word that the model takes. */
const LONG_LIFE: Readonly<Record<DialectName, string | undefined>> = {
  messages: "cacheWrite1h",
  converse: "cacheWrite1h",
  chat_completions: undefined,
  responses: "cacheWrite12h",
  // This format has no marks.
  generate_content: "",
};

/** The meter of a figure. The long life of a cache has another length in other formats. */
function metersOf(
  figure: (BilledAsk & { readonly type: "tokens" })["figure"],
  { dialect }: PricedCall,
  reached: readonly Candidate[],
): readonly PartMeter[] {
  const isLife = figure === "cacheWrite1h" || figure === "cacheWrite12h";
  const figures = new Set<string>();
  for (const { dialect: { name }, capabilities } of reached) {
    const isSame = name === dialect.name;
    // A mark of the messages format in another one, which this model does not read.
    if (
      isSame && name === "chat_completions" && figure === "cacheWrite1h" &&
      capabilities.cacheWord !== "cache_control"
    ) continue;
    // Only the messages format leaves out marks that the model does not take when bytes pass
    // through.
    const takesMarks = capabilities.cacheMarks !== "none" ||
      (isSame && name !== "messages");
    if (!isLife || (isSame && takesMarks)) figures.add(figure);
    else if (takesMarks) {
      figures.add(LONG_LIFE[name] ?? LIFE_OF_WORD[capabilities.cacheWord]);
    }
  }
  return PART_METERS.filter((meter) => figures.has(METERS[meter].counts));
}

/** The card of another model that the caller may call, by the vendor's own id. */
function cardOf(
  gateway: Gateway,
  { caller, candidates }: PricedCall,
  upstreamModel: string,
): RateCard | undefined {
  const vendors = new Set(candidates.map(({ name }) => name.split("/")[0]));
  const found = gateway.models.models.find((model) =>
    caller.allows(model.id) &&
    model.candidates.some((one) =>
      one.upstreamModel === upstreamModel && vendors.has(one.vendor)
    )
  );
  return found && cardAt(found.cards, gateway.now());
}

function notPriced(
  { model }: PricedCall,
  path: BilledField["path"],
  rate: string,
): ApiError {
  return new ApiError(
    "invalid_request",
    `${path}: has no price on this gateway for the model ${model.id}, so it cannot be used`,
    {
      code: "field_not_priced",
      param: path,
      retryable: false,
      note:
        `models.${model.id}.price has no rate for ${rate}; add one, or let it pass in at_base_rate`,
    },
  );
}
