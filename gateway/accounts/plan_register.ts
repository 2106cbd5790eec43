/**
 * The plans: what accounts may do.
 *
 * @module
 */
import { invalidField } from "../../translate/error.ts";
import type { Plan } from "./records.ts";
import {
  change,
  look,
  newId,
  notFound,
  type Once,
  type Page,
  pageLimit,
  pageOf,
  type PageRequest,
  type RegisterContext,
  taken,
} from "./register.ts";
import { planFrom } from "./standing_rows.ts";
import type { Sql, SqlValue } from "./store.ts";

/** What of a plan can be set. Null is "no limit", absent is "as it was" (or no limit, for a new plan). */
export interface PlanSettings {
  /** The models that may be called; null: every one. */
  readonly models?: readonly string[] | null;
  /** Requests a minute. */
  readonly requestsPerMinute?: number | null;
  /** Tokens a minute. */
  readonly tokensPerMinute?: number | null;
  /** Requests under way at once. */
  readonly concurrentRequests?: number | null;
  /** Spending a day (UTC). */
  readonly spendPerDayMicroUsd?: number | null;
}

/** The plans. */
export interface PlanRegister {
  /**
   * Makes a plan.
   *
   * @throws {ApiError} `conflict` when the id is taken, `invalid_request` for an unknown model
   */
  create(
    settings: PlanSettings & { readonly id?: string },
    once?: Once,
  ): Promise<Plan>;
  /**
   * Changes what is told.
   *
   * @throws {ApiError} `not_found`; `invalid_request` for an unknown model
   */
  update(id: string, settings: PlanSettings, once?: Once): Promise<Plan>;
  /**
   * Finds a plan.
   *
   * @throws {ApiError} `not_found`
   */
  get(id: string): Promise<Plan>;
  /** The plans, by their ids. */
  list(page?: PageRequest): Promise<Page<Plan>>;
}

/** Opens the register. */
export function planRegister(context: RegisterContext): PlanRegister {
  return {
    async create(settings, once) {
      checkModels(context, settings.models);
      return await change(context, async (sql) => {
        const id = settings.id ?? newId("plan", context.now());
        if (await find(sql, id) !== undefined) throw taken("plan", id);
        await sql.all(
          "INSERT INTO plans (id, created_at_ms) VALUES ($1, $2)",
          [id, context.now()],
        );
        return await set(sql, id, settings);
      }, once);
    },
    async update(id, settings, once) {
      checkModels(context, settings.models);
      return await change(context, (sql) => set(sql, id, settings), once);
    },
    async get(id) {
      const [row] = await look(context, "SELECT * FROM plans WHERE id = $1", [
        id,
      ]);
      if (row === undefined) throw notFound("plan", id);
      return planFrom(row);
    },
    async list(page = {}) {
      const limit = pageLimit(page);
      const rows = await look(
        context,
        "SELECT * FROM plans WHERE id > $1 ORDER BY id LIMIT $2",
        [page.after ?? "", limit + 1],
      );
      return pageOf(rows.map((row) => planFrom(row)), limit, (plan) => plan.id);
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
 * Checks a list of models.
 *
 * @throws {ApiError} `invalid_request` naming the first model that there is not
 */
export function checkModels(
  context: RegisterContext,
  models: readonly string[] | null | undefined,
): void {
  for (const [index, model] of (models ?? []).entries()) {
    if (!context.knowsModel(model)) {
      throw invalidField(`models[${index}]`, `there is no model ${model}`);
    }
  }
}
