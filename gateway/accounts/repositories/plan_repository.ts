/**
 * Administration of plans.
 *
 * @module
 */
import { invalidField } from "../../../translate/model/error.ts";
import type { Plan } from "../records.ts";
import {
  alreadyExists,
  type IdempotencyKey,
  type ListPage,
  listPage,
  newId,
  notFound,
  pageLimit,
  type PageRequest,
  readRows,
  type RepositoryContext,
  writeOnce,
} from "./repository.ts";
import { planFrom } from "../store/account_state_rows.ts";
import type { Sql, SqlValue } from "../store/store.ts";

/** Settings of a plan. Null means no limit; absent means unchanged, or no limit for a new plan. */
export interface PlanSettings {
  /** Models that may be called; null: all models. */
  readonly models?: readonly string[] | null;
  readonly requestsPerMinute?: number | null;
  readonly tokensPerMinute?: number | null;
  /** Maximum number of requests at once. */
  readonly concurrentRequests?: number | null;
  /** Spending limit per day (UTC). */
  readonly spendPerDayMicroUsd?: number | null;
}

/** Creates, changes and lists plans. */
export interface PlanRepository {
  /**
   * Creates a plan.
   *
   * @throws {ApiError} `conflict` if the id exists, `invalid_request` for an unknown model
   */
  create(
    settings: PlanSettings & { readonly id?: string },
    idempotencyKey?: IdempotencyKey,
  ): Promise<Plan>;
  /**
   * Changes the given settings.
   *
   * @throws {ApiError} `not_found`; `invalid_request` for an unknown model
   */
  update(
    id: string,
    settings: PlanSettings,
    idempotencyKey?: IdempotencyKey,
  ): Promise<Plan>;
  /**
   * Reads one plan.
   *
   * @throws {ApiError} `not_found`
   */
  get(id: string): Promise<Plan>;
  /** Lists the plans by id. */
  list(page?: PageRequest): Promise<ListPage<Plan>>;
}

/** Creates the repository. */
export function planRepository(context: RepositoryContext): PlanRepository {
  return {
    async create(settings, idempotencyKey) {
      checkModels(context, settings.models);
      return await writeOnce(context, async (sql) => {
        const id = settings.id ?? newId("plan", context.now());
        if (await find(sql, id) !== undefined) throw alreadyExists("plan", id);
        await sql.all(
          "INSERT INTO plans (id, created_at_ms) VALUES ($1, $2)",
          [id, context.now()],
        );
        return await set(sql, id, settings);
      }, idempotencyKey);
    },
    async update(id, settings, idempotencyKey) {
      checkModels(context, settings.models);
      return await writeOnce(
        context,
        (sql) => set(sql, id, settings),
        idempotencyKey,
      );
    },
    async get(id) {
      const [row] = await readRows(
        context,
        "SELECT * FROM plans WHERE id = $1",
        [
          id,
        ],
      );
      if (row === undefined) throw notFound("plan", id);
      return planFrom(row);
    },
    async list(page = {}) {
      const limit = pageLimit(page);
      const rows = await readRows(
        context,
        "SELECT * FROM plans WHERE id > $1 ORDER BY id LIMIT $2",
        [page.after ?? "", limit + 1],
      );
      return listPage(
        rows.map((row) => planFrom(row)),
        limit,
        (plan) => plan.id,
      );
    },
  };
}

async function find(sql: Sql, id: string): Promise<Plan | undefined> {
  const [row] = await sql.all("SELECT * FROM plans WHERE id = $1", [id]);
  return row === undefined ? undefined : planFrom(row);
}

async function set(
  sql: Sql,
  id: string,
  settings: PlanSettings,
): Promise<Plan> {
  const { models } = settings;
  const fields: Readonly<Record<string, SqlValue | undefined>> = {
    models: models === undefined || models === null
      ? models
      : JSON.stringify([...new Set(models)]),
    requests_per_minute: settings.requestsPerMinute,
    tokens_per_minute: settings.tokensPerMinute,
    concurrent_requests: settings.concurrentRequests,
    spend_per_day_micro_usd: settings.spendPerDayMicroUsd,
  };
  for (const [column, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    await sql.all(`UPDATE plans SET ${column} = $2 WHERE id = $1`, [id, value]);
  }
  const plan = await find(sql, id);
  if (plan === undefined) throw notFound("plan", id);
  return plan;
}

/**
 * Checks that all models exist.
 *
 * @throws {ApiError} `invalid_request` naming the first unknown model
 */
export function checkModels(
  context: RepositoryContext,
  models: readonly string[] | null | undefined,
): void {
  for (const [index, model] of (models ?? []).entries()) {
    if (!context.knowsModel(model)) {
      throw invalidField(`models[${index}]`, `there is no model ${model}`);
    }
  }
}
