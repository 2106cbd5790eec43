/**
 * Many accounts at once, from a CSV file: which are created or changed, topped up, and given keys.
 * What a file would do is known before it is done.
 */
import { createHash } from "node:crypto";
import { z } from "zod";
import { ApiError, invalidField } from "../../translate/model/error.ts";
import { check } from "../../translate/model/schema.ts";
import type { Account } from "../accounts/records.ts";
import type { Admin } from "../accounts/repositories/admin.ts";
import { chosenId } from "../accounts/values.ts";
import { csvRecords } from "../reconcile/csv_records.ts";
import { ACCOUNT_OPERATIONS } from "./accounts.ts";
import { microUsdOf } from "./dollars.ts";
import { KEY_OPERATIONS } from "./keys.ts";
import { type AdminOperation, mutation } from "./operation.ts";
import { TOP_UP_OPERATIONS } from "./top_ups.ts";
import { compact } from "../../translate/bytes/compact.ts";

/** Columns of the file; `account` is needed. */
export const IMPORT_COLUMNS = [
  "account",
  "name",
  "plan",
  "billing",
  "top_up_usd",
  "note",
  "key",
] as const;
type Column = typeof IMPORT_COLUMNS[number];

export const MAX_IMPORT_LINES = 500;
/** Most characters of a file. */
export const MAX_IMPORT_CHARS: number = 512 * 1024;

/** What a file does or would do, line by line. */
export const importReply = z.object({
  object: z.literal("account_import"),
  applied: z.boolean(),
  changes: z.int().describe("made, or that would be made"),
  failed: z.int().describe("lines with an error"),
  data: z.array(z.object({
    line: z.int().describe("of the file"),
    account: z.string(),
    changes: z.array(z.string()).describe("empty: everything is so already"),
    error: z.object({ column: z.string().nullable(), message: z.string() })
      .nullable(),
    key: z.string().nullable().describe(
      "the new key, shown only once; null if there is none, or if it was shown before",
    ),
  })),
});

export type ImportReply = z.infer<typeof importReply>;

export const IMPORT_OPERATIONS: readonly AdminOperation[] = [
  mutation({
    operationId: "importAccounts",
    summary:
      "Create, change and top up many accounts and issue keys from a CSV file; shows what it would do, unless apply is true. Nothing is done while a line has an error. Sent again with its idempotency-key within a day, it does nothing twice",
    path: "/admin/v1/account-imports",
    request: z.strictObject({
      file: z.string().max(MAX_IMPORT_CHARS).describe(
        `CSV with a line of column names: ${
          IMPORT_COLUMNS.join(", ")
        } (the name of a new key); at most ${MAX_IMPORT_LINES} lines`,
      ),
      apply: z.boolean().default(false).describe(
        "true: do it; needs the header idempotency-key",
      ),
    }),
    reply: importReply,
    async run(
      admin,
      { file, apply },
      { idempotencyKey },
    ): Promise<ImportReply> {
      const lines = await planImport(admin, file);
      if (!apply) return replyOf(lines, false);
      if (idempotencyKey === undefined) {
        throw invalidField(
          "idempotency-key",
          "this header is needed with apply: a file that is sent again with it does nothing twice",
        );
      }
      const wrong = lines.filter(({ error }) => error !== undefined);
      if (wrong.length > 0) {
        throw invalidField(
          "file",
          `nothing was changed, since ${wrong.length} of ${lines.length} lines have an error: ${
            wrong.slice(0, SHOWN_ERRORS).map((one) =>
              `line ${one.line}: ${one.error?.message}`
            ).join("; ")
          }${wrong.length > SHOWN_ERRORS ? "; …" : ""}`,
        );
      }
      for (const line of lines) {
        await applyLine(admin, line, idempotencyKey.key);
      }
      return replyOf(lines, true);
    },
  }),
];

const SHOWN_ERRORS = 5;

/** An operation that a line needs. */
interface Step {
  readonly operation: AdminOperation;
  readonly id?: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** What it does, in words. */
  readonly text: string;
}

