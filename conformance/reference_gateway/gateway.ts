/**
 * The reference gateway: small, correct, and independent of the product. The self-test runs every
 * check against it, and plants faults through its hooks to prove that every check can fail.
 */
import { createServer, type Socket } from "node:net";
import {
  isObject,
  type JsonObject,
  parseJson,
} from "@model-gateway/replay/json";
import type { DialectName } from "@model-gateway/replay/parse_request";
import type { ReplayRequest } from "@model-gateway/replay/script";
import { type Call, callUpstream } from "./call_upstream.ts";
import { type Arrived, serveSocket } from "./connection.ts";
import { countedBody, countReply, countTokens } from "./count_tokens.ts";
import { embed } from "./embed.ts";
import type { Context, Hooks, OutFrame, Writer } from "./hooks.ts";
import { contentModels, dialectOf, modelList } from "./models.ts";
import { isArray, operationOf } from "./operation.ts";
import { type ModelRequest, type Part, type Problem, Refused } from "./part.ts";
import { droppedHeaders, refuseLosses } from "./formats/dropped_fields.ts";
import { isPassed, passThrough } from "./pass_through.ts";
import { problemOf } from "./problems.ts";
import { readChat } from "./formats/read_chat.ts";
import { readGenerateContent } from "./formats/read_generate_content.ts";
import { readMessages } from "./formats/read_messages.ts";
import { readResponses } from "./formats/read_responses.ts";
import { type ReplyStream, wholeReply } from "./formats/reply_stream.ts";
import { serveTurns } from "./serve_turns.ts";
import { StoredResponses } from "./stored_responses.ts";
import { ChatStream } from "./formats/write_chat.ts";
import {
  arrayEnd,
  ContentStream,
  elementOf,
} from "./formats/write_generate_content.ts";
import { MessagesStream } from "./formats/write_messages.ts";
import { ResponsesStream } from "./formats/write_responses.ts";
import {
  requestIds,
  UNBUFFERED,
  wireOf,
  writeJson,
  writeProblem,
} from "./formats/write_reply.ts";

interface ReferenceGateway extends AsyncDisposable {
  readonly url: string;
  close(): Promise<void>;
}

/** How to start one. */
interface ReferenceGatewayOptions {
  /** The valid key. */
  readonly key: string;
  /** A second valid key; absent: there is only one. */
  readonly otherKey?: string;
  /** Address of the replay server. */
  readonly upstreamUrl: string;
  /** The changes of a mutant. */
  readonly hooks?: Hooks;
}

const CLOSE_GRACE_MS = 200;

/** Silence in a stream of the Responses endpoint after which a keep-alive frame follows. */
export const KEEP_ALIVE_MS = 300;
const encoder = new TextEncoder();

