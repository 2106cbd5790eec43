/**
 * The plans that an account can have, as a form offers them.
 */
import { recordJson } from "../../../gateway/accounts/field.ts";
import { LIMITS } from "../../../gateway/accounts/records.ts";
import type { Admin } from "../../../gateway/accounts/repositories/admin.ts";
import type { Choice } from "../forms/field.tsx";
import { countText, moneyText } from "../parts/money.tsx";
import { labelOf } from "../parts/problem_words.ts";

/** Each plan with its first limits: `team: requests per minute 600, spend per day $20.00`. */
export async function planChoices(admin: Admin): Promise<readonly Choice[]> {
  const { data } = await admin.plans.list({ limit: 1000 });
  return data.map((plan) => {
    const limits = Object.entries(recordJson(LIMITS, plan)).flatMap((
      [name, value],
    ) =>
      typeof value !== "number" ? [] : [
        `${labelOf(name).toLowerCase()} ${
          name.endsWith("_micro_usd") ? moneyText(value, 2) : countText(value)
        }`,
      ]
    );
    const text = limits.length === 0
      ? "no limit"
      : limits.slice(0, 2).join(", ");
    return [plan.id, `${plan.id}: ${text}${limits.length > 2 ? ", …" : ""}`];
  });
}
