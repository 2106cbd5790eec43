/**
 * The frame of every page: navigation, search, and the reply with its headers.
 */
import { compact } from "../../../translate/bytes/compact.ts";
import type { Children, JSX } from "../jsx.d.ts";
// @ts-types="../jsx.d.ts"
import { renderToString } from "preact-render-to-string";
import {
  isPermitted,
  type Permission,
} from "../../../gateway/accounts/credential_kind.ts";
import { sessionText } from "./session_text.ts";
import { operatorScopeOf } from "../../../gateway/accounts/repositories/session_repository.ts";
import type { Visit } from "../../../gateway/console/visit.ts";
import type {
  HeaderFields,
  HttpReply,
} from "../../../gateway/http/http_reply.ts";
import { lagSeconds } from "../../account/report_lag.ts";
import type { PageRequest } from "../../route.ts";
import { ASSET_PATHS } from "../assets/assets.ts";
import { themeOf } from "../http/cookies.ts";
import { PAGE_HEADERS } from "../http/page_headers.ts";
import { SearchForm } from "./search_form.tsx";
import { problemSentence } from "./problem_words.ts";

interface NavItem {
  readonly name: string;
  readonly path: string;
  /** Pressed after `g`. */
  readonly key: string;
  readonly permission: Permission;
}

const ACCOUNT_NAV: readonly NavItem[] = [
  { name: "Overview", path: "/console/", key: "o", permission: "look" },
  { name: "Usage", path: "/console/usage", key: "u", permission: "look" },
  { name: "Calls", path: "/console/calls", key: "c", permission: "look" },
  { name: "Keys", path: "/console/keys", key: "k", permission: "see_account" },
  {
    name: "This key",
    path: "/console/key",
    key: "k",
    permission: "revoke_itself",
  },
  { name: "Models", path: "/console/models", key: "m", permission: "look" },
  { name: "Connect", path: "/console/connect", key: "n", permission: "look" },
  { name: "Try", path: "/console/try", key: "t", permission: "look" },
  {
    name: "Ledger",
    path: "/console/ledger",
    key: "l",
    permission: "see_account",
  },
  {
    name: "Access",
    path: "/console/access",
    key: "a",
    permission: "see_account",
  },
  {
    name: "Changes",
    path: "/console/changes",
    key: "e",
    permission: "see_account",
  },
];

const OPERATOR_NAV: readonly NavItem[] = ([
  ["Overview", "", "o"],
  ["Live", "live", "i"],
  ["Upstreams", "upstreams", "h"],
  ["Models", "models", "m"],
  ["Calls", "calls", "c"],
  ["Usage", "usage", "u"],
  ["Accounts", "accounts", "a"],
  ["Plans", "plans", "p"],
  ["Keys", "keys", "k"],
  ["Ledger", "ledger", "l"],
  ["Webhooks", "webhooks", "w"],
  ["Operators", "operators", "t"],
  ["Changes", "changes", "e"],
  ["Settings", "settings", "s"],
] as const).map(([name, path, key]) => ({
  name,
  path: `/console/operator/${path}`,
  key,
  permission: "operate",
}));

export interface Page {
  /** Heading and document title. */
  readonly title: string;
  /** A sentence below the heading. */
  readonly about?: Children;
  /** Path of the page in the navigation; absent: the request's. */
  readonly nav?: string;
  /** Links and buttons beside the heading. */
  readonly actions?: JSX.Element;
  /** HTTP status; 200 by default. */
  readonly status?: number;
  readonly headers?: HeaderFields;
}

/** How old figures are, where they are read from a replica. */
function ReportLag(
  { context }: { readonly context: PageRequest },
): JSX.Element | null {
  if (context.gateway.replicaLagMs === undefined) return null;
  const lag = lagSeconds(context.gateway);
  return (
    <p class="soft">
      {lag === undefined
        ? "Figures: the replica does not answer"
        : `Figures: ${lag} s behind`}
    </p>
  );
}

