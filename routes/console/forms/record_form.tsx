/**
 * Forms for the settings of plans, accounts and keys, made from the definitions of their fields: a
 * new field needs no change here.
 */
import type { JSX } from "../jsx.d.ts";
import { z } from "zod";
import type {
  FlagKind,
  RecordFields,
} from "../../../gateway/accounts/field.ts";
import { dollarsText } from "../../../gateway/accounts/charges/money.ts";
import type { Visit } from "../../../gateway/console/visit.ts";
import { microUsdOf } from "../../../gateway/admin/dollars.ts";
import { invalidField } from "../../../translate/model/error.ts";
import { fieldBody, inParts } from "../http/form_faults.ts";
import { type Choice, SelectField, TextField } from "./field.tsx";
import { labelOf } from "../parts/problem_words.ts";

interface FormField {
  readonly json: string;
  readonly kind: FlagKind;
  readonly help: string;
  /** The values, if there are only some. */
  readonly choices: readonly string[] | undefined;
  /** What the API takes. */
  readonly set: z.ZodType | undefined;
}

function formFields(fields: RecordFields): readonly FormField[] {
  return Object.values(fields).flatMap((one) =>
    one.flag === undefined ? [] : [{
      json: one.json,
      kind: one.flag.kind ?? one.flagKind,
      help: one.flag.help.replace(/, or none( for all)?$/, ""),
      choices: one.reply instanceof z.ZodEnum
        ? one.reply.options.map(String)
        : undefined,
      set: one.set,
    }]
  );
}

/**
 * Inputs for the fields; `values` are those of the record so far, as JSON has them. `choices` are
 * the values of fields that are chosen, by name.
 */
export function RecordInputs(
  { visit, fields, values, choices = {} }: {
    readonly visit: Visit;
    readonly fields: RecordFields;
    readonly values?: Readonly<Record<string, unknown>>;
    readonly choices?: Readonly<Record<string, readonly Choice[]>>;
  },
): JSX.Element {
  return (
    <>
      {formFields(fields).map((field) => {
        const { json, kind, help } = field;
        const title = titleOf(json);
        const before = textOf(kind, values?.[json]);
        const own = choices[json] ??
          field.choices?.map((one) => [one, one] as const);
        return (
          <>
            {own === undefined
              ? (
                <TextField
                  visit={visit}
                  name={json}
                  title={title}
                  help={isPlain(json, help) ? undefined : helpText(kind, help)}
                  value={before}
                  {...(kind === "number" || kind === "usd"
                    ? { inputmode: "decimal", placeholder: "none" }
                    : kind === "moment"
                    ? { placeholder: "2027-01-31" }
                    : {})}
                />
              )
              : (
                <SelectField
                  visit={visit}
                  name={json}
                  title={title}
                  value={before}
                  choices={own}
                  {...(json in choices && before === ""
                    ? { placeholder: "choose one" }
                    : {})}
                />
              )}
            {values === undefined
              ? null
              : <input type="hidden" name={`was_${json}`} value={before} />}
          </>
        );
      })}
    </>
  );
}

/** Whether the help repeats the title. */
function isPlain(json: string, help: string): boolean {
  const words = (text: string): readonly string[] =>
    text.toLowerCase().split(/\W+/);
  const title = words(titleOf(json));
  return words(help.replace("(UTC)", "").trim())
    .every((word) => title.includes(word));
}

function helpText(kind: FlagKind, help: string): string {
  const text = kind === "list"
    ? "separated by commas; empty: all"
    : help.replace(/^dollars: /, "");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** `spend_per_day_micro_usd`: Spend per day, dollars. */
export function titleOf(json: string): string {
  return `${labelOf(json)}${json.endsWith("_micro_usd") ? ", dollars" : ""}`;
}

function textOf(kind: FlagKind, value: unknown): string {
  if (value === null || value === undefined) return "";
  if (kind === "usd") return dollarsText(Number(value));
  return Array.isArray(value) ? value.join(", ") : String(value);
}

/**
 * The body of a form. An empty field is left out, or removes the setting of a record that there is.
 * A field that still has the value that the form showed is left out too, so that a change from
 * another tab stays.
 *
 * @throws {ApiError} `invalid_request` naming every wrong field, also for an empty one of
 *   `required`, and for one that somebody else changed after the form was shown
 */
export function recordBody(
  fields: RecordFields,
  form: URLSearchParams,
  { before, required = [] }: {
    /** The record as JSON has it; absent: a new one. */
    readonly before?: Readonly<Record<string, unknown>>;
    readonly required?: readonly string[];
  } = {},
): Readonly<Record<string, unknown>> {
  return inParts(
    ...formFields(fields).map(({ json, kind, set }) => () => {
      const text = form.get(json)?.trim();
      if (required.includes(json) && (text ?? "") === "") {
        throw invalidField(json, "choose one");
      }
      const shown = form.get(`was_${json}`);
      if (text === undefined || text === shown) return {};
      const present = textOf(kind, before?.[json]);
      if (shown !== null && ![shown, text].includes(present)) {
        throw invalidField(
          json,
          `was changed meanwhile to ${
            present || "none"
          }; send the form again to replace that`,
        );
      }
      if (text === "") {
        return before !== undefined && kind !== "text" ? { [json]: null } : {};
      }
      const value = valueOf(json, kind, text);
      if (set !== undefined) fieldBody(json, set, value);
      return { [json]: value };
    }),
  );
}

function valueOf(json: string, kind: FlagKind, text: string): unknown {
  switch (kind) {
    case "number":
      if (!/^\d{1,15}$/.test(text)) {
        throw invalidField(json, "must be a whole number");
      }
      return Number(text);
    case "usd":
      return microUsdOf(json, text);
    case "list":
      return text.split(",").map((one) => one.trim()).filter((one) =>
        one !== ""
      );
    case "moment":
      return /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text;
    case "text":
    case "duration":
      return text;
  }
}
