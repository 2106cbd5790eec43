/**
 * Lines that connect a program.
 */
import { isPermitted } from "../../../gateway/accounts/credential_kind.ts";
import { accountModels } from "../../../gateway/console/account_models.ts";
import { generates } from "../../../gateway/upstream/catalogue/models.ts";
import {
  type Connection,
  isInPicker,
  PROGRAMS,
} from "../../../gateway/console/programs.ts";
import type { AccountVisit } from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import { ApiError } from "../../../translate/model/error.ts";
import type { AccountPageRoute, RouteContext } from "../../route.ts";
import { arrivalSection } from "../parts/arrival.tsx";
import { baseUrl } from "../http/base_url.ts";
import type { JSX } from "../jsx.d.ts";
import { page } from "../parts/layout.tsx";
import { Snippet } from "../parts/snippet.tsx";
import { accountPageRoute } from "../http/page_route.ts";

export const CONNECT_ROUTES: readonly AccountPageRoute[] = [
  accountPageRoute(
    "look",
    "GET",
    "/console/connect",
    (context, visit) => connectPage(context, visit, "curl"),
    { query: ["key"] },
  ),
  accountPageRoute(
    "look",
    "GET",
    "/console/connect/:program",
    (context, visit) =>
      connectPage(context, visit, context.parameters["program"] ?? ""),
    { query: ["key"] },
  ),
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
  const connection = await connectionOf(context, visit);
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
          text={program.lines(connection)}
        />
        <p class="soft">{program.place}.</p>
        {program.hasPicker && pickerNote(connection)}
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

/** The models that the program's picker shows. */
function pickerNote({ pickerIds }: Connection): JSX.Element {
  const prefixes = (
    <>
      ids that begin with <code>claude</code> or <code>anthropic</code>
    </>
  );
  return pickerIds.length === 0
    ? (
      <p class="soft">
        Its picker shows{" "}
        {prefixes}: none of this gateway. The operator can give a model such an
        id as an alias; until then, the lines above select the model.
      </p>
    )
    : (
      <p class="soft">
        Its picker shows {prefixes}: {pickerIds.map((id, index) => (
          <>
            {index === 0 ? "" : ", "}
            <code>{id}</code>
          </>
        ))}.
      </p>
    );
}

/**
 * Of the models that may be called: the first one, the cheapest one for background requests, one of
 * each operation, and those that a picker shows.
 */
async function connectionOf(
  context: RouteContext,
  { holder }: AccountVisit,
): Promise<Connection> {
  const { admin, config, models: registry, now } = context.gateway;
  const own = await accountModels(admin, registry, holder, now());
  const callable = own.filter(({ refusal }) => refusal === undefined)
    .map(({ model }) => model);
  const generating = callable.filter(generates);
  const [model] = generating;
  const cheapest =
    generating.toSorted((a, b) => a.price.output - b.price.output)[0];
  const ofOperation = (name: string): string | undefined =>
    callable.find(({ operations }) => operations?.includes(name))?.id;
  const embeddingModel = ofOperation("embeddings");
  return {
    url: baseUrl(context),
    model: model?.id ?? "MODEL",
    ...(embeddingModel === undefined ? {} : { embeddingModel }),
    passed: [...config.catalogue.routes.values()].flatMap(
      ({ endpoint, name }) => {
        const passed = ofOperation(name);
        return passed === undefined ? [] : [{ endpoint, model: passed }];
      },
    ),
    hasWebSockets: config.maxSockets > 0,
    smallModel: cheapest?.id ?? "MODEL",
    contextTokens: model?.contextTokens ?? 128_000,
    outputTokens: model?.capabilities.maxOutputTokens ?? 16_000,
    pickerIds: callable.map(({ id }) => id).filter(isInPicker),
  };
}
