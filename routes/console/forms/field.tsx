/**
 * Fields of forms: with what was entered, and with its problem, if the form is shown again.
 */
import type { Children, JSX } from "../jsx.d.ts";
import type { Problem, Visit } from "../../../gateway/console/visit.ts";

/** What a field of a form shows: the input, or else the present value. */
export function enteredText(
  { problem, form }: Visit,
  name: string,
  otherwise: string = "",
): string {
  return problem === undefined ? otherwise : form.get(name) ?? "";
}

/**
 * Attributes of an input: those with a problem are marked, and the first one gets the focus;
 * without a problem, one with `autofocus`.
 */
export function stateOf(
  { problem }: Visit,
  name: string,
  autofocus = false,
): Readonly<Record<string, Children>> {
  return problem === undefined
    ? autofocus ? { autofocus } : {}
    : problemAt(problem, name) === undefined
    ? {}
    : {
      autofocus: problem.field === name,
      "aria-invalid": "true",
      "aria-describedby": problemId(name),
    };
}

/** What is wrong with a field. */
function problemAt(
  problem: Visit["problem"],
  name: string,
): Problem | undefined {
  return problem === undefined
    ? undefined
    : [problem, ...problem.others ?? []].find(({ field }) => field === name);
}

function problemId(name: string): string {
  return `problem-${name}`;
}

/** What is wrong with a field; nothing if the problem is another field's. */
export function FieldProblem(
  { visit: { problem }, name }: {
    readonly visit: Visit;
    readonly name: string;
  },
): JSX.Element | null {
  const own = problemAt(problem, name);
  return own === undefined
    ? null
    : <strong id={problemId(name)} class="problem">{own.text}</strong>;
}

interface FieldProps {
  readonly visit: Visit;
  readonly name: string;
  readonly title: string;
  /** A sentence below the title. */
  readonly help?: Children;
  readonly autofocus?: boolean;
}

/** A field for a text. Further properties are attributes of its input. */
export function TextField(
  { visit, name, title, help, value, autofocus = false, ...attributes }:
    & FieldProps
    & {
      readonly value?: string;
      readonly [attribute: string]: Children | Visit;
    },
): JSX.Element {
  return (
    <label>
      {title}
      {help === undefined ? null : <small>{help}</small>}
      <input
        name={name}
        value={enteredText(visit, name, value)}
        {...attributes as Readonly<Record<string, Children>>}
        {...stateOf(visit, name, autofocus)}
      />
      <FieldProblem visit={visit} name={name} />
    </label>
  );
}

/** A choice: a value and what it is called, each. */
export type Choice = readonly [value: string, text: string];

/** A field with some values to choose from; `placeholder` is shown while none is chosen. */
export function SelectField(
  { visit, name, title, help, value, choices, placeholder, autofocus = false }:
    & FieldProps
    & {
      readonly value?: string;
      readonly choices: readonly Choice[];
      readonly placeholder?: string;
    },
): JSX.Element {
  const chosen = enteredText(visit, name, value);
  return (
    <label>
      {title}
      {help === undefined ? null : <small>{help}</small>}
      <select
        name={name}
        required={placeholder !== undefined}
        {...stateOf(visit, name, autofocus)}
      >
        {placeholder === undefined
          ? null
          : <option value="">{placeholder}</option>}
        {choices.map(([one, text]) => (
          <option key={one} value={one} selected={one === chosen}>
            {text}
          </option>
        ))}
      </select>
      <FieldProblem visit={visit} name={name} />
    </label>
  );
}

/** A field for several values of a list. */
export function BoxesField(
  { visit, name, title, help, values, choices, children }:
    & Omit<FieldProps, "autofocus">
    & {
      readonly values: readonly string[];
      readonly choices: readonly string[];
      /** Before the boxes. */
      readonly children?: Children;
    },
): JSX.Element {
  const chosen = new Set(
    visit.problem === undefined ? values : visit.form.getAll(name),
  );
  return (
    <fieldset
      aria-describedby={problemAt(visit.problem, name) === undefined
        ? undefined
        : problemId(name)}
    >
      <legend>{title}</legend>
      {help === undefined ? null : <small>{help}</small>}
      <FieldProblem visit={visit} name={name} />
      {children}
      {choices.map((one, at) => (
        <label>
          <input
            type="checkbox"
            name={name}
            value={one}
            checked={chosen.has(one)}
            autofocus={at === 0 && visit.problem?.field === name}
          />
          {one}
        </label>
      ))}
    </fieldset>
  );
}
