/**
 * Administration of plans.
 */
import { invalidField } from "../../../translate/model/error.ts";
import { type SettingsOf } from "../field.ts";
import { LOW_BALANCE_BIT } from "../limits/window_limits.ts";
import { LIMIT_NAMES, PLAN, type Plan } from "../records.ts";
import { type ListPage, type PageRequest } from "./list_page.ts";
import {
  alreadyExists,
  type IdempotencyKey,
  listById,
  newId,
  notFound,
  readerOf,
  recordChange,
  type RepositoryContext,
  writeOnce,
} from "./repository.ts";
import {
  insertRow,
  recordFrom,
  rowOf,
  updateRow,
} from "../rows/record_rows.ts";
import type { Sql } from "../store/store.ts";

/** Settings of a new plan. Null or absent means no limit. */
type NewPlan = SettingsOf<typeof PLAN>;

/** Changes of a plan. Null means no limit; absent means unchanged. */
export type PlanSettings = Omit<NewPlan, "id">;

export interface PlanRepository {
  /**
   * Creates a plan.
   *
   * @throws {ApiError} `conflict` if the id exists, `invalid_request` for an unknown model
   */
  create(
    settings: NewPlan,
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

export function planRepository(context: RepositoryContext): PlanRepository {
  return {
    async create(settings, idempotencyKey) {
      checkModels(context, settings.models);
      return await writeOnce(context, async (sql) => {
        const id = settings.id ?? newId("plan", context.now());
        if (await find(sql, id) !== undefined) throw alreadyExists("plan", id);
        const plan = { ...settings, id, createdAtMs: context.now() };
        await insertRow(sql, "plans", rowOf(PLAN, plan));
        const made = await written(sql, id);
        const change = recordChange(PLAN, "plan.create", undefined, made);
        return { reply: made, changes: [change] };
      }, idempotencyKey);
    },
    async update(id, settings, idempotencyKey) {
      checkModels(context, settings.models);
      return await writeOnce(context, async (sql) => {
        const before = await written(sql, id);
        await updateRow(sql, "plans", id, rowOf(PLAN, settings));
        if (LIMIT_NAMES.some((name) => name in settings)) {
          // Warnings are due again at the new limits. The statement waits for the lock of each
          // account.
          await sql.all(
            `UPDATE accounts SET warned = warned & ${LOW_BALANCE_BIT} WHERE plan_id = $1 AND warned <> 0`,
            [id],
          );
        }
        const after = await written(sql, id);
        const change = recordChange(PLAN, "plan.update", before, after);
        return { reply: after, changes: [change] };
      }, idempotencyKey);
    },
    get: (id) => written(readerOf(context), id),
    list: (page = {}) =>
      listById(context, "plans", page, (row) => recordFrom(PLAN, row)),
  };
}

async function find(sql: Sql, id: string): Promise<Plan | undefined> {
  const [row] = await sql.all("SELECT * FROM plans WHERE id = $1", [id]);
  return row === undefined ? undefined : recordFrom(PLAN, row);
}

async function written(sql: Sql, id: string): Promise<Plan> {
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
