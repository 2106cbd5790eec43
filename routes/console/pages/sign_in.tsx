/**
 * Signing in to the console, and out.
 */
import type { JSX } from "../jsx.d.ts";
import type { Area } from "../../../gateway/console/console.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import type { PageRequest, PageRoute, RouteContext } from "../../route.ts";
import { isPerson } from "../../../gateway/accounts/repositories/session_repository.ts";
import type { Visit } from "../../../gateway/console/visit.ts";
import {
  requireTransport,
  sessionCookie,
  setSessionCookie,
  transportOf,
} from "../http/cookies.ts";
import { localPath } from "../http/local_path.ts";
import { barePage } from "../parts/layout.tsx";
import { HOMES } from "../parts/homes.ts";
import { seeOther } from "../http/see_other.ts";
import { requireConsole } from "../http/page_access.ts";
import { CompanyLink, leavePage } from "./company_sign_in.tsx";
import { accountPageRoute, operatorPageRoute } from "../http/page_route.ts";

export const SIGN_IN_ROUTES: readonly PageRoute[] = [
  {
    access: "page",
    area: "public",
    method: "GET",
    path: "/console/sign-in",
    query: ["revoked"],
    handle: (context) => signInPage(context, "account"),
  },
  {
    access: "page",
    area: "public",
    method: "POST",
    path: "/console/sign-in",
    handle: (context, form) => signIn(context, form, "account"),
  },
  {
    access: "page",
    area: "operator_sign_in",
    method: "GET",
    path: "/console/operator/sign-in",
    handle: (context) => signInPage(context, "operator"),
  },
  {
    access: "page",
    area: "operator_sign_in",
    method: "POST",
    path: "/console/operator/sign-in",
    handle: (context, form) => signIn(context, form, "operator"),
  },
  accountPageRoute(
    "look",
    "POST",
    "/console/sign-out",
    (context, visit) => signOut(context, visit, "account"),
  ),
  operatorPageRoute(
    "POST",
    "/console/operator/sign-out",
    (context, visit) => signOut(context, visit, "operator"),
    { scope: "read" },
  ),
  {
    access: "page",
    area: "public",
    method: "POST",
    path: "/console/theme",
    handle({ gateway }, form) {
      const to = form.get("to");
      const isChoice = to === "dark" || to === "light";
      return seeOther(localPath(form.get("next"), HOMES.account), {
        "set-cookie": `theme=${
          isChoice ? to : ""
        }; Path=${gateway.config.basePath}/console; SameSite=Strict; HttpOnly; Max-Age=${
          isChoice ? 31536000 : 0
        }`,
      });
    },
  },
];

function signInPage(context: RouteContext, area: Area): HttpReply {
  return barePage(
    context,
    { title: area === "operator" ? "Operator sign-in" : "Sign in" },
    <SignInForm area={area} context={context} />,
  );
}

/** The sign-in form of an area; `problem` is why it is shown again. */
export function SignInForm(
  { area, context, problem }: {
    readonly area: Area;
    readonly context: PageRequest;
    readonly problem?: string;
  },
): JSX.Element {
  if (transportOf(context) === undefined) {
    return (
      <p class="note bad">
        The console needs https, or a loopback address such as 127.0.0.1: over
        plain http its session could be read by others on the network.
      </p>
    );
  }
  const isPost = context.request.method === "POST";
  const next = !isPost && !context.path.endsWith("/sign-in") &&
      !context.path.endsWith("/callback")
    ? `${context.path}${context.query.size === 0 ? "" : `?${context.query}`}`
    : undefined;
  return (
    <form
      class="form"
      method="post"
      action={`${HOMES[area]}sign-in`}
      // Beside a form whose session has ended, whose input this tab keeps.
      target={isPost && !context.path.endsWith("/sign-in")
        ? "_blank"
        : undefined}
    >
      <CompanyLink context={context} area={area} {...(next && { next })} />
      <p class="soft">
        {area === "operator"
          ? "With the admin token of the gateway, the value of GATEWAY_ADMIN_TOKEN."
          : "With an API key (sk-…), an account token (at-…) or the code of a sign-in link."}
      </p>
      {context.query.has("revoked")
        ? (
          <p class="note" role="status">
            The key is revoked: its calls are refused, and its session has
            ended.
          </p>
        )
        : null}
      {problem === undefined
        ? null
        : <p class="note bad" role="alert">{problem}</p>}
      <p class="note" data-open hidden>
        A sign-in link works once. Press Open to use it.
      </p>
      <label>
        {area === "operator" ? "Admin token" : "Key, token or code"}
        <input
          type="password"
          name="credential"
          required
          autocomplete="off"
          spellcheck={false}
          {...(area === "account"
            ? { "data-code": true }
            : { autofocus: true })}
        />
      </label>
      {next === undefined
        ? null
        : <input type="hidden" name="next" value={next} />}
      <button class="main" type="submit">Sign in</button>
    </form>
  );
}

async function signIn(
  context: RouteContext,
  form: URLSearchParams,
  area: Area,
): Promise<HttpReply> {
  const place = requireConsole(context);
  const transport = requireTransport(context);
  const credential = (form.get("credential") ?? "").trim();
  const { secret } = await place.signIn(
    area,
    credential,
    sessionCookie(context, area),
    context.requestId,
  );
  return seeOther(localPath(form.get("next"), HOMES[area]), {
    "set-cookie": setSessionCookie(context, area, transport, secret),
  });
}

async function signOut(
  context: RouteContext,
  { session }: Visit,
  area: Area,
): Promise<HttpReply> {
  const secret = sessionCookie(context, area);
  const transport = transportOf(context);
  if (secret !== undefined) {
    await requireConsole(context).signOut(secret, context.requestId);
  }
  const headers = {
    ...(transport === undefined ? {} : {
      "set-cookie": setSessionCookie(context, area, transport, undefined),
    }),
  };
  const leave = isPerson(session.subject)
    ? await leavePage(context, area, headers)
    : undefined;
  return leave ?? seeOther(`${HOMES[area]}sign-in`, headers);
}
