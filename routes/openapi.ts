/**
 * `GET /openapi.json`: the API description, generated from the schemas that validate requests.
 */
import { z } from "zod";
import { chatCompletionsRequest } from "../translate/formats/chat_completions/wire.ts";
import { type JsonObject, objectOr } from "../translate/bytes/json.ts";
import {
  countTokensRequest,
  messagesRequest,
} from "../translate/formats/messages/wire.ts";
import {
  generateContent,
  generateContentRequest,
} from "../translate/formats/generate_content/mod.ts";
import {
  embeddingsReply,
  embeddingsRequest,
} from "../translate/embeddings/wire.ts";
import { responsesRequest } from "../translate/formats/responses/wire.ts";
import type { Gateway } from "../gateway/gateway.ts";
import { ACCOUNT_OPERATIONS } from "../gateway/console/account_operation.ts";
import { accountModelsReply } from "../gateway/console/account_models.ts";
import { ADMIN_DESCRIPTIONS } from "./admin/descriptions.ts";
import {
  callListReply,
  callReply,
  ownCallsQuery,
} from "../gateway/admin/calls.ts";
import {
  ledgerListReply,
  ownExportQuery,
  ownLedgerQuery,
} from "../gateway/admin/ledger.ts";
import { ownLiveQuery, ownLiveReply } from "../gateway/live/live_json.ts";
import { ownUsageQuery, usageReportReply } from "../gateway/admin/usage.ts";
import {
  comparisonQuery,
  comparisonReply,
} from "../gateway/admin/usage_comparison.ts";
import {
  chatCompletionReply,
  contentCountReply,
  contentErrorReply,
  contentModelListReply,
  contentModelReply,
  contentPiece,
  contentReply,
  countReply,
  deletedResponseReply,
  errorReply,
  inputItemsQuery,
  inputItemsReply,
  messageReply,
  modelListReply,
  modelReply,
  objectCountReply,
  readinessReply,
  responseReply,
  statusReply,
} from "./reply_schemas.ts";
import type { OpenRoute, Route } from "./route.ts";
import { VERSION } from "../gateway/version.ts";

/** Version of the API, not of the program; see "Versioning" in the specification. */
const API_VERSION = "1.0.0";

interface Operation {
  readonly summary: string;
  readonly request?: z.ZodType;
  /** Content type of the body; absent: JSON. */
  readonly requestType?: string;
  readonly query?: z.ZodType;
  /** Absent: the reply is a handshake, and the connection becomes a web socket. */
  readonly reply?: z.ZodType;
  /** True if `stream: true` makes the reply an event stream. */
  readonly streams?: boolean;
}

