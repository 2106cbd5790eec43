/**
 * Errors as pages: what happened, what helps, and the request id.
 */
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import type { ApiError } from "../../../translate/model/error.ts";
import type { PageRequest } from "../../route.ts";
import type { JSX } from "../jsx.d.ts";
import { barePage, page } from "../parts/layout.tsx";
import {
  problemOf,
  problemSentence,
  sentence,
} from "../parts/problem_words.ts";
import { areaOf } from "../http/page_access.ts";
import { RefusedPage } from "../http/refused_page.ts";
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
export async function errorPage(
  context: PageRequest,
  error: ApiError,
  { status, headers }: Pick<HttpReply, "status" | "headers">,
): Promise<HttpReply> {
  const { "content-type": _, ...rest } = headers;
  const shown = await inFrame(context, error) ??
    signInError(context, error, status);
  return { ...shown, status, headers: { ...shown.headers, ...rest } };
}

/** In the frame of the visitor's pages, on the form itself where the error is of its input. */
async function inFrame(
  context: PageRequest,
  error: ApiError,
): Promise<HttpReply | undefined> {
  if (!(error instanceof RefusedPage)) return undefined;
  const { visit, again, kind, details, status } = error;
  const isInput = kind === "invalid_request" || kind === "conflict" ||
    (kind === "not_found" && details.param !== undefined);
  if (again !== undefined && isInput) {
    try {
      return await again({
        ...visit,
        problem: {
          ...problemOf(error),
          others: error.others.map(problemOf),
        },
      });
    } catch {
      // The form's record or the store cannot be read: the first error is the one to show.
    }
  }
  return page(
    context,
    visit,
    { title: TITLES[status] ?? "An error" },
    <section class="card">
      <p role="alert">{problemSentence(problemOf(error))}</p>
      <WhatNow context={context} status={status} />
    </section>,
  );
}

function signInError(
  context: PageRequest,
  error: ApiError,
  status: number,
): HttpReply {
  const area = areaOf(context.path);
  const isSignIn = context.path.endsWith("/sign-in");
  return barePage(
    context,
    { title: TITLES[status] ?? "An error" },
    status === 401 || (status === 429 && isSignIn)
      ? (
        <>
          {context.request.method === "POST" && !isSignIn
            ? (
              <p>
                Nothing was changed. Sign in, which opens another tab; then the
                Back button of this one returns to the form with what you
                entered.
              </p>
            )
            : null}
          <SignInForm
            area={area}
            context={context}
            problem={sentence(error.message)}
          />
          <RequestId context={context} />
        </>
      )
      : (
        <>
          <p role="alert">{sentence(error.message)}</p>
          {error.details.code === "form_token"
            ? (
              <p>
                Nothing was changed. The Back button of the browser returns to
                the form with what you entered.
              </p>
            )
            : null}
          <WhatNow context={context} status={status} />
        </>
      ),
  );
}

function WhatNow(
  { context, status }: {
    readonly context: PageRequest;
    readonly status: number;
  },
): JSX.Element {
  const { gateway, path, query, request } = context;
  const isOperators = areaOf(path) === "operator";
  return (
    <>
      {status === 503
        ? <p>Calls that are under way go on.</p>
        : status === 400 && query.size > 0 && request.method === "GET"
        ? (
          <p>
            <a href={path}>Open the page without these values</a>
          </p>
        )
        : null}
      {isOperators && gateway.console?.hasOperatorArea !== true ? null : (
        <p>
          <a href={isOperators ? "/console/operator/" : "/console/"}>
            To the overview
          </a>
        </p>
      )}
      <RequestId context={context} />
    </>
  );
}

function RequestId(
  { context: { requestId } }: { readonly context: PageRequest },
): JSX.Element {
  return (
    <p class="soft">
      Request id: <code>{requestId}</code>
    </p>
  );
}
