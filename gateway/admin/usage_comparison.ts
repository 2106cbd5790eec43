/**
 * What past usage would have cost at the prices of another model.
 */
import { z } from "zod";
import { compact } from "../../translate/bytes/compact.ts";
import { invalidField } from "../../translate/model/error.ts";
import type { JsonObject } from "../../translate/bytes/json.ts";
import { check } from "../../translate/model/schema.ts";
import {
  costMicroUsd,
  type ModelPrice,
  type Tokens,
} from "../accounts/charges/money.ts";
import type { Admin } from "../accounts/repositories/admin.ts";
import type { UsageQuery } from "../accounts/reports/usage_query.ts";
import type {
  UsageLine,
  UsageReport,
} from "../accounts/reports/usage_report.ts";
import { type AccountScope, assertOwnKey } from "./account_scope.ts";
import { USAGE_FILTERS, usageFilters } from "./usage.ts";
import { COUNTS, countsJson } from "../accounts/charges/counts_json.ts";

export interface ComparedModel {
  readonly id: string;
  readonly price: ModelPrice;
}

/** Usage of a model, and what it would have cost. */
interface ComparedLine {
  /** The model that was called. */
  readonly model: string;
  readonly requests: number;
  readonly tokens: Tokens;
  /** What was charged. */
  readonly microUsd: number;
  /** The same tokens at the other prices, rounded up once. */
  readonly wouldBeMicroUsd: number;
}

/** Usage by model, beside what it would have cost. */
export interface UsageComparison {
  readonly at: ComparedModel;
  /** The prices that the tokens were counted at. */
  readonly price: ModelPrice;
  readonly lines: readonly ComparedLine[];
  readonly requests: number;
  readonly microUsd: number;
  /** Sum of the lines. */
  readonly wouldBeMicroUsd: number;
  /** What the figure takes for granted, in sentences. */
  readonly assumptions: readonly string[];
  /** See `UsageReport`. */
  readonly figuresFromDay?: string;
}

/**
 * Compares the usage of a query, model by model.
 *
 * @throws {ApiError} `invalid_request` for an invalid day; `unavailable`
 */
export async function compareUsage(
  admin: Admin,
  query: UsageQuery,
  at: ComparedModel,
): Promise<UsageComparison> {
  const price = fullPrice(at.price);
  const lines: ComparedLine[] = [];
  let estimated = 0;
  let figuresFromDay: string | undefined;
  let after: string | undefined;
  do {
    const report: UsageReport = await admin.usage({
      ...query,
      by: ["model"],
      limit: 1000,
      ...compact({ after }),
    });
    for (const line of report.data) lines.push(comparedLine(line, price));
    estimated = report.totals.estimatedRequests;
    figuresFromDay = report.figuresFromDay;
    after = report.next;
  } while (after !== undefined);
  const sum = (of: (line: ComparedLine) => number): number =>
    lines.reduce((total, line) => total + of(line), 0);
  return {
    at,
    price,
    lines,
    requests: sum(({ requests }) => requests),
    microUsd: sum(({ microUsd }) => microUsd),
    wouldBeMicroUsd: sum(({ wouldBeMicroUsd }) => wouldBeMicroUsd),
    assumptions: assumptionsOf(at, lines, estimated),
    ...compact({ figuresFromDay }),
  };
}

/** Without a price of its own, a cached token is counted as any of the prompt. */
function fullPrice(price: ModelPrice): ModelPrice {
  return {
    ...price,
    cacheRead: price.cacheRead === 0 ? price.input : price.cacheRead,
    cacheWrite: price.cacheWrite === 0 ? price.input : price.cacheWrite,
  };
}

function comparedLine(line: UsageLine, price: ModelPrice): ComparedLine {
  const tokens = {
    input: line.inputTokens,
    cacheRead: line.cacheReadTokens,
    cacheWrite: line.cacheWriteTokens,
    output: line.outputTokens,
  };
  return {
    model: line.model ?? "",
    requests: line.requests,
    tokens,
    microUsd: line.microUsd,
    wouldBeMicroUsd: costMicroUsd(price, tokens),
  };
}

