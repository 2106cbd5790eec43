/** @jsxImportSource preact */
/** @jsxImportSourceTypes console-jsx */
/**
 * Many accounts at once, from a CSV file: what it would do is shown before it is done.
 *
 * @module
 */
import { compact } from "../../../translate/bytes/compact.ts";
import type { JSX } from "../jsx.d.ts";
import type { Visit } from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import { ApiError } from "../../../translate/model/error.ts";
import type { OperatorPageRoute, RouteContext } from "../../route.ts";
import { runAdminOperation } from "../http/operations.ts";
import { DataTable, Foreign } from "../parts/data_table.tsx";
import { entered, FieldProblem } from "../parts/field.tsx";
import { FormToken, OnceField, page } from "../parts/layout.tsx";
import { countText } from "../parts/money.tsx";
import { problemOf, problemSentence } from "../parts/problem_words.ts";
import { AccountLink } from "./account_link.tsx";
import {
  BULK_COLUMNS,
  type BulkLine,
  MAX_BULK_LINES,
  planBulk,
} from "./bulk_plan.ts";

const NAV = "/console/operator/accounts";
const PATH = `${NAV}/many`;
const EXAMPLE =
  "account,name,plan,top_up_usd,key\nsearch,Search team,team,20,laptop of Robin";
/** Largest file, in bytes. */
const MAX_FILE_BYTES = 512 * 1024;

/** The form, what its file would do, and what it did. */
export const BULK_PAGES: readonly OperatorPageRoute[] = [
  {
    access: "page",
    area: "operator",
    method: "GET",
    path: PATH,
    handle: formPage,
  },
  {
    access: "page",
    area: "operator",
    method: "POST",
    path: PATH,
    maxFileBytes: MAX_FILE_BYTES,
    again: formPage,
    handle: (context, visit) =>
      visit.form.get("confirmed") === "yes"
        ? run(context, visit)
        : showPlan(context, visit),
  },
];

function bulkPage(
  context: RouteContext,
  visit: Visit,
  body: JSX.Element,
): HttpReply {
  return page(context, visit, {
    title: "Many accounts at once",
    about: "Nothing is changed before you have seen what would be.",
    nav: NAV,
  }, body);
}

function formPage(context: RouteContext, visit: Visit): HttpReply {
  return bulkPage(
    context,
    visit,
    <form
      class="card form"
      method="post"
      action={PATH}
      encType="multipart/form-data"
    >
      <FormToken visit={visit} />
      <label>
        File
        <small>CSV with a line of column names</small>
        <input type="file" name="file" accept=".csv,.tsv,.txt,text/csv" />
      </label>
      <label>
        Or paste it
        <small>
          Columns:{" "}
          {BULK_COLUMNS.join(", ")}; only account is needed, a new account needs
          a plan. At most {countText(MAX_BULK_LINES)} lines.
        </small>
        <textarea
          name="text"
          rows={8}
          spellcheck={false}
          class="mono"
          placeholder={EXAMPLE}
          {...(visit.problem === undefined
            ? {}
            : { "aria-invalid": "true", autofocus: true })}
        >
          {entered(visit, "text") || textOf(visit)}
        </textarea>
        <FieldProblem visit={visit} name="text" />
      </label>
      <div class="acts">
        <button class="main" type="submit">Show what it would do</button>
        <a class="button" href={NAV}>Cancel</a>
      </div>
    </form>,
  );
}

function textOf({ form }: Visit): string {
  const file = form.get("file") ?? "";
  return file.trim() === "" ? form.get("text") ?? "" : file;
}

