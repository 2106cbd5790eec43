/** @jsxImportSource preact */
/** @jsxImportSourceTypes console-jsx */
/**
 * Lines that connect a program.
 *
 * @module
 */
import { isPermitted } from "../../gateway/accounts/credential_kind.ts";
import { type Connection, PROGRAMS } from "../../gateway/console/programs.ts";
import type { AccountVisit } from "../../gateway/console/visit.ts";
import type { HttpReply } from "../../gateway/http/http_reply.ts";
import { ApiError } from "../../translate/model/error.ts";
import type { AccountPageRoute, RouteContext } from "../route.ts";
import { arrivalSection } from "./arrival.tsx";
import { baseUrl } from "./base_url.ts";
import { page } from "./layout.tsx";
import { Snippet } from "./snippet.tsx";

/** The routes of the programs. */
export const CONNECT_ROUTES: readonly AccountPageRoute[] = [
  {
    access: "page",
    area: "account",
    permission: "look",
    method: "GET",
    path: "/console/connect",
    handle: (context, visit) => connectPage(context, visit, "curl"),
  },
  {
    access: "page",
    area: "account",
    permission: "look",
    method: "GET",
    path: "/console/connect/:program",
    handle: (context, visit) =>
      connectPage(context, visit, context.parameters["program"] ?? ""),
  },
];

async function connectPage(
  context: RouteContext,
  visit: AccountVisit,
  id: string,
): Promise<HttpReply> {
  const program = PROGRAMS.find((one) => one.id === id);
  if (program === undefined) {
    throw new ApiError("not_found", "there is no such program here", {
      retryable: false,
    });
  }
  // The calls of one key are watched for every program.
  const search = context.query.size === 0 ? "" : `?${context.query}`;
  return page(
    context,
    visit,
    {
      title: "Connect",
      about: "Any program with a setting for its address and key works.",
      nav: "/console/connect",
    },
    <>
      <section class="card">
        <h2>Program</h2>
        <p class="acts">
          {PROGRAMS.map((one) => (
            <a
              class={one === program ? "button main" : "button"}
              href={`/console/connect/${one.id}${search}`}
              aria-current={one === program ? "true" : undefined}
            >
              {one.name}
            </a>
          ))}
        </p>
      </section>
      <section class="card">
        <Snippet
          id="lines"
          title={program.name}
          text={program.lines(connectionOf(context))}
        />
        <p class="soft">{program.place}.</p>
        <p class="soft">
          {isPermitted(visit.holder.kind, "manage")
            ? (
              <>
                The key: <a href="/console/keys/new">make one for it</a>.
              </>
            )
            : "The key is an API key (sk-…) of this account."}
        </p>
      </section>
      {await arrivalSection(context, visit)}
    </>,
  );
}

/** The first offered model, and the cheapest one for background requests. */
function connectionOf(context: RouteContext): Connection {
  const { models } = context.gateway.models;
  const cheapest =
    models.toSorted((a, b) => a.price.output - b.price.output)[0];
  const [model] = models;
  return {
    url: baseUrl(context),
    model: model?.id ?? "MODEL",
    smallModel: cheapest?.id ?? "MODEL",
    contextTokens: model?.contextTokens ?? 128_000,
  };
}