function assumptionsOf(
  { id, price }: ComparedModel,
  lines: readonly ComparedLine[],
  estimated: number,
): readonly string[] {
  const has = (kind: keyof Tokens): boolean =>
    lines.some(({ tokens }) => tokens[kind] > 0);
  const requests = lines.reduce((sum, one) => sum + one.requests, 0);
  return [
    "The same tokens: another model counts a prompt differently and writes replies of another length.",
    `The base rates of ${id}: lives of cache writes, long prompts, tiers, speeds, regions and tools are left out.`,
    `Today's prices of ${id}; what was charged is at the prices of each call's moment.`,
    ...(price.input === 0 && price.output === 0
      ? [`${id} has no price: its calls are free of charge.`]
      : []),
    ...(price.cacheRead === 0 && price.input > 0 && has("cacheRead")
      ? [
        `${id} has no price for tokens read from a cache: they are counted at its input price.`,
      ]
      : has("cacheRead")
      ? [`As many tokens are read from the cache of ${id}.`]
      : []),
    ...(price.cacheWrite === 0 && price.input > 0 && has("cacheWrite")
      ? [
        `${id} has no price for tokens written to a cache: they are counted at its input price.`,
      ]
      : []),
    `Each line is rounded up once to a micro-dollar. Charges are rounded up call by call, which would add at most ${requests} micro-dollars.`,
    ...(estimated === 0
      ? []
      : [`Calls whose tokens are estimates: ${estimated}.`]),
  ];
}

const QUERY = {
  at: z.string().min(1).max(200).describe("the model whose prices to apply"),
  ...USAGE_FILTERS,
  model: USAGE_FILTERS.model.describe("usage of this model only"),
};

export const comparisonQuery: z.ZodObject<typeof QUERY, z.core.$strict> = z
  .strictObject(QUERY);

const SUMS = {
  requests: z.int(),
  micro_usd: z.int().describe("what was charged"),
  would_be_micro_usd: z.int().describe("the same tokens at the other prices"),
};

/** JSON form of a comparison. */
export const comparisonReply: z.ZodType = z.object({
  object: z.literal("usage_comparison"),
  at: z.string(),
  price: COUNTS.describe("micro-dollars per million tokens"),
  data: z.array(z.object({
    model: z.string().describe("the model that was called"),
    ...SUMS,
    tokens: COUNTS,
  })),
  totals: z.object(SUMS).describe("sums of the lines"),
  assumptions: z.array(z.string()),
  figures_from: z.string().nullable().describe(
    "the figures hold from this day on; null: all of them hold",
  ),
});

/**
 * What the usage that a credential may see would have cost.
 *
 * @throws {ApiError} `invalid_request` naming the field of the query; `unavailable`
 */
export async function ownUsageComparison(
  admin: Admin,
  scope: AccountScope,
  models: readonly ComparedModel[],
  query: JsonObject,
): Promise<JsonObject> {
  const { at: id, ...filters } = check(comparisonQuery, query);
  assertOwnKey(scope, filters.key);
  const at = models.find((one) => one.id === id);
  if (at === undefined) {
    throw invalidField("at", "is no model of this gateway; see GET /v1/models");
  }
  const result = await compareUsage(admin, {
    ...usageFilters(filters),
    ...scope,
  }, at);
  return {
    object: "usage_comparison",
    at: id,
    price: countsJson(result.price),
    data: result.lines.map((line) => ({
      model: line.model,
      requests: line.requests,
      micro_usd: line.microUsd,
      would_be_micro_usd: line.wouldBeMicroUsd,
      tokens: countsJson(line.tokens),
    })),
    totals: {
      requests: result.requests,
      micro_usd: result.microUsd,
      would_be_micro_usd: result.wouldBeMicroUsd,
    },
    assumptions: result.assumptions,
    figures_from: result.figuresFromDay ?? null,
  };
}
