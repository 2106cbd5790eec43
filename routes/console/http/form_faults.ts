/**
 * All that is wrong with a form, so that a person needs to send it only once more.
 */
import { z } from "zod";
import { ApiError } from "../../../translate/model/error.ts";
import { check } from "../../../translate/model/schema.ts";

/** The fault of the first field, with those of further ones. */
export class FormFaults extends ApiError {
  readonly others: readonly ApiError[];

  constructor(
    { kind, message, details }: ApiError,
    others: readonly ApiError[],
  ) {
    super(kind, message, details);
    this.others = others;
  }
}

/** The faults of an error, of each field the first one. */
export function faultsOf(error: ApiError): readonly ApiError[] {
  const all = error instanceof FormFaults ? [error, ...error.others] : [error];
  return [...new Map(
    all.toReversed().map((one) => [one.details.param, one]),
  ).values()].toReversed();
}

/**
 * The fields of a body that are read in parts, in the order of the form.
 *
 * @throws {ApiError} with the faults of all parts
 */
export function inParts(
  ...parts: readonly (() => Readonly<Record<string, unknown>>)[]
): Readonly<Record<string, unknown>> {
  const faults: ApiError[] = [];
  const bodies = parts.map((part) => {
    try {
      return part();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      faults.push(...faultsOf(error));
      return {};
    }
  });
  const [first, ...others] = faults;
  if (first !== undefined) throw new FormFaults(first, others);
  return Object.assign({}, ...bodies);
}

/**
 * A part of a body: one field, as the API takes it.
 *
 * @throws {ApiError} `invalid_request` naming the field
 */
export function fieldBody(
  name: string,
  schema: z.ZodType,
  value: unknown,
): Readonly<Record<string, unknown>> {
  return check(z.object({ [name]: schema }), { [name]: value });
}
