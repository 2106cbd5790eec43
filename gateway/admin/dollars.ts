import { invalidField } from "../../translate/model/error.ts";

/**
 * Dollars as micro-dollars, digit by digit: no amount passes through a float.
 *
 * @throws {ApiError} `invalid_request` naming the field
 */
export function microUsdOf(field: string, text: string): number {
  const match = /^([-−]?)\$?(\d+|\d{1,3}(?:,\d{3})+)(?:\.(\d+))?$/.exec(text);
  if (match === null) {
    throw invalidField(
      field,
      text === "" ? "enter an amount" : "must be dollars such as 12.50",
    );
  }
  const [, sign, digits = "", part = ""] = match;
  const whole = digits.replaceAll(",", "");
  if (part.length > 6) {
    throw invalidField(field, "may have six digits after the point");
  }
  if (whole.length > 9) {
    throw invalidField(field, "must be less than a billion dollars");
  }
  const amount = Number(whole + part.padEnd(6, "0"));
  return sign === "" ? amount : 0 - amount;
}
