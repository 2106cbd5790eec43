/** @jsxImportSource preact */
/** @jsxImportSourceTypes console-jsx */
/**
 * Errors as pages: what happened, what helps, and the request id.
 *
 * @module
 */
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import type { ApiError } from "../../../translate/model/error.ts";
import type { PageRequest } from "../../route.ts";
import { doorPage } from "../parts/layout.tsx";
import { doorOf } from "../http/page_access.ts";
import { SignInForm } from "./sign_in.tsx";

const TITLES: Readonly<Record<number, string>> = {
  400: "That did not work",
  401: "Sign in",
  403: "Not permitted",
  404: "Not found",
  409: "That is not possible now",
  429: "Too many attempts",
  503: "Not available",
};

/** The page of an error; `status` and `headers` are those of the error's reply. */
export function errorPage(
  context: PageRequest,
  error: ApiError,
  { status, headers }: Pick<HttpReply, "status" | "headers">,
): HttpReply {
  const door = doorOf(context.path);
  const { "content-type": _, ...rest } = headers;
  const isPost = context.request.method === "POST";
  // Back loads the form again, with the token of the present session.
  const isForm = isPost &&
    (status === 400 || status === 409 || error.details.code === "form_token");
  return doorPage(
    context,
    { title: TITLES[status] ?? "An error", status, headers: rest },
    status === 401 || (status === 429 && context.path.endsWith("/sign-in"))
      ? (
        <>
          {isPost && !context.path.endsWith("/sign-in")
            ? (
              <p>
                Nothing was changed. Sign in, which opens another tab; then the
                Back button of this one returns to the form with what you
                entered.
              </p>
            )
            : null}
          <SignInForm
            door={door}
            context={context}
            problem={sentence(error.message)}
          />
          <p class="soft">
            Request id: <code>{context.requestId}</code>
          </p>
        </>
      )
      : (
        <>
          <p role="alert">{sentence(error.message)}</p>
          {status === 503
            ? <p>The store does not answer. Calls that are running go on.</p>
            : isForm
            ? (
              <p>
                Nothing was changed. The Back button of the browser returns to
                the form with what you entered.
              </p>
            )
            : status === 400 && context.query.size > 0
            ? (
              <p>
                <a href={context.path}>Open the page without these values</a>
              </p>
            )
            : null}
          <p>
            <a href={door === "operator" ? "/console/operator/" : "/console/"}>
              To the overview
            </a>
          </p>
          <p class="soft">
            Request id: <code>{context.requestId}</code>
          </p>
        </>
      ),
  );
}

/** The message of an API error as a sentence of a page. */
function sentence(message: string): string {
  // A field is named as its label: `spend_per_day: …` as Spend per day.
  const named = message.replace(
    /^\w+(?=: )/,
    (name) => name.replaceAll("_", " "),
  );
  const text = named.charAt(0).toUpperCase() + named.slice(1);
  return /[.?!]$/.test(text) ? text : `${text}.`;
}
