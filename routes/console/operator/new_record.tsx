/** @jsxImportSource preact */
/** @jsxImportSourceTypes console-jsx */
/**
 * The form that creates a record, such as an account or a plan.
 *
 * @module
 */
import type { JSX } from "../jsx.d.ts";
import type { RecordFields } from "../../../gateway/accounts/field.ts";
import type { OperatorPageRoute } from "../../route.ts";
import { FormToken, OnceField, page } from "../parts/layout.tsx";
import { operationInput } from "../http/operation_input.ts";
import { runAdminOperation } from "../http/operations.ts";
import { recordBody, RecordInputs } from "../parts/record_form.tsx";
import { seeOther } from "../http/see_other.ts";

/** A kind of record that operators create. */
export interface NewRecord {
  /** Address of the list; the form is at `/new` below it. */
  readonly list: string;
  /** Title of the form. */
  readonly title: string;
  /** Fields of the form. */
  readonly fields: RecordFields;
  /** The operation of the admin API that creates it. */
  readonly operationId: string;
  /** Address to open then. */
  readonly created: (id: string) => string;
}

/** The form, and its submission. */
export function newRecordPages(
  { list, title, fields, operationId, created }: NewRecord,
): readonly OperatorPageRoute[] {
  const path = `${list}/new`;
  return [
    {
      access: "page",
      area: "operator",
      method: "GET",
      path,
      handle: (context, visit) =>
        page(
          context,
          visit,
          { title, nav: list },
          <form class="card form" method="post" action={path}>
            <FormToken visit={visit} />
            <OnceField />
            <RecordInputs fields={fields} />
            <FormButtons text="Create" cancel={list} />
          </form>,
        ),
    },
    {
      access: "page",
      area: "operator",
      method: "POST",
      path,
      async handle(context, visit) {
        const { id } = await runAdminOperation(
          context,
          visit,
          operationId,
          operationInput(
            visit,
            recordBody(fields, visit.form, { clears: false }),
          ),
        );
        return seeOther(created(String(id)));
      },
    },
  ];
}

/** Submits a form, or goes back without a change. */
export function FormButtons(
  { text, cancel }: { readonly text: string; readonly cancel: string },
): JSX.Element {
  return (
    <div class="acts">
      <button class="main" type="submit">{text}</button>
      <a class="button" href={cancel}>Cancel</a>
    </div>
  );
}
