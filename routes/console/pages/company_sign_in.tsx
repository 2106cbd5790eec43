/**
 * Sign-in at the company's issuer: the way there, the way back, and the way out.
 */
import type { JSX } from "../jsx.d.ts";
import type { Area, Company } from "../../../gateway/console/console.ts";
import type { Wanted } from "../../../gateway/console/company_sign_in.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import { ApiError } from "../../../translate/model/error.ts";
import type { PageRequest, PageRoute, RouteContext } from "../../route.ts";
import { baseUrl } from "../http/base_url.ts";
import {
  requireTransport,
  sessionCookie,
  setSessionCookie,
  setTicketCookie,
  ticketCookie,
} from "../http/cookies.ts";
import { localPath } from "../http/local_path.ts";
import { requireConsole } from "../http/page_access.ts";
import { seeOther } from "../http/see_other.ts";
import { barePage } from "../parts/layout.tsx";
import { HOMES } from "../parts/homes.ts";

const PATH = "/console/company-sign-in";
const CALLBACK = `${PATH}/callback`;

/** The way there and the way back; both open without a session. */
export const COMPANY_SIGN_IN_ROUTES: readonly PageRoute[] = [
  {
    access: "page",
    area: "public",
    method: "GET",
    path: PATH,
    query: ["account", "door", "next"],
    handle: (context) => depart(context),
  },
  {
    access: "page",
    area: "public",
    method: "GET",
    path: CALLBACK,
    query: "any",
    handle: (context) => arrive(context),
  },
];

/** The link to the issuer; nothing where the area has none. */
export function CompanyLink(
  { context, area, next }: {
    readonly context: PageRequest;
    readonly area: Area;
    readonly next?: string;
  },
): JSX.Element | null {
  const company = context.gateway.console?.company();
  if (company === undefined || !company.areas.has(area)) return null;
  return (
    <p>
      <a class="button" href={wayTo({ door: area, ...(next && { next }) })}>
        Sign in with {company.name}
      </a>
    </p>
  );
}

/**
 * The page after a session of company sign-in has ended: it leads to the issuer, so that its
 * session ends too. Undefined where the issuer has no such page.
 */
export async function leavePage(
  context: RouteContext,
  area: Area,
  setCookie: Readonly<Record<string, string>>,
): Promise<HttpReply | undefined> {
  const company = requireConsole(context).company();
  const url = await company?.signIn.logout(
    `${baseUrl(context)}${HOMES[area]}sign-in`,
  );
  if (company === undefined || url === undefined) return undefined;
  // No redirect: a form may lead to pages of this origin only.
  return barePage(
    context,
    {
      title: "Signed out here",
      headers: { ...setCookie, refresh: `0;url=${url}` },
    },
    <p>
      <a href={url}>Sign out of {company.name} too</a>
    </p>,
  );
}

function wayTo(wanted: Wanted): string {
  return `${PATH}?${new URLSearchParams({ ...wanted })}`;
}

async function depart(context: RouteContext): Promise<HttpReply> {
  const transport = requireTransport(context);
  const { query } = context;
  const account = query.get("account");
  const next = query.get("next");
  const { url, ticket } = await requireCompany(context).signIn.begin(
    {
      door: query.get("door") === "operator" ? "operator" : "account",
      ...(account === null ? {} : { account }),
      ...(next === null ? {} : { next }),
    },
    callbackOf(context),
  );
  return seeOther(url, {
    "set-cookie": setTicketCookie(context, transport, ticket),
  });
}

async function arrive(context: RouteContext): Promise<HttpReply> {
  const transport = requireTransport(context);
  const place = requireConsole(context);
  const company = requireCompany(context);
  const person = await company.signIn.end(
    context.query.size === 0 ? "" : `?${context.query}`,
    ticketCookie(context),
    callbackOf(context),
  );
  const entered = await place.enterAs(
    person,
    (area) => sessionCookie(context, area),
    context.requestId,
  );
  if ("accounts" in entered) {
    return barePage(
      context,
      { title: "Which account?" },
      <ul>
        {entered.accounts.map((account) => (
          <li>
            <a href={wayTo({ ...person.wanted, account })}>
              <bdi>{account}</bdi>
            </a>
          </li>
        ))}
      </ul>,
    );
  }
  const { area, secret } = entered;
  const home = HOMES[area];
  const next = localPath(person.wanted.next, home);
  const to = next.startsWith(HOMES.operator) === (area === "operator")
    ? next
    : home;
  // No redirect: the browser sends the session only with requests that a page of this site starts.
  return barePage(
    context,
    {
      title: "Signed in",
      headers: {
        "set-cookie": setSessionCookie(context, area, transport, secret),
        refresh: `0;url=${to}`,
      },
    },
    <p>
      <a href={to}>Go on</a>
    </p>,
  );
}

function callbackOf(context: RouteContext): string {
  return `${baseUrl(context)}${CALLBACK}`;
}

function requireCompany(context: RouteContext): Company {
  const company = requireConsole(context).company();
  if (company !== undefined) return company;
  throw new ApiError(
    "not_found",
    "there is no company sign-in here: the configuration file has no sign_in",
    { retryable: false },
  );
}
