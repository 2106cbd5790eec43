/**
 * Opens pages: finds the session, refuses forged forms, and passes the visit to the page. Every
 * page passes here; there is no other way to one.
 */
import { requirePermission } from "../../../gateway/accounts/credential_kind.ts";
import { requireScope } from "../../../gateway/accounts/operator_scope.ts";
import { operatorScopeOf } from "../../../gateway/accounts/repositories/session_repository.ts";
import { hashesEqual } from "../../../gateway/accounts/key.ts";
import type { Area, Console } from "../../../gateway/console/console.ts";
import {
  formTokenOf,
  holderOf,
  type Visit,
} from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import { ApiError } from "../../../translate/model/error.ts";
import type { PageRoute, RouteContext } from "../../route.ts";
import { heldFile } from "../../account/held_file.ts";
import { cleanAddress } from "./searched_page.ts";
import { sessionCookie } from "./cookies.ts";
import {
  MAX_FORM_BYTES,
  MAX_OPEN_FORM_BYTES,
  readFileForm,
  readForm,
} from "./form.ts";
import { requireKnownQuery } from "./known_query.ts";
import { RefusedPage } from "./refused_page.ts";
import { requireSameOrigin } from "./same_origin.ts";
import { seeOther } from "./see_other.ts";

export function areaOf(path: string): Area {
  return path.startsWith("/console/operator/") || path === "/console/operator"
    ? "operator"
    : "account";
}

/**
 * The console of the gateway.
 *
 * @throws {ApiError} `not_found` where there is none
 */
export function requireConsole({ gateway }: RouteContext): Console {
  if (gateway.console !== undefined) return gateway.console;
  throw new ApiError(
    "not_found",
    "there is no console here: GATEWAY_CONSOLE is off, or the gateway keeps no store",
    { retryable: false },
  );
}

/**
 * Serves a page.
 *
 * @throws {ApiError} `not_found`, `authentication`, `permission`, `unavailable`, and the page's own
 */
export async function servePage(
  route: PageRoute,
  context: RouteContext,
): Promise<HttpReply> {
  const place = requireConsole(context);
  const isOperators = route.area === "operator" ||
    route.area === "operator_sign_in";
  if (isOperators && !place.hasOperatorArea) {
    throw new ApiError(
      "not_found",
      "there is no operator's area: it needs GATEWAY_ADMIN_TOKEN and GATEWAY_CONSOLE=all",
      { retryable: false },
    );
  }
  if (route.method !== "GET") requireSameOrigin(context);
  else if (route.query !== "any") {
    const clean = cleanAddress(context);
    if (clean !== undefined) return seeOther(clean);
  }
  const handle = await prepareHandler(place, route, context);
  // After the form is read: a client that sends it slowly keeps no page from others.
  const leave = place.enter();
  try {
    return await handle();
  } finally {
    leave();
  }
}

/** Checks the session, reads the form, and returns what makes the page. */
async function prepareHandler(
  place: Console,
  route: PageRoute,
  context: RouteContext,
): Promise<() => Promise<HttpReply> | HttpReply> {
  if (route.area === "public" || route.area === "operator_sign_in") {
    requireKnownQuery(route, context.query);
    const form = route.method === "GET"
      ? new URLSearchParams()
      : await readForm(context, MAX_OPEN_FORM_BYTES);
    return () => route.handle(context, form);
  }
  const visit = await visitOf(place, route, context);
  const held = (reply: HttpReply): Promise<HttpReply> =>
    heldFile(context.gateway, visit.session.subject, reply);
  if (route.area === "operator") {
    const { again } = route;
    return () =>
      inFrame(
        withInput(visit, context),
        async () => {
          requireScope(
            operatorScopeOf(visit.session),
            route.scope ?? (route.method === "GET" ? "read" : "administer"),
          );
          requireKnownQuery(route, context.query);
          return await held(await route.handle(context, visit));
        },
        again && ((refused) => again(context, refused)),
      );
  }
  const holder = holderOf(visit.session);
  if (holder === undefined) throw signInFirst();
  const { again } = route;
  return () =>
    inFrame(
      withInput(visit, context),
      async () => {
        requirePermission(holder.kind, route.permission);
        requireKnownQuery(route, context.query);
        return await held(await route.handle(context, { ...visit, holder }));
      },
      again && ((refused) => again(context, { ...refused, holder })),
    );
}

/** The visit with what the address has, if that is the form. */
function withInput(visit: Visit, { request, query }: RouteContext): Visit {
  return request.method === "POST" ? visit : { ...visit, form: query };
}

/** Makes a page, whose errors are shown to its visitor in the frame of the page. */
async function inFrame(
  visit: Visit,
  handle: () => Promise<HttpReply> | HttpReply,
  again: ((visit: Visit) => Promise<HttpReply> | HttpReply) | undefined,
): Promise<HttpReply> {
  try {
    return await handle();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new RefusedPage(
      error,
      visit,
      again && (async (refused) => await again(refused)),
    );
  }
}

async function visitOf(
  place: Console,
  route: PageRoute,
  context: RouteContext,
): Promise<Visit> {
  const area = route.area === "operator" ? "operator" : "account";
  const secret = sessionCookie(context, area);
  const session = secret === undefined
    ? undefined
    : await place.session(area, secret, route.isBackground !== true);
  if (secret === undefined || session === undefined) throw signInFirst();
  const formToken = formTokenOf(secret);
  if (route.method === "GET") {
    return { session, formToken, form: new URLSearchParams() };
  }
  const form = route.area === "operator" && route.maxFileBytes !== undefined
    ? await readFileForm(context, route.maxFileBytes)
    : await readForm(context, MAX_FORM_BYTES);
  const sent = form.get("form_token") ?? "";
  // Only texts of the same length in bytes can be compared in constant time.
  if (!/^[\da-f]{32}$/.test(sent) || !hashesEqual(sent, formToken)) {
    throw new ApiError(
      "permission",
      "this form belongs to another session; open the page again and repeat",
      { code: "form_token", retryable: false },
    );
  }
  return { session, formToken, form };
}

function signInFirst(): ApiError {
  return new ApiError(
    "authentication",
    "sign in to see this page; a session ends after a time without use, and when its credential is revoked",
    { retryable: false },
  );
}