const OPERATIONS: Readonly<Record<string, Operation>> = {
  createMessage: {
    summary: "Generate a reply, in the message format",
    request: messagesRequest,
    reply: messageReply,
    streams: true,
  },
  countMessageTokens: {
    summary: "Count the tokens of a prompt, in the message format",
    request: countTokensRequest,
    reply: countReply,
  },
  createChatCompletion: {
    summary: "Generate a reply, in the chat-completion format",
    request: chatCompletionsRequest,
    reply: chatCompletionReply,
    streams: true,
  },
  countChatTokens: {
    summary: "Count the tokens of a prompt, in the chat-completion format",
    request: chatCompletionsRequest,
    reply: objectCountReply,
  },
  countResponseTokens: {
    summary: "Count the tokens of a prompt, in the Responses format",
    request: responsesRequest,
    reply: objectCountReply,
  },
  openResponsesWebSocket: {
    summary:
      "Open a web socket for several requests in the Responses format: each is a text message, the body with `type: response.create`, and each event of its stream another",
  },
  createResponse: {
    summary: "Generate a reply, in the Responses format",
    request: responsesRequest,
    reply: responseReply,
    streams: true,
  },
  generateContent: {
    summary: "Generate a reply, in the generate-content format",
    request: generateContentRequest,
    reply: contentReply,
  },
  streamGenerateContent: {
    summary:
      "Generate a reply in pieces, in the generate-content format: as an event stream with `alt=sse`, else as an array",
    request: generateContentRequest,
    query: z.object({
      alt: z.literal("sse").optional().describe("An event stream."),
    }),
    reply: z.array(contentPiece),
    streams: true,
  },
  countContentTokens: {
    summary: "Count the tokens of a prompt, in the generate-content format",
    request: generateContentRequest,
    reply: contentCountReply,
  },
  listContentModels: {
    summary:
      "List the models that the key can call, in the generate-content format",
    query: z.object({
      pageSize: z.int().optional().describe("Models on a page; 50 by default."),
      pageToken: z.string().optional().describe(
        "The `nextPageToken` of the page before.",
      ),
    }),
    reply: contentModelListReply,
  },
  getContentModel: {
    summary:
      "Describe one model that the key can call, in the generate-content format",
    reply: contentModelReply,
  },
  createEmbedding: {
    summary: "Make embeddings",
    request: embeddingsRequest,
    reply: embeddingsReply,
  },
  getResponse: {
    summary: "A stored reply of the key, in the Responses format",
    reply: responseReply,
  },
  deleteResponse: {
    summary: "Delete a stored reply of the key",
    reply: deletedResponseReply,
  },
  listResponseInputItems: {
    summary:
      "What the model received for a stored reply, earlier turns included",
    query: inputItemsQuery,
    reply: inputItemsReply,
  },
  listModels: {
    summary: "List the models that the key can call",
    reply: modelListReply,
  },
  getModel: {
    summary: "Describe one model that the key can call",
    reply: modelReply,
  },
  getUsage: {
    summary: "The usage of the key",
    query: ownUsageQuery,
    reply: usageReportReply,
  },
  compareUsage: {
    summary:
      "What the usage of the key would have cost at another model's prices",
    query: comparisonQuery,
    reply: comparisonReply,
  },
  listAccountModels: {
    summary:
      "The offered models: whether the credential may call them, prices, sizes, capabilities, health",
    reply: accountModelsReply,
  },
  listOwnLedger: {
    summary: "The ledger of the account",
    query: ownLedgerQuery,
    reply: ledgerListReply,
  },
  exportOwnLedger: {
    summary: "Export the ledger of the account as JSON Lines, CSV or FOCUS",
    query: ownExportQuery,
    reply: z.string(),
  },
  listOwnCalls: {
    summary: "The calls that the credential may see, newest first",
    query: ownCallsQuery,
    reply: callListReply,
  },
  watchOwnCalls: {
    summary:
      "Such calls under way and just ended, as an event stream: an event `calls` about every second",
    query: ownLiveQuery,
    reply: ownLiveReply,
    streams: true,
  },
  listOwnCallsUnderWay: {
    summary: "Such calls under way",
    query: ownLiveQuery,
    reply: ownLiveReply,
  },
  getOwnCall: {
    summary: "One such call, and how its charge was computed",
    reply: callReply,
  },
  getHealth: { summary: "Whether the process is alive", reply: statusReply },
  getReadiness: {
    summary:
      "Whether calls can be served; with `?verbose` and access to the metrics, also the health of each upstream",
    reply: readinessReply,
  },
  getDescription: { summary: "This description", reply: z.looseObject({}) },
};

const ERROR_STATUSES: Readonly<Record<string, string>> = {
  "400": "The request is invalid; `param` names the field",
  "401": "The key is missing or invalid",
  "403":
    "The key is valid but the account is disabled, out of balance, or the model is not in its plan",
  "404": "The model, stored reply or path does not exist",
  "413": "The body is too large",
  "415": "The body is not JSON",
  "429":
    "A rate limit is reached; `retry-after` gives the delay before a retry",
  "500": "The gateway or the upstream failed",
  "502": "The upstream failed",
  "503": "The gateway or the upstream is unavailable",
  "504": "The upstream did not reply in time",
  "529": "The gateway or the upstream is overloaded",
};

export function openapiRoutes(routes: readonly Route[]): readonly OpenRoute[] {
  let text: string | undefined;
  let described: unknown;
  const own: OpenRoute = {
    access: "open",
    method: "GET",
    path: "/openapi.json",
    operation: "getDescription",
    handle({ gateway: { config } }) {
      const { routes: passed } = config.catalogue;
      if (text === undefined || described !== config) {
        const { paths, ...rest } = description([...routes, own]);
        text = JSON.stringify({
          ...rest,
          servers: [{ url: config.basePath === "" ? "/" : config.basePath }],
          paths: { ...objectOr(paths), ...passedPaths(passed) },
        });
        described = config;
      }
      return {
        status: 200,
        headers: { "content-type": "application/json" },
        body: text,
      };
    },
  };
  return [own];
}

