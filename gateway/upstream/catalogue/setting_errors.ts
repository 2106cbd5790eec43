/**
 * Messages about names in the configuration file that do not exist.
 *
 * @module
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

/** An error map of zod that names the field that was probably meant. Other issues keep their texts. */
export function namesFields(
  issue: z.core.$ZodRawIssue,
): string | undefined {
  if (issue.code !== "unrecognized_keys") return undefined;
  const known = issue.inst instanceof z.ZodObject
    ? Object.keys(issue.inst.shape)
    : [];
  return issue.keys.map((key) => noSuch("field", key, known)).join("; ");
}
