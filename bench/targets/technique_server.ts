/**
 * Proxies that differ from the raw pipe in one technique, to measure its cost: an estimate of what
 * a gateway can save. Arguments: the technique's name and the upstream's port.
 */
import { Agent, type Dispatcher } from "undici";
import { joinBytes } from "../../replay/join_bytes.ts";
import { exitWithStdin, sendMessage } from "../load/child.ts";

type Handler = (request: Request) => Response | Promise<Response>;

const [name = "", upstreamPort = ""] = Deno.args;
const origin = `http://127.0.0.1:${upstreamPort}`;

const url = (request: Request): string => {
  const { pathname, search } = new URL(request.url);
  return origin + pathname + search;
};

async function forward(request: Request): Promise<Response> {
  return await fetch(url(request), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: await request.bytes(),
  });
}

function headersOf(response: Response): Readonly<Record<string, string>> {
  return { "content-type": response.headers.get("content-type") ?? "" };
}

function isStream(type: string | null): boolean {
  return type?.startsWith("text/event-stream") === true;
}

/** Reads the request's bytes, but not the reply's. */
const requestRead: Handler = async (request) => {
  const response = await forward(request);
  return new Response(response.body, { headers: headersOf(response) });
};

/** Reads both, with the reader of `fetch`. */
const bothRead: Handler = async (request) => {
  const response = await forward(request);
  const headers = headersOf(response);
  if (!isStream(response.headers.get("content-type"))) {
    return new Response(await response.bytes(), { headers });
  }
  const reader = response.body?.getReader();
  return new Response(
    new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { done = true, value } = await reader?.read() ?? {};
        if (done || value === undefined) controller.close();
        else controller.enqueue(value);
      },
    }, { highWaterMark: 0 }),
    { headers },
  );
};

const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0 });

/**
 * Reads both, with undici's dispatcher; `joins`: sends the bytes of one socket read in one piece.
 */
function undici(joins: boolean): Handler {
  return async (request) => {
    const body = await request.bytes();
    const { pathname, search } = new URL(request.url);
    return await new Promise((resolve, reject) => {
      agent.dispatch({
        origin,
        path: pathname + search,
        method: "POST",
        headers: { "content-type": "application/json" },
        body,
      }, new ResponseRelay(joins, resolve, reject));
    });
  };
}

class ResponseRelay implements Dispatcher.DispatchHandler {
  readonly #joins: boolean;
  readonly #resolve: (response: Response) => void;
  readonly #reject: (error: unknown) => void;
  #pieces: Uint8Array[] = [];
  #type = "";
  #stream: ReadableStreamDefaultController<Uint8Array> | undefined;

  constructor(
    joins: boolean,
    resolve: (response: Response) => void,
    reject: (error: unknown) => void,
  ) {
    this.#joins = joins;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  onRequestStart(): void {}

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    _status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    this.#type = String(headers["content-type"]);
    if (!isStream(this.#type)) return;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#stream = controller;
      },
    });
    this.#resolve(
      new Response(body, { headers: { "content-type": this.#type } }),
    );
  }

  onResponseData(
    _controller: Dispatcher.DispatchController,
    bytes: Uint8Array,
  ): void {
    if (this.#stream !== undefined && !this.#joins) {
      this.#stream.enqueue(bytes);
      return;
    }
    // The parser delivers all pieces of one socket read synchronously, before this microtask.
    if (this.#stream !== undefined && this.#pieces.length === 0) {
      queueMicrotask(() => this.#flush());
    }
    this.#pieces.push(bytes);
  }

  #flush(): void {
    if (this.#pieces.length === 0) return;
    const bytes = joinBytes(this.#pieces);
    this.#pieces = [];
    this.#stream?.enqueue(bytes);
  }

  onResponseEnd(): void {
    if (this.#stream !== undefined) {
      this.#flush();
      return this.#stream.close();
    }
    this.#resolve(
      new Response(joinBytes(this.#pieces), {
        headers: { "content-type": this.#type },
      }),
    );
  }

  onResponseError(
    _controller: Dispatcher.DispatchController,
    error: unknown,
  ): void {
    this.#stream?.error(error);
    this.#reject(error);
  }
}

const HANDLERS: Readonly<Record<string, Handler>> = {
  "request-read": requestRead,
  "both-read": bothRead,
  "undici": undici(false),
  "undici-joined": undici(true),
};

const handler = HANDLERS[name];
if (handler === undefined) throw new Error(`unknown technique ${name}`);
exitWithStdin();
Deno.serve({
  hostname: "127.0.0.1",
  port: 0,
  onListen: ({ port }) => sendMessage({ port }),
}, handler);
