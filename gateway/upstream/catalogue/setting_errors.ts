/**
 * Texts of the problems of a configuration file.
 */
import { closestMatch } from "leven";
import { z } from "zod";

/** `there is no KIND NAME`, with the name that was probably meant. */
export function noSuch(
  kind: string,
  name: string,
  known: Iterable<string>,
): string {
  return `there is no ${kind} ${name}${meant(name, known)}`;
}

/** `; did you mean …?` where one of the known names is near. */
export function meant(name: string, known: Iterable<string>): string {
  const near = closestMatch(name, [...known], {
    maxDistance: Math.max(2, Math.floor(name.length / 3)),
  });
  return near === undefined ? "" : `; did you mean ${near}?`;
}

/** An error map of zod: what is allowed, and the field probably meant by an unknown one. */
export function allowedText(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case "unrecognized_keys": {
      const known = issue.inst instanceof z.ZodObject
        ? Object.keys(issue.inst.shape)
        : [];
      return issue.keys.map((key) => noSuch("field", key, known)).join("; ");
    }
    case "invalid_type":
      return issue.input === undefined
        ? `is missing; it must be ${TYPES[issue.expected] ?? issue.expected}`
        : `must be ${TYPES[issue.expected] ?? issue.expected}`;
    case "invalid_value":
      return `must be ${orOf(issue.values.map((one) => JSON.stringify(one)))}`;
    case "too_small":
    case "too_big":
      return bound(issue);
    case "not_multiple_of":
      return `must be a multiple of ${issue.divisor}`;
    case "invalid_format":
      return issue.format === "url"
        ? "must be an address such as https://api.example.com/v1"
        : "must have another form";
    case "invalid_union":
      return anyOf(issue.errors);
    default:
      return undefined;
  }
}

const TYPES: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
  null: "null",
};

function orOf(texts: readonly string[]): string {
  const different = [...new Set(texts)];
  const last = different.pop() ?? "";
  return different.length === 0 ? last : `${different.join(", ")} or ${last}`;
}

function bound(
  issue: z.core.$ZodRawIssue<
    z.core.$ZodIssueTooBig | z.core.$ZodIssueTooSmall
  >,
): string {
  const [limit, isLeast] = issue.code === "too_small"
    ? [issue.minimum, true]
    : [issue.maximum, false];
  const { origin, inclusive = true } = issue;
  if (origin === "string") {
    return isLeast && limit === 1
      ? "must not be empty"
      : `must have ${limit} characters ${isLeast ? "or more" : "at most"}`;
  }
  if (!["number", "int", "bigint"].includes(origin)) {
    return isLeast && limit === 1
      ? "must not be empty"
      : `must have ${limit} entries ${isLeast ? "or more" : "at most"}`;
  }
  return inclusive
    ? `must be ${limit} or ${isLeast ? "more" : "less"}`
    : `must be ${isLeast ? "more" : "less"} than ${limit}`;
}

/** What a value with several forms may be: the form that it nearly has, else all of them. */
function anyOf(forms: readonly (readonly z.core.$ZodIssue[])[]): string {
  const firsts = forms.flatMap(([first]) => first === undefined ? [] : [first]);
  const deepest = firsts.find(({ path }) => path.length > 0);
  if (deepest !== undefined) {
    return `${deepest.path.join(".")}: ${deepest.message}`;
  }
  const kinds = firsts.map(({ message }) => message);
  return kinds.every((text) => text.startsWith("must be "))
    ? `must be ${orOf(kinds.map((text) => text.slice("must be ".length)))}`
    : orOf(kinds);
}
