/**
 * A host on loopback for tests: keeps the requests that arrive and answers as a test decides.
 */

export interface HostRequest {
  /** Path and query, as sent. */
  readonly path: string;
  /** Names are in lower case. */
  readonly headers: Headers;
  readonly text: string;
}

export interface HostUpstream extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly HostRequest[];
  /** Decides the answers from now on. */
  answer(with_: (request: HostRequest) => Response | Promise<Response>): void;
  close(): Promise<void>;
}

export const MESSAGE = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "host-model",
  content: [{ type: "text", text: "Hello" }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: { input_tokens: 3, output_tokens: 2 },
} as const;

export const COMPLETION = {
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "host-model",
  choices: [{
    index: 0,
    message: { role: "assistant", content: "Hello" },
    finish_reason: "stop",
  }],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
} as const;

/** A certificate and its key, as PEM. */
export interface TlsIdentity {
  readonly cert: string;
  readonly key: string;
}

/** Starts a host that answers with {@linkcode MESSAGE}; with `tls`, over https at `localhost`. */
export function startHostUpstream(tls?: TlsIdentity): HostUpstream {
  const requests: HostRequest[] = [];
  let answer: (request: HostRequest) => Response | Promise<Response> = () =>
    Response.json(MESSAGE);
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {}, ...tls },
    async (incoming) => {
      const { pathname, search } = new URL(incoming.url);
      const request = {
        path: `${pathname}${search}`,
        headers: incoming.headers,
        text: await incoming.text(),
      };
      requests.push(request);
      return await answer(request);
    },
  );
  return {
    url: tls === undefined
      ? `http://127.0.0.1:${server.addr.port}`
      : `https://localhost:${server.addr.port}`,
    requests,
    answer(with_) {
      answer = with_;
    },
    close: () => server.shutdown(),
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}