/** The endpoints of the configuration file. */
function passedPaths(
  passed: Gateway["config"]["catalogue"]["routes"],
): JsonObject {
  const content = { schema: schemaOf(z.looseObject({ model: z.string() })) };
  return Object.fromEntries(
    [...passed].map(([endpoint, { name }]) => [endpoint, {
      post: {
        operationId: name,
        summary: `Passed to the upstream of the model: ${name}`,
        requestBody: {
          required: true,
          content: {
            "application/json": content,
            "multipart/form-data": content,
          },
        },
        responses: {
          "200": {
            description: "As the upstream replied",
            content: { "*/*": {} },
          },
          ...errorsOf("Error"),
        },
      },
    }]),
  );
}

function description(routes: readonly Route[]): JsonObject {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    if (route.operation === undefined) continue;
    const path = route.path.replaceAll(/\/:(\w+)/g, "/{$1}");
    (paths[path] ??= {})[route.method.toLowerCase()] = operationOf(
      route,
      route.operation,
    );
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Model Gateway",
      version: API_VERSION,
      description:
        `Version ${API_VERSION} of the API, as offered by version ${VERSION} of the program.`,
    },
    security: [{ apiKey: [] }, { bearer: [] }],
    paths,
    components: {
      securitySchemes: {
        apiKey: { type: "apiKey", in: "header", name: "x-api-key" },
        bearer: { type: "http", scheme: "bearer" },
        adminToken: { type: "http", scheme: "bearer" },
        accountToken: { type: "http", scheme: "bearer" },
      },
      schemas: {
        Error: schemaOf(errorReply),
        ContentError: schemaOf(contentErrorReply),
      },
    },
  };
}

function operationOf(route: Route, id: string): JsonObject {
  const operation: Operation | undefined = OPERATIONS[id] ??
    ADMIN_DESCRIPTIONS[id] ??
    ACCOUNT_OPERATIONS.find(({ operationId }) => operationId === id);
  if (operation === undefined) {
    throw new Error(`operation ${id} has no description`);
  }
  const isAdmin = route.path.startsWith("/admin/");
  const parameters: JsonObject[] = [
    ...[...route.path.matchAll(/\/:(\w+)/g)].map(([, name]) => ({
      name,
      in: "path",
      required: true,
      schema: { type: "string" },
    })),
    ...(operation.query === undefined ? [] : queryOf(operation.query)),
    ...((isAdmin || route.access === "account") && route.method === "POST" &&
        operation.requestType === undefined
      ? [{
        name: "idempotency-key",
        in: "header",
        description:
          "A repeated request with the same key returns the first reply without another change",
        schema: { type: "string" },
      }]
      : []),
  ];
  const { reply } = operation;
  const content: Record<string, unknown> = reply === undefined
    ? {}
    : { "application/json": { schema: schemaOf(reply) } };
  if (operation.streams === true) {
    content["text/event-stream"] = { schema: { type: "string" } };
  }
  const error = route.access === "key" && route.dialect === generateContent
    ? "ContentError"
    : "Error";
  const errors = route.access === "open" && !isAdmin ? {} : errorsOf(error);
  return {
    operationId: id,
    summary: operation.summary,
    ...(isAdmin
      ? { security: [{ adminToken: [] }] }
      : route.access === "account"
      ? { security: [{ accountToken: [] }, { apiKey: [] }, { bearer: [] }] }
      : route.access === "open"
      ? { security: [] }
      : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(operation.request === undefined ? {} : {
      requestBody: {
        required: true,
        content: {
          [operation.requestType ?? "application/json"]: {
            schema: schemaOf(operation.request),
          },
        },
      },
    }),
    responses: {
      ...(reply === undefined
        ? {
          "101": { description: "The connection is a web socket" },
          "426": {
            description:
              "There are no web sockets here, or the protocol's version is another one",
          },
        }
        : { "200": { description: "Done", content } }),
      ...errors,
    },
  };
}

/** The replies with an error, in the form of a schema. */
function errorsOf(schema: "Error" | "ContentError"): JsonObject {
  return Object.fromEntries(
    Object.entries(ERROR_STATUSES).map(([status, text]) => [status, {
      description: text,
      content: {
        "application/json": {
          schema: { $ref: `#/components/schemas/${schema}` },
        },
      },
    }]),
  );
}

function queryOf(query: z.ZodType): readonly JsonObject[] {
  const { properties } = schemaOf(query);
  return Object.entries(objectOr(properties)).map(([name, schema]) => ({
    name,
    in: "query",
    schema,
  }));
}

function schemaOf(schema: z.ZodType): JsonObject {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    unrepresentable: "any",
    io: "input",
  });
  return rest;
}
