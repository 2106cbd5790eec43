/**
 * What a file of accounts asks for: which accounts are created or changed, topped up, and given keys.
 *
 * @module
 */
import type { Account } from "../../../gateway/accounts/records.ts";
import type { Admin } from "../../../gateway/accounts/repositories/admin.ts";
import { chosenId } from "../../../gateway/accounts/values.ts";
import { csvRecords } from "../../../gateway/reconcile/csv_records.ts";
import { compact } from "../../../translate/bytes/compact.ts";
import { ApiError, invalidField } from "../../../translate/model/error.ts";
import { checked } from "../../../translate/model/schema.ts";
import { moneyText } from "../parts/money.tsx";
import { problemOf, problemSentence } from "../parts/problem_words.ts";
import { microUsdOf } from "../parts/record_form.tsx";

/** Columns of the file; `account` is needed. */
export const BULK_COLUMNS = [
  "account",
  "name",
  "plan",
  "billing",
  "top_up_usd",
  "note",
  "key",
] as const;
type Column = typeof BULK_COLUMNS[number];

/** Lines of a file. */
export const MAX_BULK_LINES = 500;

/** An operation of the admin API that a line needs. */
export interface BulkStep {
  readonly operationId:
    | "createAccount"
    | "updateAccount"
    | "topUpAccount"
    | "issueKey";
  readonly id?: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** What it does, in words. */
  readonly text: string;
}

/** A line of the file. */
export interface BulkLine {
  readonly line: number;
  readonly account: string;
  /** Empty: everything is so already. */
  readonly steps: readonly BulkStep[];
  /** Why the line cannot be done; absent: it can. */
  readonly problem?: string;
}

type Known = Pick<Account, "name" | "planId" | "billing">;

/**
 * Reads a file and compares it with the accounts that there are.
 *
 * @throws {ApiError} `invalid_request` for what is no such file; `unavailable`
 */
export async function planBulk(
  admin: Admin,
  text: string,
): Promise<readonly BulkLine[]> {
  let columns: readonly Column[] | undefined;
  const lines: BulkLine[] = [];
  const { data: plans } = await admin.plans.list({ limit: 1000 });
  const planIds = new Set(plans.map(({ id }) => id));
  /** As the lines before leave them. */
  const accounts = new Map<string, Known>();
  for await (
    const { record, info } of csvRecords(ReadableStream.from([text]))
  ) {
    if (columns === undefined) {
      columns = columnsOf(record);
      continue;
    }
    if (lines.length >= MAX_BULK_LINES) {
      throw invalidField("text", `has more than ${MAX_BULK_LINES} lines`);
    }
    const cells: Partial<Record<Column, string>> = {};
    for (const [at, name] of columns.entries()) {
      const cell = record[at]?.trim() ?? "";
      if (cell !== "") cells[name] = cell;
    }
    const account = cells.account ?? "";
    try {
      checked(chosenId, account);
      const before = accounts.get(account) ?? await find(admin, account);
      const { steps, after } = stepsOf({ ...cells, account }, before, planIds);
      accounts.set(account, after);
      lines.push({ line: info.lines, account, steps });
    } catch (error) {
      if (!(error instanceof ApiError) || error.kind !== "invalid_request") {
        throw error;
      }
      const problem = problemOf(error);
      lines.push({
        line: info.lines,
        account,
        steps: [],
        problem: problemSentence(
          problem.field === undefined
            ? { field: "account", text: problem.text }
            : problem,
        ),
      });
    }
  }
  if (lines.length === 0) {
    throw invalidField("text", "needs a line of column names and one below it");
  }
  return lines;
}

function columnsOf(names: readonly string[]): readonly Column[] {
  const columns = names.map((name) => {
    const found = BULK_COLUMNS.find((one) => one === name.trim().toLowerCase());
    if (found === undefined) {
      throw invalidField(
        "text",
        `there is no column ${name.slice(0, 60)}; there are ${
          BULK_COLUMNS.join(", ")
        }`,
      );
    }
    return found;
  });
  if (!columns.includes("account")) {
    throw invalidField("text", "needs the column account");
  }
  return columns;
}

async function find(admin: Admin, id: string): Promise<Known | undefined> {
  try {
    return await admin.accounts.get(id);
  } catch (error) {
    if (error instanceof ApiError && error.kind === "not_found") {
      return undefined;
    }
    throw error;
  }
}

function stepsOf(
  { account, name, plan, billing, top_up_usd, note, key }:
    & Partial<Record<Column, string>>
    & { readonly account: string },
  before: Known | undefined,
  planIds: ReadonlySet<string>,
): { readonly steps: readonly BulkStep[]; readonly after: Known } {
  if (plan !== undefined && !planIds.has(plan)) {
    throw invalidField("plan", `there is no plan ${plan}`);
  }
  if (
    billing !== undefined && billing !== "prepaid" && billing !== "postpaid"
  ) throw invalidField("billing", "must be prepaid or postpaid");
  const steps: BulkStep[] = [];
  if (before === undefined) {
    if (plan === undefined) {
      throw invalidField("plan", "a new account needs one");
    }
    steps.push({
      operationId: "createAccount",
      body: {
        id: account,
        plan,
        ...compact({ name, billing }),
      },
      text: `create it on the plan ${plan}`,
    });
  } else {
    const body = {
      ...(name === undefined || name === before.name ? {} : { name }),
      ...(plan === undefined || plan === before.planId ? {} : { plan }),
      ...(billing === undefined || billing === before.billing
        ? {}
        : { billing }),
    };
    if (Object.keys(body).length > 0) {
      steps.push({
        operationId: "updateAccount",
        id: account,
        body,
        text: `change ${
          Object.entries(body).map(([field, to]) => `${field} to ${to}`)
            .join(", ")
        }`,
      });
    }
  }
  if (top_up_usd !== undefined) {
    const microUsd = microUsdOf("top_up_usd", top_up_usd);
    if (microUsd === 0) throw invalidField("top_up_usd", "must not be $0");
    steps.push({
      operationId: "topUpAccount",
      id: account,
      body: {
        micro_usd: microUsd,
        ...compact({ note }),
      },
      text: `top up ${moneyText(microUsd, microUsd % 10_000 === 0 ? 2 : 6)}`,
    });
  }
  if (key !== undefined) {
    steps.push({
      operationId: "issueKey",
      body: { account, name: key },
      text: `issue the key ${key}`,
    });
  }
  return {
    steps,
    after: {
      name: name ?? before?.name ?? account,
      planId: plan ?? before?.planId ?? "",
      billing: billing ?? before?.billing ?? "prepaid",
    },
  };
}