/** Starts a reference gateway on a free port of the loopback address. */
export async function startReferenceGateway(
  options: ReferenceGatewayOptions,
): Promise<ReferenceGateway> {
  const sockets = new Set<Socket>();
  const stored = new StoredResponses();
  const server = createServer((socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    serveSocket(socket, (arrived) => handle(arrived, { ...options, stored }));
  });
  const port = await new Promise<number>((resolve) =>
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" ? address?.port ?? 0 : 0);
    })
  );
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      const settle = (): void => {
        clearTimeout(grace);
        resolve();
      };
      // The server does not always report that its last connection has closed; the timer ends the
      // wait.
      const grace = setTimeout(settle, CLOSE_GRACE_MS);
      server.close(settle);
      for (const socket of sockets) socket.destroy();
    });
  return {
    url: `http://127.0.0.1:${port}`,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The options, and the replies that this gateway keeps. */
interface Running extends ReferenceGatewayOptions {
  readonly stored: StoredResponses;
}

async function handle(
  arrived: Arrived,
  options: Running,
): Promise<void> {
  const hooks = options.hooks ?? {};
  const blank: ReplayRequest = { method: "", path: "/", headers: {}, body: "" };
  const first = contextOf(arrived.request ?? blank);
  const request = hooks.request?.(first.request, first) ?? first.request;
  const x = contextOf(request);
  const writer = hooks.writer?.(arrived.writer, x) ?? arrived.writer;
  try {
    if (arrived.request === undefined) {
      throw new Refused(
        problemOf(arrived.badStatus, "The request is malformed"),
      );
    }
    admit(options, hooks, x);
    if (x.does === "nothing") {
      throw new Refused(problemOf(404, "There is no such path"));
    }
    if (x.endpoint === "responses" && request.method === "GET") {
      if (asksUpgrade(request) && arrived.socket !== undefined) {
        const problem = hooks.upgrade?.(x);
        if (problem !== undefined) throw new Refused(problem);
        return serveTurns(
          arrived.socket,
          x,
          hooks,
          options.stored,
          (turn, stored) => handle(turn, { ...options, stored }),
        );
      }
    }
    if (x.does === "stored") {
      const body = options.stored.answer(
        request.method,
        x.path,
        ownerOf(options, x),
      );
      return writeJson(writer, hooks, x, { status: 200, headers: {}, body });
    }
    const method = x.does === "list" ? "GET" : "POST";
    if (request.method !== method) {
      throw new Refused(problemOf(405, `Only ${method} is possible here`));
    }
    const body = await bodyOf(x, options);
    if (body === undefined) {
      await generate(x, endpointOf(x), writer, arrived.left, options);
    } else writeJson(writer, hooks, x, { status: 200, headers: {}, body });
  } catch (error) {
    if (arrived.left.aborted) return;
    const problem = error instanceof Refused
      ? error.problem
      : problemOf(500, "The gateway failed");
    writeProblem(writer, hooks, x, problem);
  }
}

/** The body of a reply without a model's words; undefined where a reply must be generated. */
async function bodyOf(
  x: Context,
  options: Running,
): Promise<JsonObject | undefined> {
  const { hooks = {}, upstreamUrl } = options;
  switch (x.does) {
    case "list":
      return x.endpoint === "models" ? modelList() : listed(x);
    case "embed":
      return await embed(parseJson(x.request.body), upstreamUrl, hooks, x);
    case "count": {
      const { modelRequest, via } = understood(x, endpointOf(x), options);
      return countReply(
        x.endpoint,
        await countTokens(modelRequest, via, upstreamUrl, hooks, x),
      );
    }
  }
  return undefined;
}

function listed({ path, request }: Context): JsonObject {
  const found = contentModels(
    operationOf(path).inPath?.model,
    new URLSearchParams(request.path.split("?")[1] ?? ""),
  );
  if (found !== undefined) return found;
  throw new Refused(problemOf(404, "There is no such model"));
}

function endpointOf({ endpoint }: Context): Generates {
  return endpoint === "chat" || endpoint === "responses" ||
      endpoint === "generate_content"
    ? endpoint
    : "messages";
}

export function contextOf(request: ReplayRequest): Context {
  const path = request.path.split("?")[0] ?? "";
  const body = parseJson(request.body);
  const { endpoint, does, inPath } = operationOf(path);
  const model = inPath?.model ??
    (isObject(body) && typeof body["model"] === "string" ? body["model"] : "");
  return {
    request,
    path,
    endpoint,
    does,
    stream: inPath?.stream ?? (isObject(body) && body["stream"] === true),
    model,
    via: dialectOf(model, endpoint),
    state: new Map(),
  };
}

/** An `upgrade` that `connection` does not name is ignored, as a proxy would have removed it. */
function asksUpgrade({ headers }: ReplayRequest): boolean {
  const options = (headers["connection"] ?? "").toLowerCase().split(/ *, */);
  return headers["upgrade"] !== undefined && options.includes("upgrade");
}

function admit(
  options: ReferenceGatewayOptions,
  hooks: Hooks,
  x: Context,
): void {
  const shown = shownKey(x);
  const key = hooks.key === undefined ? shown : hooks.key(shown, x);
  const isValid = key !== undefined &&
    [options.key, options.otherKey].includes(key);
  const found = isValid ? undefined : problemOf(
    401,
    key === undefined ? "A key is missing" : "The key is wrong",
  );
  const problem = hooks.admit === undefined ? found : hooks.admit(found, x);
  if (problem !== undefined) throw new Refused(problem);
}

/** The key that a request presents. */
function shownKey(
  { request: { headers, path }, endpoint }: Context,
): string | undefined {
  const bearer = /^bearer +(.*)$/i.exec(headers["authorization"] ?? "")?.[1];
  const usual = headers["x-api-key"] ?? bearer;
  if (endpoint !== "generate_content") return usual;
  const query = new URLSearchParams(path.split("?")[1] ?? "");
  return headers["x-goog-api-key"] ?? query.get("key") ?? usual;
}

/** The key that stored replies of a request belong to. */
function ownerOf(
  { hooks, key: first }: ReferenceGatewayOptions,
  x: Context,
): string {
  const key = shownKey(x) ?? "";
  return hooks?.owner?.(key, first, x) ?? key;
}

type Generates = "messages" | "chat" | "responses" | "generate_content";

async function generate(
  x: Context,
  endpoint: Generates,
  writer: Writer,
  left: AbortSignal,
  options: Running,
): Promise<void> {
  const hooks = options.hooks ?? {};
  const { modelRequest, via } = understood(x, endpoint, options);
  if (hooks.strictMode?.(x) !== false) {
    refuseLosses(modelRequest, via, x.request);
  }
  const call: Call = {
    modelRequest,
    via,
    id: crypto.randomUUID().replaceAll("-", ""),
    upstreamUrl: options.upstreamUrl,
    signal: hooks.hangUpCancels?.(x) === false
      ? new AbortController().signal
      : left,
    writer,
    hooks,
    x,
    keep: (reply) =>
      options.stored.keep(modelRequest.asked ?? {}, reply, ownerOf(options, x)),
  };
  if (isPassed(x, via)) return await passThrough(call);
  const raw = modelRequest.asked?.["generate"] === false
    ? noParts()
    : await callUpstream(call);
  const parts = hooked(raw, hooks, x);
  const stream = openStream(call, endpoint);
  if (modelRequest.stream) return await relay(parts, stream, call);
  const all: Part[] = [];
  for await (const part of parts) all.push(part);
  const failure = all.find((part) => part.type === "failed");
  if (failure?.type === "failed") throw new Refused(failure.problem);
  const body = wholeReply(stream, all);
  if (endpoint === "responses") call.keep(body);
  const headers = droppedHeaders(modelRequest, via);
  writeJson(writer, hooks, x, { status: 200, headers, body });
}

/** The parts of a reply that only prepares a later one. */
async function* noParts(): AsyncGenerator<Part> {}

function openStream(
  { modelRequest, id, x }: Call,
  endpoint: Generates,
): ReplyStream {
  const { model, stream, usageAsked, asked = {} } = modelRequest;
  switch (endpoint) {
    case "messages":
      return new MessagesStream(
        `msg_${id}`,
        model,
        Math.ceil(x.request.body.length / 4),
      );
    case "chat":
      // A whole reply always has its usage.
      return new ChatStream(`chatcmpl-${id}`, model, usageAsked || !stream);
    case "responses":
      return new ResponsesStream(id, model, asked);
    case "generate_content":
      return new ContentStream(id, model);
  }
}

async function* hooked(
  parts: AsyncGenerator<Part>,
  hooks: Hooks,
  x: Context,
): AsyncGenerator<Part> {
  for await (const part of withOwnIds(parts)) {
    yield* hooks.part?.(part, x) ?? [part];
  }
}

/** Calls to which the upstream gave one id get ids of their own. */
async function* withOwnIds(
  parts: AsyncGenerator<Part>,
): AsyncGenerator<Part> {
  const ids = new Set<string>();
  for await (const part of parts) {
    if (part.type !== "tool") yield part;
    else {
      const id = ids.has(part.id) ? `${part.id}_${ids.size}` : part.id;
      ids.add(id);
      yield { ...part, id };
    }
  }
}

/** The request, and the dialect of the upstream that receives it. */
function understood(
  x: Context,
  endpoint: Generates,
  options: Running,
): { readonly modelRequest: ModelRequest; readonly via: DialectName } {
  const read = understand(x, endpoint, options);
  const modelRequest = options.hooks?.modelRequest?.(read, x) ?? read;
  const via = dialectOf(modelRequest.model, endpoint);
  if (via !== undefined) return { modelRequest, via };
  throw new Refused(
    problemOf(404, `There is no model ${modelRequest.model}`, {
      code: "model_not_found",
      param: "model",
    }),
  );
}

function understand(
  x: Context,
  endpoint: Generates,
  options: Running,
): ModelRequest {
  const { hooks = {}, stored } = options;
  const parsed = parseJson(x.request.body);
  const body: JsonObject = isObject(parsed) ? parsed : {};
  const read = {
    messages: readMessages,
    chat: readChat,
    responses: (body: JsonObject) =>
      readResponses(stored.expand(body, ownerOf(options, x))),
    generate_content: (body: JsonObject) =>
      readGenerateContent(body, operationOf(x.path)),
  }[endpoint];
  let modelRequest: ModelRequest | undefined;
  let found: Problem | undefined;
  try {
    if (!isObject(parsed)) {
      throw new Refused(problemOf(400, "The body is not a JSON object"));
    }
    modelRequest = read(
      x.does === "count" ? countedBody(endpoint, body) : body,
    );
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    found = error.problem;
  }
  const problem = hooks.accept === undefined
    ? found
    : hooks.accept(found, body, x);
  if (problem !== undefined) throw new Refused(problem);
  // A mutant that accepts an invalid body still has to answer something.
  return modelRequest ?? {
    ...readChat({
      model: "vendora-haiku-4-5",
      messages: [{ role: "user", content: "x" }],
    }),
    stream: x.stream,
  };
}

async function relay(
  parts: AsyncGenerator<Part>,
  stream: ReplyStream,
  { modelRequest, writer, hooks, x, keep }: Call,
): Promise<void> {
  const asArray = isArray(x.request, operationOf(x.path));
  let elements = 0;
  const usual = {
    "content-type": asArray
      ? "application/json"
      : "text/event-stream; charset=utf-8",
    ...UNBUFFERED,
    "transfer-encoding": "chunked",
    ...requestIds(),
    ...droppedHeaders(modelRequest, x.via),
  };
  writer.head(200, hooks.streamHeaders?.(usual, x) ?? usual);
  const write = (frames: readonly OutFrame[]): void => {
    for (const frame of frames) {
      for (const out of hooks.frame?.(frame, x) ?? [frame]) {
        const text = asArray ? elementOf(out, elements++) : wireOf(out);
        writer.piece(encoder.encode(hooks.wire?.(text, x) ?? text));
      }
    }
  };
  const end = (): void => {
    if (asArray) writer.piece(encoder.encode(arrayEnd(elements)));
    writer.end();
  };
  let silence: ReturnType<typeof setTimeout> | undefined;
  const listen = (): void => {
    clearTimeout(silence);
    silence = setTimeout(() => {
      if (stream instanceof ResponsesStream) write(stream.keepAlive());
      listen();
    }, KEEP_ALIVE_MS);
  };
  try {
    for await (const part of parts) {
      write(stream.part(part));
      if (part.type === "failed") return end();
      listen();
    }
  } finally {
    clearTimeout(silence);
  }
  const last = stream.end();
  if (stream instanceof ResponsesStream) keep(stream.whole());
  write(last);
  end();
}
