/**
 * What is to be done about the cards of the configuration: models without one, old ones, and rates
 * that the model's vendor bills by and its card lacks.
 */
import type { Catalogue, Model } from "../upstream/catalogue/catalogue.ts";
import { generates } from "../upstream/catalogue/models.ts";
import type { HostKind } from "../upstream/hosts/host.ts";
import { type PresentCard, presentCard } from "./present_card.ts";

/** Something to be done about one model. */
interface CardFinding {
  readonly id: string;
  readonly finding: "no card" | "old card" | "no rate";
  readonly detail: string;
}

/** A rate that a vendor bills by: of a meter, a tool's uses, or under a value of a dimension. */
type BilledBy = string | { readonly tier: string } | {
  readonly region: string;
};

/**
 * What hosts bill by for all their newer models, beside the four base rates. Sources, read
 * 2026-11-23: platform.claude.com/docs/en/about-claude/pricing,
 * developers.openai.com/api/docs/pricing, ai.google.dev/gemini-api/docs/pricing.
 */
const BILLED: Partial<Readonly<Record<HostKind, readonly BilledBy[]>>> = {
  vendora: ["cache_write_1h", "uses.web_search", { region: "us" }],
  claude_aws: ["cache_write_1h", "uses.web_search", { region: "us" }],
  google_claude: ["cache_write_1h", "uses.web_search", { region: "us" }],
  foundry_messages: ["cache_write_1h", "uses.web_search"],
  vertex_claude: ["cache_write_1h", "uses.web_search"],
  bedrock_messages: ["cache_write_1h"],
  bedrock_invoke: ["cache_write_1h"],
  mantle_messages: ["cache_write_1h"],
  vendorb: ["uses.web_search", { tier: "priority" }],
  vendorc: ["audio_input", "uses.web_search"],
  vertex_gemini: ["audio_input", "uses.web_search"],
  vertex_express: ["audio_input", "uses.web_search"],
};

const DAY_MS = 86_400_000;

/**
 * The findings, in the order of the models.
 *
 * @param isAlias models that have the card of another one
 * @param maxAgeMs absent: no card is too old
 */
export function checkCards(
  { models, vendors }: Catalogue,
  isAlias: (model: Model) => boolean,
  nowMs: number,
  maxAgeMs: number | undefined,
): readonly CardFinding[] {
  return models.flatMap((model): readonly CardFinding[] => {
    const { id } = model;
    const card = presentCard(model, nowMs);
    if (isAlias(model)) return [];
    if (card === undefined) {
      return [{ id, finding: "no card", detail: "calls are refused" }];
    }
    if (card.isFree) return [];
    const kinds = new Set(
      (generates(model) ? model.candidates : []).map(({ vendor }) =>
        vendors.find(({ name }) => name === vendor)?.kind
      ),
    );
    const billed = new Map(
      [...kinds].flatMap((kind) => kind === undefined ? [] : BILLED[kind] ?? [])
        .map((one) => [billedText(one), one]),
    );
    const lacking = [...billed].filter(([, one]) => lacks(card, one));
    return [
      ...(maxAgeMs === undefined ? [] : ageFinding(id, card, nowMs, maxAgeMs)),
      ...(lacking.length === 0 ? [] : [{
        id,
        finding: "no rate" as const,
        detail: lacking.map(([text]) => text).join(", "),
      }]),
    ];
  });
}

function ageFinding(
  id: string,
  { fromMs }: PresentCard,
  nowMs: number,
  maxAgeMs: number,
): readonly CardFinding[] {
  const days = fromMs === undefined
    ? undefined
    : Math.floor((nowMs - fromMs) / DAY_MS);
  if (days !== undefined && nowMs - (fromMs ?? 0) <= maxAgeMs) return [];
  return [{
    id,
    finding: "old card",
    detail: days === undefined ? "it has no date" : `${days} days old`,
  }];
}

function lacks(card: PresentCard, billed: BilledBy): boolean {
  const { rates, uses, when, atBaseRate } = card;
  if (typeof billed !== "string") {
    return !Object.entries(billed).every(([dimension, value]) =>
      atBaseRate.includes(dimension) ||
      when.some((one) =>
        (dimension === "tier" ? one.tier : one.region) === value
      )
    );
  }
  const tool = /^uses\.(.+)$/.exec(billed)?.[1];
  return !atBaseRate.includes(billed) &&
    (tool === undefined
      ? rates[billed] === undefined &&
        !when.some((one) => one.rates?.[billed] !== undefined)
      : uses[tool] === undefined);
}

function billedText(billed: BilledBy): string {
  return typeof billed === "string"
    ? billed
    : Object.entries(billed).map(([dimension, value]) =>
      `${dimension} ${value}`
    ).join();
}
