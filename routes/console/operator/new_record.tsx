/**
 * The form that creates a record, such as an account or a plan.
 */
import type { JSX } from "../jsx.d.ts";
import { scopeOf } from "../../../gateway/accounts/operator_scope.ts";
import type { Visit } from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import type { OperatorPageRoute, RouteContext } from "../../route.ts";
import { FormButtons } from "../forms/form_buttons.tsx";
import { FormToken, OnceField, page } from "../parts/layout.tsx";
import { operationInput } from "../http/operation_input.ts";
import { runAdminOperation } from "../http/operations.ts";
import { seeOther } from "../http/see_other.ts";
import { operatorPageRoute } from "../http/page_route.ts";

/** A kind of record that operators create. */
interface NewRecord {
  /** Address of the list; the form is at `/new` below it. */
  readonly list: string;
  readonly title: string;
  inputs(context: RouteContext, visit: Visit): Promise<JSX.Element>;
  body(form: URLSearchParams): Readonly<Record<string, unknown>>;
  /** The operation of the admin API that creates it. */
  readonly operationId: string;
  /** Address to open then. */
  readonly created: (id: string) => string;
}

/** The form, and its submission. */
export function newRecordPages(
  { list, title, inputs, body, operationId, created }: NewRecord,
): readonly OperatorPageRoute[] {
  const path = `${list}/new`;
  const form = async (
    context: RouteContext,
    visit: Visit,
  ): Promise<HttpReply> =>
    page(
      context,
      visit,
      { title, nav: list },
      <form class="card form" method="post" action={path}>
        <FormToken visit={visit} />
        <OnceField />
        {await inputs(context, visit)}
        <FormButtons text="Create" cancel={list} />
      </form>,
    );
  return [
    operatorPageRoute("GET", path, form),
    operatorPageRoute("POST", path, async (context, visit) => {
      const { id } = await runAdminOperation(
        context,
        visit,
        operationId,
        operationInput(visit, body(visit.form)),
      );
      return seeOther(created(String(id)));
    }, { scope: scopeOf(operationId, "POST"), again: form }),
  ];
}
