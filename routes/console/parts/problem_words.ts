/**
 * The problems of the API in words of a page: fields by their labels, amounts in dollars.
 */
import type { Problem } from "../../../gateway/console/visit.ts";
import type { ApiError } from "../../../translate/model/error.ts";
import { moneyText } from "./money.tsx";

/** Fields of the API whose field in forms has another name, because people enter another value. */
const FORM_NAMES: Readonly<Record<string, string>> = {
  expires_at: "days",
  micro_usd: "usd",
};

const LABELS: Readonly<Record<string, string>> = {
  usd: "Amount",
  url: "Address",
  last_four: "Last four characters",
  days: "Ends",
  text: "File",
  top_up_usd: "Top-up",
};

/** `spend_per_day_micro_usd`: Spend per day. */
export function labelOf(field: string): string {
  const own = LABELS[field];
  if (own !== undefined) return own;
  const words = field.replace(/_micro_usd$/, "").replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The problem of an error, at the field of the form that it is about. */
export function problemOf(
  { message, details }: {
    readonly message: string;
    readonly details: Pick<ApiError["details"], "param">;
  },
): Problem {
  const param = details.param ?? /^(\w+): /.exec(message)?.[1];
  if (param === undefined) return { text: wordsOf(message, false) };
  const base = param.replace(/[.[].*$/s, "");
  const field = FORM_NAMES[base] ?? base;
  const text = message.startsWith(`${param}: `)
    ? message.slice(param.length + 2)
    : message;
  return { field, text: wordsOf(text, base.endsWith("micro_usd")) };
}

/** The fault that a schema found, in plain words. */
function wordsOf(text: string, isMoney: boolean): string {
  const amount = (digits: string): string =>
    isMoney
      ? moneyText(Number(digits), Number(digits) % 10_000 === 0 ? 2 : 6)
      : Number(digits).toLocaleString("en-US");
  return text
    .replace(
      /^too big: expected string to have <=(\d+) characters$/,
      (_, most) => `must have at most ${amount(most)} characters`,
    )
    .replace(
      /^too small: expected string to have >=1 characters$/,
      "must not be empty",
    )
    .replace(
      /^too big: expected \w+ to be <=?(-?[\d.e+]+)$/,
      (_, most) => `must be at most ${amount(most)}`,
    )
    .replace(
      /^too small: expected \w+ to be >=?(-?[\d.e+]+)$/,
      (_, least) => `must be at least ${amount(least)}`,
    )
    .replace(
      /^invalid option: expected one of (.*)$/s,
      (_, options: string) =>
        `must be one of ${options.replaceAll('"', "").replaceAll("|", ", ")}`,
    )
    // An input has days; links from figures have times.
    .replace(/^must be a time such as \S+ or /, "must be ")
    .replace(/^required field is missing$/, "is needed")
    .replace(/^expected /, "must be ");
}

/** A message as a sentence of a page. */
export function sentence(message: string): string {
  const text = message.charAt(0).toUpperCase() + message.slice(1);
  return /[.?!]$/.test(text) ? text : `${text}.`;
}

/** Problems as a sentence each: `Requests per minute: must be a whole number.` */
export function problemSentence({ field, text, others = [] }: Problem): string {
  return [
    sentence(field === undefined ? text : `${labelOf(field)}: ${text}`),
    ...others.map(problemSentence),
  ].join(" ");
}
