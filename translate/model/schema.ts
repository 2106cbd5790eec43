/**
 * Turns a failed zod validation of a client's request into one error that names the field by its
 * path. The schemas are in each dialect's `wire.ts`.
 */
import { z } from "zod";
import { ApiError, invalidField } from "./error.ts";
import { isObject, type JsonObject } from "../bytes/json.ts";

/** What a schema checks of a value: the fields that it names. Others pass and are not read. */
export type Checked<S extends z.ZodType> = Named<z.output<S>>;

type Named<T> = T extends readonly (infer E)[] ? readonly Named<E>[]
  : T extends object ? keyof NamedFields<T> extends never ? T
    : UnknownObject extends T ? T
    : NamedFields<T>
  : T;
type NamedFields<T> = {
  readonly [K in keyof T as string extends K ? never : K]: Named<T[K]>;
};

type Issue = z.core.$ZodIssue;

/** A path in the usual notation: `messages[0].content`. */
export function fieldPath(path: readonly PropertyKey[]): string {
  let out = "";
  for (const key of path) {
    out += typeof key === "number"
      ? `[${key}]`
      : out === ""
      ? String(key)
      : `.${String(key)}`;
  }
  return out;
}

/** A JSON object of any content, passed by reference. */
export function opaqueObject(): z.ZodType<JsonObject> {
  return z.custom<JsonObject>(isObject, "expected an object").meta({
    type: "object",
  });
}

/**
 * A part, item, call, tool or format of an unknown type: newer than this gateway, or specific to a
 * vendor.
 */
export interface UnknownObject {
  readonly type: string;
  /** Its other fields, unchecked. */
  readonly [key: string]: unknown;
}

/**
 * A schema for objects of an unknown type. Its check aborts, so that a union reports the error of
 * the known type instead of this branch.
 */
export function ofUnknownType(
  known: ReadonlySet<string>,
  note: string,
): z.ZodType<UnknownObject> {
  return z.looseObject({
    type: z.string().refine((type) => !known.has(type), {
      abort: true,
      error: "known type with other fields",
    }),
  }).describe(note);
}

/** As `z.array`, but validation ends with the first wrong entry: a body may have very many. */
const FirstFaultArray: z.core.$constructor<z.ZodArray, z.core.$ZodArrayDef> = z
  .core.$constructor("FirstFaultArray", (list, def) => {
    z.ZodArray.init(list, def);
    const { parse } = list._zod;
    const { run } = def.element._zod;
    list._zod.parse = (payload, context) => {
      const { value } = payload;
      // Zod reports what is no list; none of the schemas is asynchronous.
      if (!Array.isArray(value)) return parse(payload, context);
      const read: unknown[] = Array(value.length);
      for (let at = 0; at < read.length; at++) {
        const result = run({ value: value[at], issues: [] }, context);
        if (result instanceof Promise) throw new z.core.$ZodAsyncError();
        if (result.issues.length > 0) {
          payload.issues.push(...z.core.util.prefixIssues(at, result.issues));
          break;
        }
        read[at] = result.value;
      }
      payload.value = read;
      return payload;
    };
  });

/** A schema of lists; see {@linkcode FirstFaultArray}. */
export function list<T extends z.ZodType>(element: T): z.ZodArray<T> {
  return new FirstFaultArray({ type: "array", element }) as z.ZodArray<T>;
}

/**
 * Validates a value against a schema.
 *
 * @throws {ApiError} `invalid_request` with the path of the first field at fault
 */
export function check<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = safeParse(schema, value);
  if (result.success) return result.data;
  throw fault(result.error.issues, value);
}

/**
 * Fails validation instead of throwing: zod compares the `length` of any value where a text or a
 * list is expected, which throws for an object without a primitive value, such as
 * `{"length":{"toString":1}}`.
 */
function safeParse<T>(
  schema: z.ZodType<T>,
  value: unknown,
): z.ZodSafeParseResult<T> {
  try {
    return schema.safeParse(value);
  } catch (error) {
    const again = schema.safeParse(withoutLengths(value));
    if (again.success) throw error;
    return again;
  }
}

function withoutLengths(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(
      value,
      (key, inner) =>
        key === "length" && typeof inner === "object" ? null : inner,
    ),
  );
}

function fault(issues: readonly Issue[], value: unknown): ApiError {
  const issue = issues[0];
  if (issue === undefined) {
    return invalidField("", "could not read the request");
  }
  const { path, problem } = innermost(issue, [], value);
  const fault = invalidField(fieldPath(path), problem);
  const fields = new Set(issues.map(({ path }) => String(path[0])));
  return fields.size < 2 ? fault : new ApiError(fault.kind, fault.message, {
    ...fault.details,
    wrongFields: [...fields],
  });
}

/**
 * The union branch that matched deepest before it failed: the one that the client probably meant.
 */
function innermost(
  issue: Issue,
  above: readonly PropertyKey[],
  root: unknown,
): { path: readonly PropertyKey[]; problem: string } {
  const path = [...above, ...issue.path];
  if (issue.code === "invalid_union" && issue.errors.length > 0) {
    let best: { path: readonly PropertyKey[]; problem: string } | undefined;
    for (const branch of issue.errors) {
      const first = branch[0];
      if (first === undefined) continue;
      const found = innermost(first, path, root);
      if (best === undefined || found.path.length > best.path.length) {
        best = found;
      }
    }
    if (best !== undefined && best.path.length > path.length) return best;
    const expected = issue.errors.flatMap((branch) =>
      branch.map((inner) => expectation(inner))
    );
    return {
      path,
      problem: present(path, root, [...new Set(expected)].join(" or ")),
    };
  }
  if (issue.code === "unrecognized_keys") {
    return { path: [...path, issue.keys[0] ?? ""], problem: "unknown field" };
  }
  return { path, problem: present(path, root, expectation(issue)) };
}

function present(
  path: readonly PropertyKey[],
  root: unknown,
  problem: string,
): string {
  let value = root;
  for (const key of path) {
    value = (value as Record<PropertyKey, unknown> | null | undefined)?.[key];
  }
  return value === undefined && path.length > 0
    ? "required field is missing"
    : problem;
}

function expectation(issue: Issue): string {
  const problem = issue.message.replace(/^Invalid input: /, "").replace(
    /^Invalid input$/,
    "invalid value",
  );
  return problem.charAt(0).toLowerCase() + problem.slice(1);
}