/** A line of the file. */
interface ImportLine {
  readonly line: number;
  readonly account: string;
  readonly steps: readonly Step[];
  /** Why it cannot be done, or what failed. */
  error?: ApiError | undefined;
  key?: string;
}

function replyOf(lines: readonly ImportLine[], applied: boolean): ImportReply {
  return {
    object: "account_import",
    applied,
    changes: lines.reduce((sum, { steps }) => sum + steps.length, 0),
    failed: lines.filter(({ error }) => error !== undefined).length,
    data: lines.map(({ line, account, steps, error, key }) => ({
      line,
      account,
      changes: steps.map(({ text }) => text),
      error: error === undefined ? null : {
        column: error.details.param ?? null,
        message: error.message,
      },
      key: key ?? null,
    })),
  };
}

/**
 * Does what a line needs. Its keys of idempotency follow from the file's, so that each step is done
 * once.
 */
async function applyLine(
  admin: Admin,
  line: ImportLine,
  once: string,
): Promise<void> {
  const prefix = createHash("sha256").update(once).digest("hex").slice(0, 32);
  try {
    for (const { operation, id, body } of line.steps) {
      const reply = await operation.run(admin, {
        body,
        ...compact({ id }),
        idempotencyKey: `${prefix}:${line.line}:${operation.operationId}`,
      });
      if (typeof reply["key"] === "string") line.key = reply["key"];
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    line.error = error;
  }
}

type Known = Pick<Account, "name" | "planId" | "billing">;
type Cells = Partial<Record<Column, string>>;

/** Reads a file and compares it with the accounts that there are. */
async function planImport(
  admin: Admin,
  text: string,
): Promise<readonly ImportLine[]> {
  let columns: readonly Column[] | undefined;
  const lines: ImportLine[] = [];
  const { data: plans } = await admin.plans.list({ limit: 1000 });
  const planIds = new Set(plans.map(({ id }) => id));
  /** The accounts as the earlier lines leave them. */
  const accounts = new Map<string, Known>();
  for await (
    const { record, info } of csvRecords(ReadableStream.from([text]))
  ) {
    if (columns === undefined) {
      columns = columnsOf(record);
      continue;
    }
    if (lines.length >= MAX_IMPORT_LINES) {
      throw invalidField("file", `has more than ${MAX_IMPORT_LINES} lines`);
    }
    const cells: Cells = {};
    for (const [at, name] of columns.entries()) {
      const cell = record[at]?.trim() ?? "";
      if (cell !== "") cells[name] = cell;
    }
    const { account = "" } = cells;
    const line = { line: info.lines, account };
    try {
      checkedAs(chosenId, account, () => "account");
      const before = accounts.get(account) ?? await find(admin, account);
      const steps = stepsOf(cells, account, before, planIds);
      accounts.set(account, {
        name: cells.name ?? before?.name ?? account,
        planId: cells.plan ?? before?.planId ?? "",
        billing: cells.billing === "postpaid" || cells.billing === "prepaid"
          ? cells.billing
          : before?.billing ?? "prepaid",
      });
      lines.push({ ...line, steps });
    } catch (error) {
      if (!(error instanceof ApiError) || error.kind !== "invalid_request") {
        throw error;
      }
      lines.push({ ...line, steps: [], error });
    }
  }
  if (lines.length === 0) {
    throw invalidField("file", "needs a line of column names and one below it");
  }
  return lines;
}

function columnsOf(names: readonly string[]): readonly Column[] {
  const columns = names.map((name) => {
    const found = IMPORT_COLUMNS.find((one) =>
      one === name.trim().toLowerCase()
    );
    if (found === undefined) {
      throw invalidField(
        "file",
        `there is no column ${name.slice(0, 60)}; there are ${
          IMPORT_COLUMNS.join(", ")
        }`,
      );
    }
    return found;
  });
  const twice = columns.find((name, at) => columns.indexOf(name) !== at);
  if (twice !== undefined) {
    throw invalidField("file", `has the column ${twice} more than once`);
  }
  if (!columns.includes("account")) {
    throw invalidField("file", "needs the column account");
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

function operationOf(
  operations: readonly AdminOperation[],
  operationId: string,
): AdminOperation {
  const operation = operations.find((one) => one.operationId === operationId);
  if (operation === undefined) {
    throw new Error(`there is no operation ${operationId}`);
  }
  return operation;
}

const CREATE = operationOf(ACCOUNT_OPERATIONS, "createAccount");
const UPDATE = operationOf(ACCOUNT_OPERATIONS, "updateAccount");
const TOP_UP = operationOf(TOP_UP_OPERATIONS, "topUpAccount");
const ISSUE_KEY = operationOf(KEY_OPERATIONS, "issueKey");

/** Checks a value; the error names a column instead of a field. */
function checkedAs(
  schema: z.ZodType | undefined,
  value: unknown,
  columnOf: (field: string | undefined) => string | undefined,
): void {
  try {
    if (schema !== undefined) check(schema, value);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { param } = error.details;
    const column = columnOf(param);
    if (column === undefined) throw error;
    throw invalidField(
      column,
      param !== undefined && error.message.startsWith(`${param}: `)
        ? error.message.slice(param.length + 2)
        : error.message,
    );
  }
}

/**
 * A step whose body is valid. `columns` gives the column of a field of the body, where their names
 * differ.
 */
function step(
  operation: AdminOperation,
  given: Omit<Step, "operation">,
  columns: Readonly<Record<string, Column>> = {},
): Step {
  checkedAs(
    operation.request,
    given.body,
    (field = "") => columns[field] ?? field,
  );
  return { operation, ...given };
}

function stepsOf(
  { name, plan, billing, top_up_usd, note, key }: Cells,
  account: string,
  before: Known | undefined,
  planIds: ReadonlySet<string>,
): readonly Step[] {
  if (plan !== undefined && !planIds.has(plan)) {
    throw invalidField("plan", `there is no plan ${plan}`);
  }
  if (
    billing !== undefined && billing !== "prepaid" && billing !== "postpaid"
  ) throw invalidField("billing", "must be prepaid or postpaid");
  const steps: Step[] = [];
  if (before === undefined) {
    if (plan === undefined) {
      throw invalidField("plan", "a new account needs one");
    }
    steps.push(step(CREATE, {
      body: { id: account, plan, ...compact({ name, billing }) },
      text: `create it on the plan ${plan}`,
    }, { id: "account" }));
  } else {
    const changeOf = (to: string | undefined, from: string) =>
      to === from ? undefined : to;
    const body = compact({
      name: changeOf(name, before.name),
      plan: changeOf(plan, before.planId),
      billing: changeOf(billing, before.billing),
    });
    const fields = Object.entries(body);
    if (fields.length > 0) {
      steps.push(step(UPDATE, {
        id: account,
        body,
        text: `change ${
          fields.map(([field, to]) => `${field} to ${to}`).join(", ")
        }`,
      }));
    }
  }
  if (top_up_usd !== undefined) {
    if (top_up_usd.includes(",") && !top_up_usd.includes(".")) {
      throw invalidField(
        "top_up_usd",
        "is ambiguous: write the decimals after a point, and thousands without a comma",
      );
    }
    const microUsd = microUsdOf("top_up_usd", top_up_usd);
    if (microUsd === 0) throw invalidField("top_up_usd", "must not be $0");
    const sign = microUsd < 0 ? "−" : "";
    steps.push(step(TOP_UP, {
      id: account,
      body: {
        micro_usd: microUsd,
        ...compact({ note }),
      },
      text: `top up ${sign}$${
        (Math.abs(microUsd) / 1e6).toFixed(microUsd % 10_000 === 0 ? 2 : 6)
      }`,
    }, { micro_usd: "top_up_usd" }));
  } else if (note !== undefined) {
    throw invalidField("note", "is that of a top-up: top_up_usd is empty");
  }
  if (key !== undefined) {
    steps.push(step(ISSUE_KEY, {
      body: { account, name: key },
      text: `issue the key ${key}`,
    }, { name: "key" }));
  }
  return steps;
}