async function showPlan(
  context: RouteContext,
  visit: Visit,
): Promise<HttpReply> {
  const text = textOf(visit);
  const lines = await planBulk(context.gateway.admin, text);
  const wrong = lines.filter(({ problem }) => problem !== undefined).length;
  const steps = lines.reduce((sum, one) => sum + one.steps.length, 0);
  return bulkPage(
    context,
    visit,
    <>
      <form class="card" method="post" action={PATH}>
        <FormToken visit={visit} />
        <OnceField />
        <input type="hidden" name="confirmed" value="yes" />
        <textarea name="text" hidden readOnly>{text}</textarea>
        <p role="status">
          {wrong > 0
            ? `${countText(wrong)} of ${
              countText(lines.length)
            } lines are wrong: correct them first.`
            : steps === 0
            ? "Everything is so already: nothing would be changed."
            : `${countText(steps)} changes in ${
              countText(lines.length)
            } lines.`}
        </p>
        <div class="acts">
          {wrong > 0 || steps === 0
            ? null
            : <button class="main" type="submit">Do it</button>}
          <a class="button" href={PATH}>Another file</a>
        </div>
      </form>
      <section class="card">
        <DataTable<BulkLine>
          name="What it would do"
          rows={lines}
          columns={[
            { name: "Line", number: true, cell: ({ line }) => countText(line) },
            {
              name: "Account",
              wraps: true,
              cell: ({ account }) => <Foreign text={account} />,
            },
            {
              name: "What",
              wraps: true,
              cell: ({ problem, steps: own }) =>
                problem !== undefined
                  ? (
                    <>
                      <span class="tag bad">wrong</span> {problem}
                    </>
                  )
                  : own.length === 0
                  ? <span class="soft">nothing, it is so already</span>
                  : own.map(({ text }) => <div key={text}>{text}</div>),
            },
          ]}
        />
      </section>
    </>,
  );
}

/** A line after it was done. */
interface DoneLine {
  readonly line: BulkLine;
  readonly problem?: string;
  /** The text of its new key; null: it was shown before. */
  readonly key?: string | null;
}

async function run(context: RouteContext, visit: Visit): Promise<HttpReply> {
  const lines = await planBulk(context.gateway.admin, textOf(visit));
  const once = visit.form.get("idempotency_key") ?? crypto.randomUUID();
  const done: DoneLine[] = [];
  for (const line of lines) {
    done.push(
      line.problem === undefined
        ? await runLine(context, visit, line, once)
        : { line, problem: line.problem },
    );
  }
  const keys = done.flatMap(({ line, key }) =>
    typeof key === "string" ? [`${line.account},${key}`] : []
  );
  const failed = done.filter(({ problem }) => problem !== undefined).length;
  return bulkPage(
    context,
    visit,
    <>
      <p class={failed === 0 ? "note" : "note bad"} role="status">
        {failed === 0
          ? "Done."
          : `${
            countText(failed)
          } lines failed; the others are done. Take those out before you send the file again: top-ups and keys would be repeated.`}
      </p>
      {keys.length === 0 ? null : (
        <section class="card">
          <h2>The new keys</h2>
          <p class="note">
            This is the only time that the keys are shown. Store them now, where
            only their programs can read them.
          </p>
          <pre id="keys">{["account,key", ...keys].join("\n")}</pre>
          <button class="main" type="button" data-copy="keys" hidden>
            Copy
          </button>
        </section>
      )}
      <section class="card">
        <DataTable<DoneLine>
          name="What was done"
          rows={done}
          columns={[
            {
              name: "Account",
              wraps: true,
              cell: ({ line }) => <AccountLink accountId={line.account} />,
            },
            {
              name: "Outcome",
              wraps: true,
              cell: ({ problem, line, key }) =>
                problem !== undefined
                  ? (
                    <>
                      <span class="tag bad">failed</span> {problem}
                    </>
                  )
                  : (
                    <>
                      <span class="tag ok">done</span>{" "}
                      {line.steps.map(({ text }) => text).join("; ")}
                      {key === null ? " (its key was shown before)" : ""}
                    </>
                  ),
            },
          ]}
        />
        <p>
          <a class="button" href={NAV}>Accounts</a>
        </p>
      </section>
    </>,
  );
}

async function runLine(
  context: RouteContext,
  visit: Visit,
  line: BulkLine,
  once: string,
): Promise<DoneLine> {
  let key: string | null | undefined;
  try {
    for (const { operationId, id, body } of line.steps) {
      const reply = await runAdminOperation(context, visit, operationId, {
        body,
        ...compact({ id }),
        idempotencyKey:
          `${visit.session.id}:${once}:${line.line}:${operationId}`,
      });
      if (operationId === "issueKey") {
        key = typeof reply["key"] === "string" ? reply["key"] : null;
      }
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { line, problem: problemSentence(problemOf(error)) };
  }
  return { line, ...compact({ key }) };
}
