/** Builders of hooks that change replies, problems and parts of some exchanges. */
import type { Context, Hooks, JsonReply } from "../reference_gateway/hooks.ts";
import type { Part, Problem } from "../reference_gateway/part.ts";

/** The exchanges that a fault concerns: those that have these members. */
type Where = Partial<Pick<Context, "endpoint" | "does" | "stream">>;

/** What has a status, and the lowest status that a fault concerns. */
type WithStatus = Where & { readonly status?: number; readonly least?: number };

/** The members that differ, or how they follow. */
type Change<T> = Partial<T> | ((value: T, x: Context) => Partial<T>);

function isIn(x: Context, { endpoint, does, stream }: Where): boolean {
  return (endpoint ?? x.endpoint) === x.endpoint &&
    (does ?? x.does) === x.does &&
    (stream ?? x.stream) === x.stream;
}

function hasStatus(
  found: number,
  { status = found, least = found }: WithStatus,
): boolean {
  return found === status && found >= least;
}

/** Changes JSON replies; headers are added to those that a reply has. */
export function changeReplies(
  where: WithStatus,
  change: Change<JsonReply>,
): Hooks {
  return {
    reply: (reply, x) => {
      if (!isIn(x, where) || !hasStatus(reply.status, where)) return reply;
      if (typeof change === "function") {
        return { ...reply, ...change(reply, x) };
      }
      const headers = { ...reply.headers, ...change.headers };
      return { ...reply, ...change, headers };
    },
  };
}

/** Changes problems before they are reported. */
export function changeProblems(
  where: WithStatus & { readonly code?: string },
  change: Change<Problem>,
): Hooks {
  return {
    problem: (problem, x) =>
      isIn(x, where) && hasStatus(problem.status, where) &&
        (where.code ?? problem.code) === problem.code
        ? {
          ...problem,
          ...typeof change === "function" ? change(problem, x) : change,
        }
        : problem,
  };
}

/** Changes the parts of a type, as read from the upstream. */
export function changeParts<Type extends Part["type"]>(
  type: Type,
  change: (
    part: Part & { readonly type: Type },
    x: Context,
  ) => Part | readonly Part[],
  where: Where = {},
): Hooks {
  const isOf = (part: Part): part is Part & { readonly type: Type } =>
    part.type === type;
  return {
    part: (part, x) =>
      isIn(x, where) && isOf(part) ? [change(part, x)].flat() : [part],
  };
}

/** Replaces a piece of the body of requests before they are read. */
export function replaceInBody(
  piece: string | RegExp,
  by: string,
  where: Where = {},
): Hooks {
  return {
    request: (request, x) =>
      isIn(x, where)
        ? { ...request, body: request.body.replace(piece, by) }
        : request,
  };
}

/** Accepts any key. */
export function admit(where: Where): Hooks {
  return { admit: (problem, x) => isIn(x, where) ? undefined : problem };
}

/** Accepts any body. */
export function accept(where: Where): Hooks {
  return { accept: (problem, _, x) => isIn(x, where) ? undefined : problem };
}