/** A page with navigation. */
export function page(
  context: PageRequest,
  visit: Visit,
  { title, about, nav, actions, ...rest }: Page,
  body: JSX.Element,
): HttpReply {
  const { kind } = visit.session;
  const { path, query } = context;
  const items = (kind === "operator" ? OPERATOR_NAV : ACCOUNT_NAV)
    .filter(({ permission }) => isPermitted(kind, permission));
  const current = nav ?? context.path;
  const home = kind === "operator" ? "/console/operator/" : "/console/";
  return document(
    context,
    { title, ...rest },
    <>
      <a class="skip" href="#main">Skip to the page</a>
      <div class="shell">
        <header class="side">
          <Brand href={home} />
          <nav aria-label="Pages">
            <ul>
              {items.map((item) => (
                <li>
                  <a
                    href={item.path}
                    data-key={item.key}
                    {...(item.path === current
                      ? { "aria-current": "page" as const }
                      : {})}
                  >
                    {item.name}
                  </a>
                </li>
              ))}
            </ul>
          </nav>
          <ReportLag context={context} />
          <div class="who">
            <span>
              <b>
                <bdi>{visit.session.accountId ?? "Operator"}</bdi>
              </b>
              <br />
              {visit.session.name === undefined ? null : (
                <>
                  <bdi>{visit.session.name}</bdi>
                  <br />
                </>
              )}
              {kind === "operator"
                ? `all accounts, ${operatorScopeOf(visit.session)}`
                : `with ${sessionText(visit.session)}`}
            </span>
            <div>
              <ThemeForm context={context} />
              <form method="post" action={`${home}sign-out`}>
                <FormToken visit={visit} />
                <button class="link" type="submit">Sign out</button>
              </form>
              <details id="shortcuts">
                <summary>Keyboard</summary>
                <p>
                  <kbd>/</kbd> searches. <kbd>g</kbd>, then:
                </p>
                <ul>
                  {items.map(({ name, key }) => (
                    <li>
                      <kbd>{key}</kbd> {name}
                    </li>
                  ))}
                </ul>
              </details>
            </div>
          </div>
        </header>
        <main id="main" tabIndex={-1}>
          <div class="head">
            <SearchForm
              visit={visit}
              class="find"
              path={`${home}find`}
              role="search"
            >
              <input
                type="search"
                name="q"
                aria-label={kind === "operator"
                  ? "Find accounts, keys, models, end users and calls"
                  : "Find keys, models, end users and calls"}
                placeholder={kind === "operator"
                  ? "Find an account, key, model, user or req_…"
                  : "Find a key, model, end user or req_…"}
                autocomplete="off"
                spellcheck={false}
                {...(path === `${home}find`
                  ? { value: query.get("q") ?? "" }
                  : {})}
              />
            </SearchForm>
            {kind === "operator"
              ? (
                <div class="acts">
                  <Bell notices={visit.notices} />
                </div>
              )
              : null}
          </div>
          <div class="head">
            <div>
              <h1>{title}</h1>
              {about === undefined ? null : <p>{about}</p>}
            </div>
            {actions === undefined ? null : <div class="acts">{actions}</div>}
          </div>
          {visit.problem === undefined
            ? null
            : (
              <p class="note bad" role="alert">
                {problemSentence(visit.problem)}
                {context.request.method === "POST"
                  ? " Nothing was changed."
                  : ""}
              </p>
            )}
          {body}
        </main>
      </div>
    </>,
  );
}

/** Leads to the notices; `notices` is absent while their number is not known. */
function Bell(
  { notices }: { readonly notices: number | undefined },
): JSX.Element {
  return (
    <a class="button" href="/console/operator/notices">
      Notices{notices === undefined || notices === 0 ? null : (
        <>
          {" "}
          <span class="tag bad">{notices}</span>
        </>
      )}
    </a>
  );
}

/** A page without navigation: sign-in, and errors without a session. */
export function barePage(
  context: Pick<PageRequest, "request">,
  options: Pick<Page, "title" | "status" | "headers">,
  body: JSX.Element,
): HttpReply {
  return document(
    context,
    options,
    <main class="bare">
      <div class="card">
        <Brand href="/console/" />
        <h1>{options.title}</h1>
        {body}
      </div>
    </main>,
  );
}

/** Hidden field of every form of a session. */
export function FormToken({ visit }: { readonly visit: Visit }): JSX.Element {
  return <input type="hidden" name="form_token" value={visit.formToken} />;
}

/** Hidden field of every form that changes something: sent twice, it is applied once. */
export function OnceField(): JSX.Element {
  return (
    <input type="hidden" name="idempotency_key" value={crypto.randomUUID()} />
  );
}

function document(
  { request }: Pick<PageRequest, "request">,
  { title, status = 200, headers = {} }: Pick<
    Page,
    "title" | "status" | "headers"
  >,
  body: Children,
): HttpReply {
  const theme = themeOf(request);
  const html = renderToString(
    <html lang="en" {...compact({ "data-theme": theme })}>
      <head>
        <meta charset="utf-8" />
        <title>{`${title} · Model Gateway`}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <link rel="stylesheet" href={ASSET_PATHS.style} />
        <link rel="icon" href={ASSET_PATHS.icon} />
        <script defer src={ASSET_PATHS.script} />
      </head>
      <body>{body}</body>
    </html>,
  );
  return {
    status,
    headers: {
      ...PAGE_HEADERS,
      "content-type": "text/html; charset=utf-8",
      ...headers,
    },
    body: `<!doctype html>${html}`,
  };
}

function Brand({ href }: { readonly href: string }): JSX.Element {
  return (
    <a class="brand" href={href}>
      <svg viewBox="0 0 32 32" aria-hidden="true">
        <rect width="32" height="32" rx="8" class="s1" />
        <path
          d="M7 22V10l9 7 9-7v12"
          fill="none"
          stroke="#fff"
          stroke-width="3"
          stroke-linecap="round"
          stroke-linejoin="round"
        />
      </svg>
      Model Gateway
    </a>
  );
}

const THEMES = [["system", "System"], ["light", "Light"], ["dark", "Dark"]];

function ThemeForm(
  { context }: { readonly context: PageRequest },
): JSX.Element {
  const { path, query, request } = context;
  const chosen = themeOf(request) ?? "system";
  return (
    <form class="theme" method="post" action="/console/theme">
      <input
        type="hidden"
        name="next"
        value={request.method === "GET" && query.size > 0
          ? `${path}?${query}`
          : path}
      />
      {THEMES.map(([to, name]) => (
        <button
          class="link"
          type="submit"
          name="to"
          value={to}
          aria-label={`${name} colours`}
          aria-pressed={to === chosen ? "true" : "false"}
        >
          {name}
        </button>
      ))}
    </form>
  );
}
