/**
 * The choice of the models that a plan or a key may call.
 */
import type { JSX } from "../jsx.d.ts";
import type { Visit } from "../../../gateway/console/visit.ts";
import { invalidField } from "../../../translate/model/error.ts";
import type { RouteContext } from "../../route.ts";
import { BoxesField } from "./field.tsx";

const NAME = "models";
const ALL = "all_models";
const WAS = "was_models";

/**
 * A box for each model. `value` is the list so far, null for all models; undefined: none is chosen
 * yet. `all` is the text of the box for all models, which a plan must have: without it, no choice
 * means all.
 */
export function ModelChoice(
  { context, visit, value, all, help }: {
    readonly context: RouteContext;
    readonly visit: Visit;
    readonly value?: readonly string[] | null;
    readonly all?: string;
    readonly help: string;
  },
): JSX.Element {
  const { models } = context.gateway.models;
  const isAll = visit.problem === undefined
    ? value === null
    : visit.form.has(ALL);
  return (
    <>
      <BoxesField
        visit={visit}
        name={NAME}
        title="Models"
        help={help}
        values={value ?? []}
        // A plan may name models that are no longer configured.
        choices={[...new Set([...models.map(({ id }) => id), ...value ?? []])]}
      >
        {all === undefined ? null : (
          <label>
            <input type="checkbox" name={ALL} value="yes" checked={isAll} />
            {all}
          </label>
        )}
      </BoxesField>
      {value === undefined
        ? null
        : <input type="hidden" name={WAS} value={textOf(value)} />}
    </>
  );
}

/**
 * The models of a plan's form as a field of a body; nothing if they are as the form showed them.
 *
 * @throws {ApiError} `invalid_request` if neither all nor any are chosen
 */
export function chosenModels(
  form: URLSearchParams,
  { isNew }: { readonly isNew: boolean },
): { readonly models?: readonly string[] | null } {
  const models = form.getAll(NAME);
  const isAll = form.has(ALL);
  if (isAll && models.length > 0) {
    throw invalidField(NAME, "choose either all of them or some");
  }
  if (!isAll && models.length === 0) {
    if (!isNew && !form.has(WAS)) return {};
    throw invalidField(NAME, "choose some of them, or all");
  }
  const chosen = isAll ? null : models;
  return textOf(chosen) === form.get(WAS) ? {} : { models: chosen };
}

function textOf(models: readonly string[] | null): string {
  return models?.toSorted().join() ?? "*";
}
