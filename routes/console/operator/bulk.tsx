/**
 * Many accounts at once, from a CSV file: what it would do is shown before it is done.
 */
import { compact } from "../../../translate/bytes/compact.ts";
import type { JSX } from "../jsx.d.ts";
import type { Visit } from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import { check } from "../../../translate/model/schema.ts";
import {
  IMPORT_COLUMNS,
  type ImportReply,
  importReply,
  MAX_IMPORT_CHARS,
  MAX_IMPORT_LINES,
} from "../../../gateway/admin/account_import.ts";
import type { OperatorPageRoute, RouteContext } from "../../route.ts";
import { runAdminOperation } from "../http/operations.ts";
import { DataTable, Foreign } from "../parts/data_table.tsx";
import { enteredText, FieldProblem } from "../forms/field.tsx";
import { FormToken, OnceField, page } from "../parts/layout.tsx";
import { countText } from "../parts/money.tsx";
import { problemOf, problemSentence } from "../parts/problem_words.ts";
import { AccountLink } from "./account_link.tsx";
import { operatorPageRoute } from "../http/page_route.ts";

const NAV = "/console/operator/accounts";
const PATH = `${NAV}/many`;
const EXAMPLE =
  "account,name,plan,top_up_usd,key\nsearch,Search team,team,20,laptop of Robin";

/** The form, what its file would do, and what it did. */
export const BULK_PAGES: readonly OperatorPageRoute[] = [
  operatorPageRoute("GET", PATH, formPage),
  operatorPageRoute(
    "POST",
    PATH,
    (context, visit) =>
      visit.form.get("confirmed") === "yes"
        ? run(context, visit)
        : showPlan(context, visit),
    { maxFileBytes: MAX_IMPORT_CHARS, again: formPage },
  ),
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
  return bulkPage(context, visit, <FileForm visit={visit} />);
}

function FileForm({ visit }: { readonly visit: Visit }): JSX.Element {
  return (
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
          {IMPORT_COLUMNS.join(", ")}; only account is needed, a new account
          needs a plan. At most {countText(MAX_IMPORT_LINES)} lines.
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
          {enteredText(visit, "text") || textOf(visit)}
        </textarea>
        <FieldProblem visit={visit} name="file" />
      </label>
      <div class="acts">
        <button class="main" type="submit">Show what it would do</button>
        <a class="button" href={NAV}>Cancel</a>
      </div>
    </form>
  );
}

function textOf({ form }: Visit): string {
  const file = form.get("file") ?? "";
  return file.trim() === "" ? form.get("text") ?? "" : file;
}

type Line = ImportReply["data"][number];

/** Runs the operation of the API. */
async function importRows(
  context: RouteContext,
  visit: Visit,
  once?: string,
): Promise<ImportReply> {
  return check(
    importReply,
    await runAdminOperation(context, visit, "importAccounts", {
      body: { file: textOf(visit), apply: once !== undefined },
      ...compact({
        idempotencyKey: once === undefined
          ? undefined
          : `${visit.session.id}:${once}`,
      }),
    }),
  );
}

function errorText({ error }: Line): string {
  return error === null ? "" : problemSentence(problemOf({
    message: error.message,
    details: error.column === null ? {} : { param: error.column },
  }));
}

async function showPlan(
  context: RouteContext,
  visit: Visit,
): Promise<HttpReply> {
  const { data, changes, failed } = await importRows(context, visit);
  return bulkPage(
    context,
    visit,
    <>
      <p role="status">
        {failed > 0
          ? `${countText(failed)} of ${
            countText(data.length)
          } lines are wrong: correct them first.`
          : changes === 0
          ? "Everything is so already: nothing would be changed."
          : `${countText(changes)} changes in ${countText(data.length)} lines.`}
      </p>
      {failed > 0
        ? <FileForm visit={visit} />
        : (
          <form class="card" method="post" action={PATH}>
            <FormToken visit={visit} />
            <OnceField />
            <input type="hidden" name="confirmed" value="yes" />
            <textarea name="text" hidden readOnly>{textOf(visit)}</textarea>
            <div class="acts">
              {changes === 0
                ? null
                : <button class="main" type="submit">Do it</button>}
              <a class="button" href={PATH}>Another file</a>
            </div>
          </form>
        )}
      <section class="card">
        <DataTable<Line>
          name="What it would do"
          rows={data}
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
              cell: (line) =>
                line.error !== null
                  ? (
                    <>
                      <span class="tag bad">wrong</span> {errorText(line)}
                    </>
                  )
                  : line.changes.length === 0
                  ? <span class="soft">nothing, it is so already</span>
                  : line.changes.map((text) => <div key={text}>{text}</div>),
            },
          ]}
        />
      </section>
    </>,
  );
}

async function run(context: RouteContext, visit: Visit): Promise<HttpReply> {
  const { data, failed } = await importRows(
    context,
    visit,
    visit.form.get("idempotency_key") || crypto.randomUUID(),
  );
  const keys = data.flatMap(({ account, key }) =>
    key === null ? [] : [`${account},${key}`]
  );
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
        <DataTable<Line>
          name="What was done"
          rows={data}
          columns={[
            { name: "Line", number: true, cell: ({ line }) => countText(line) },
            {
              name: "Account",
              wraps: true,
              cell: ({ account }) => <AccountLink accountId={account} />,
            },
            {
              name: "Outcome",
              wraps: true,
              cell: (line) =>
                line.error !== null
                  ? (
                    <>
                      <span class="tag bad">failed</span> {errorText(line)}
                    </>
                  )
                  : (
                    <>
                      <span class="tag ok">done</span> {line.changes.join("; ")}
                      {line.key === null &&
                          line.changes.some((text) =>
                            text.startsWith("issue the key")
                          )
                        ? " (its key was shown before)"
                        : ""}
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
