/**
 * Mutants for the checks of the area `transport` about methods, paths, headers, and requests after
 * refused ones.
 */
import type {
  Context,
  Hooks,
  JsonReply,
} from "../../reference_gateway/hooks.ts";
import { problemOf } from "../../reference_gateway/problems.ts";
import type { Mutant } from "../../reference_gateway/mutant.ts";

/** Changes the replies of a status. */
function replies(
  status: number,
  change: (reply: JsonReply, x: Context) => JsonReply,
): Hooks {
  return {
    reply: (reply, x) => reply.status === status ? change(reply, x) : reply,
  };
}

/** Refuses requests that satisfy the test. */
function refusing(status: number, test: (x: Context) => boolean): Hooks {
  return {
    accept: (problem, _, x) =>
      test(x) ? problemOf(status, "This request is not possible") : problem,
  };
}

const html = (reply: JsonReply): JsonReply => ({
  ...reply,
  headers: { ...reply.headers, "content-type": "text/html" },
});

/** Fails after some refusals with this status. */
function afterRefusals(status: number): Hooks {
  let refused = 0;
  return {
    reply: (reply) => {
      if (reply.status === 400) refused++;
      return reply.status === 200 && refused > 4
        ? {
          ...reply,
          status,
          body: { type: "error", error: { type: "api_error", message: "no" } },
        }
        : reply;
    },
  };
}

/** Part of `TRANSPORT_MUTANTS`. */
export const TRANSPORT_REQUEST_MUTANTS: readonly Mutant[] = [
  {
    name: "any-method-posts",
    about: "Every method is accepted",
    hooks: {
      request: (request, { endpoint }) => ({
        ...request,
        method: endpoint === "models" ? "GET" : "POST",
      }),
    },
  },
  {
    name: "wrong-method-500",
    about: "A wrong method causes a server error",
    hooks: replies(405, (reply) => ({ ...reply, status: 500 })),
  },
  {
    name: "wrong-method-as-html",
    about: "A wrong method gets an HTML page",
    hooks: replies(405, html),
  },
  {
    name: "405-without-allow",
    about: "A 405 lists no allowed methods",
    hooks: replies(405, ({ headers: { allow: _, ...headers }, ...reply }) => ({
      ...reply,
      headers,
    })),
  },
  {
    name: "405-allows-wrong",
    about: "A 405 lists the wrong method",
    hooks: replies(405, (reply) => ({
      ...reply,
      headers: { ...reply.headers, allow: "TRACE" },
    })),
  },
  {
    name: "unknown-path-200",
    about: "An unknown path is answered 200",
    hooks: replies(
      404,
      (reply, { endpoint }) =>
        endpoint === "other" ? { ...reply, status: 200 } : reply,
    ),
  },
  {
    name: "unknown-path-as-html",
    about: "An unknown path gets an HTML page",
    hooks: replies(404, html),
  },
  {
    name: "unknown-path-500",
    about: "An unknown path causes a server error",
    hooks: replies(404, (reply) => ({ ...reply, status: 500 })),
  },
  {
    name: "head-500",
    about: "HEAD causes a server error",
    hooks: {
      reply: (reply, { request }) =>
        request.method === "HEAD" ? { ...reply, status: 500 } : reply,
    },
  },
  {
    name: "head-with-body",
    about: "HEAD is answered with a body",
    hooks: {
      writer: (writer, { request }) => {
        if (request.method !== "HEAD") return writer;
        // The writer sends chunks only for other methods. Additional lines in the head serve as a
        // body.
        return {
          ...writer,
          head: (status, headers) =>
            writer.head(status, { ...headers, "x-end": "\r\n\r\n{}" }),
        };
      },
    },
  },
  {
    name: "beta-refused",
    about: "An unknown beta is refused",
    hooks: refusing(
      400,
      ({ request }) => request.headers["anthropic-beta"] !== undefined,
    ),
  },
  {
    name: "cookie-refused",
    about: "A request with a cookie is refused",
    hooks: refusing(
      403,
      ({ request }) => request.headers["cookie"] !== undefined,
    ),
  },
  {
    name: "query-404",
    about: "A path with a query is refused as unknown",
    hooks: refusing(404, ({ request }) => request.path.includes("?")),
  },
  {
    name: "query-stream-read",
    about: "The query is read like the body",
    hooks: {
      modelRequest: (modelRequest, { request }) => ({
        ...modelRequest,
        stream: modelRequest.stream || request.path.includes("stream=true"),
      }),
    },
  },
  {
    name: "content-type-exact",
    about: "Only one spelling of the content type is accepted",
    hooks: refusing(
      415,
      ({ request }) => request.headers["content-type"] !== "application/json",
    ),
  },
  {
    name: "accept-decides",
    about: "A client that accepts JSON gets no stream",
    hooks: {
      modelRequest: (modelRequest, { request }) => ({
        ...modelRequest,
        stream: modelRequest.stream &&
          request.headers["accept"] !== "application/json",
      }),
    },
  },
  {
    name: "poisoned-by-refusals",
    about: "After some refusals every request fails",
    hooks: afterRefusals(500),
  },
  {
    name: "blocked-after-refusals",
    about: "After some refusals the client is blocked",
    hooks: afterRefusals(429),
  },
];
