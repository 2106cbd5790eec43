/** @jsxImportSource preact */
/** @jsxImportSourceTypes console-jsx */
/**
 * Forms for the settings of plans, accounts and keys, made from the definitions of their fields: a
 * new field needs no change here.
 *
 * @module
 */
import type { JSX } from "../jsx.d.ts";
import { z } from "zod";
import type {
  FlagKind,
  RecordFields,
} from "../../../gateway/accounts/field.ts";
import { invalidField } from "../../../translate/model/error.ts";

interface FormField {
  readonly name: string;
  readonly json: string;
  readonly kind: FlagKind;
  readonly help: string;
  /** The values, if there are only some. */
  readonly choices: readonly string[] | undefined;
}

function formFields(fields: RecordFields): readonly FormField[] {
  return Object.entries(fields).flatMap(([name, one]) =>
    one.flag === undefined ? [] : [{
      name,
      json: one.json,
      kind: one.flag.kind ?? one.flagKind,
      help: one.flag.help.replace(/, or none( for all)?$/, ""),
      choices: one.reply instanceof z.ZodEnum
        ? one.reply.options.map(String)
        : undefined,
    }]
  );
}

/** Inputs for the fields; `values` are those of the record so far, as JSON has them. */
export function RecordInputs(
  { fields, values }: {
    readonly fields: RecordFields;
    readonly values?: Readonly<Record<string, unknown>>;
  },
): JSX.Element {
  return (
    <>
      {formFields(fields).map(({ json, kind, help, choices }) => (
        <label>
          {titleOf(json)}
          {isPlain(json, help) ? null : <small>{helpText(kind, help)}</small>}
          {choices === undefined
            ? (
              <input
                name={json}
                value={textOf(kind, values?.[json])}
                autocomplete="off"
                {...(kind === "number" || kind === "usd"
                  ? { inputmode: "decimal", placeholder: "none" }
                  : kind === "moment"
                  ? { placeholder: "2027-01-31" }
                  : {})}
              />
            )
            : (
              <select name={json}>
                {choices.map((one) => (
                  <option
                    key={one}
                    value={one}
                    selected={one === values?.[json]}
                  >
                    {one}
                  </option>
                ))}
              </select>
            )}
          {values === undefined ? null : (
            <input
              type="hidden"
              name={`was_${json}`}
              value={textOf(kind, values[json])}
            />
          )}
        </label>
      ))}
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
  const words = json.replace(/_micro_usd$/, ", dollars").replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function textOf(kind: FlagKind, value: unknown): string {
  if (value === null || value === undefined) return "";
  if (kind === "usd") return dollarsText(Number(value));
  return Array.isArray(value) ? value.join(", ") : String(value);
}

/** An amount as a form shows it: `12.5`. */
function dollarsText(microUsd: number): string {
  const text = String(Math.abs(microUsd)).padStart(7, "0");
  const part = text.slice(-6).replace(/0+$/, "");
  return `${microUsd < 0 ? "-" : ""}${text.slice(0, -6)}${
    part === "" ? "" : `.${part}`
  }`;
}

/**
 * The body of a form. An empty field is left out, or removes the setting where `clears`. So is a
 * field as the form showed it: what another tab has changed since then stays.
 *
 * @throws {ApiError} `invalid_request` naming the field
 */
export function recordBody(
  fields: RecordFields,
  form: URLSearchParams,
  { clears }: { readonly clears: boolean },
): Readonly<Record<string, unknown>> {
  const body: Record<string, unknown> = {};
  for (const { json, kind } of formFields(fields)) {
    const text = form.get(json)?.trim();
    if (text === undefined || text === form.get(`was_${json}`)) continue;
    if (text === "") {
      if (clears && kind !== "text") body[json] = null;
      continue;
    }
    body[json] = valueOf(json, kind, text);
  }
  return body;
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

/**
 * Dollars as micro-dollars, digit by digit: no amount passes through a float.
 *
 * @throws {ApiError} `invalid_request` naming the field
 */
export function microUsdOf(field: string, text: string): number {
  const match = /^([-−]?)\$?(\d{1,9})(?:\.(\d{1,6}))?$/.exec(text);
  if (match === null) {
    throw invalidField(
      field,
      "must be dollars such as 12.50, with at most six digits after the point",
    );
  }
  const [, sign, whole = "", part = ""] = match;
  const amount = Number(whole + part.padEnd(6, "0"));
  return sign === "" ? amount : 0 - amount;
}
