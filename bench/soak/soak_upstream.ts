/**
 * The upstream of the soak test, in all three dialects. A tag in the call's text chooses its
 * behaviour.
 */
import { createServer, type Socket } from "node:net";

/** Behaviours of the upstream, good and faulty. */
export const UPSTREAM_BEHAVIOURS = [
  "good",
  "slow",
  "lies",
  "hold",
  "reset-before",
  "reset-inside",
  "cut",
  "garbage",
  "error-late",
  "html",
  "error-500",
  "error-429",
  "stall-before",
  "stall-inside",
] as const;

export type UpstreamBehaviour = typeof UPSTREAM_BEHAVIOURS[number];

/** Behaviours of a model that reasons: with usage at the end, and without an end. */
export type SilentBehaviour = "silent" | "silent-endless";

/** A running upstream. */
export interface SoakUpstream {
  /** Port on 127.0.0.1. */
  readonly port: number;
  /** Number of open connections. */
  open(): number;
  /** Resolves when the call with this nonce has arrived. */
  arrived(nonce: string): Promise<void>;
  /** Tokens that the silent calls have generated until they ended or were cancelled. */
  generatedTokens(): number;
  /** Closes all open connections. */
  closeIdle(): void;
  /** Stops listening and closes all connections. */
  close(): void;
}

/** The tag that requests a behaviour; the nonce identifies the call. */
export function behaviourTag(
  behaviour: UpstreamBehaviour | SilentBehaviour,
  nonce: string,
): string {
  return `<<${behaviour} ${nonce}>>`;
}

/** Speed of a silent call, and the times until its text and from there to its usage. */
const SILENT_TOKENS_PER_MS = 0.1;
const SILENT_MS = [400, 700, 1_000];
const AFTER_TEXT_MS = 300;
const ENDLESS_MS = 600_000;

const FRAMES = 8;
const WORDS = "soak ".repeat(12);

/** Starts the upstream on a free port. */
export async function startSoakUpstream(): Promise<SoakUpstream> {
  const sockets = new Set<Socket>();
  const waiting = new Map<string, () => void>();
  const arrivedNonces = new Set<string>();
  let generated = 0;
  const server = createServer((socket: Socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    let pieces: string[] = [];
    let missing = NaN;
    socket.on("data", (piece: Uint8Array) => {
      pieces.push(LATIN1.decode(piece));
      missing -= piece.length;
      // A large body is joined once.
      if (missing > 0) return;
      const call = pieces.join("");
      const end = call.indexOf("\r\n\r\n");
      const length = Number(/^content-length: (\d+)/im.exec(call)?.[1] ?? 0);
      missing = end < 0 ? NaN : end + 4 + length - call.length;
      if (!(missing <= 0)) return;
      pieces = [];
      missing = NaN;
      const [, behaviour = "good", nonce = ""] =
        /<<([a-z0-9-]+) ([a-z0-9-]+)>>/.exec(call) ?? [];
      arrivedNonces.add(nonce);
      waiting.get(nonce)?.();
      if (behaviour.startsWith("silent")) {
        void answerSilently(socket, behaviour).then((tokens) =>
          generated += tokens
        );
      } else void answer(socket, call, behaviour);
    });
  });
  await new Promise<void>((resolve) =>
    server.listen(0, "127.0.0.1", 4096, () => resolve())
  );
  const address = server.address();
  if (typeof address !== "object" || address === null) {
    throw new Error("cannot read the port: the server has no address");
  }
  const closeIdle = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: address.port,
    open: () => sockets.size,
    generatedTokens: () => generated,
    arrived: (nonce) =>
      new Promise((resolve) => {
        if (arrivedNonces.has(nonce)) return resolve();
        waiting.set(nonce, () => {
          waiting.delete(nonce);
          resolve();
        });
      }),
    closeIdle,
    close() {
      server.close();
      closeIdle();
    },
  };
}

const LATIN1 = new TextDecoder("latin1");

/** Waits `ms` milliseconds, or until the client disconnects. */
function pause(ms: number, socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      socket.off("close", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    socket.on("close", done);
    if (socket.destroyed) done();
  });
}

async function answer(
  socket: Socket,
  call: string,
  behaviour: string,
): Promise<void> {
  const isStream = /"stream":true|:streamGenerateContent/.test(call);
  const dialect = call.includes("/messages")
    ? MESSAGES
    : call.includes("/chat/completions")
    ? CHAT
    : GENERATE;
  const send = (text: string): void => {
    if (!socket.destroyed) socket.write(text);
  };
  const whole = (status: string, type: string, body: string): void =>
    send(
      `HTTP/1.1 ${status}\r\ncontent-type: ${type}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
  switch (behaviour) {
    case "reset-before":
      return void socket.resetAndDestroy();
    case "html":
      return whole("502 Bad Gateway", "text/html", "<title>Busy</title>");
    case "error-500":
      return whole("500 Oops", "application/json", '{"error":{"message":"x"}}');
    case "error-429":
      return whole("429 Slow", "application/json", '{"error":{"message":"x"}}');
    case "stall-before":
      return;
  }
  if (!isStream) {
    const body = dialect.whole;
    if (behaviour === "good" || behaviour === "slow") {
      return whole("200 OK", "application/json", body);
    }
    if (behaviour === "lies") {
      return whole("200 OK", "application/json", withLies(body));
    }
    if (behaviour === "garbage") {
      return whole("200 OK", "application/json", body.slice(5));
    }
    send(
      `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${
        body.slice(0, 40)
      }`,
    );
    if (behaviour === "cut") socket.end();
    if (behaviour === "reset-inside") socket.resetAndDestroy();
    return;
  }
  send(
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n",
  );
  const half = Math.floor(FRAMES / 2);
  for (const [at, frame] of dialect.frames.entries()) {
    if (at === half) {
      switch (behaviour) {
        case "cut":
          return void socket.end();
        case "reset-inside":
          return void socket.resetAndDestroy();
        case "stall-inside":
          return;
        case "garbage":
          send(chunk("data: {broken\n\n"));
          break;
        case "error-late":
          send(
            chunk(
              'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"x","code":503}}\n\n',
            ),
          );
      }
    }
    // Held: one frame per second until the client disconnects.
    if (behaviour === "hold" && at === half) {
      while (!socket.destroyed) {
        send(chunk(frame));
        await pause(1_000, socket);
      }
      return;
    }
    send(chunk(behaviour === "lies" ? withLies(frame) : frame));
    if (behaviour === "slow") await pause(20, socket);
  }
  send("0\r\n\r\n");
}

/**
 * Generates for a while without a text, as a model that reasons: then a text, and its usage or
 * nothing more. Returns the tokens.
 */
async function answerSilently(
  socket: Socket,
  behaviour: string,
): Promise<number> {
  const startMs = performance.now();
  const tokens = (): number =>
    Math.round((performance.now() - startMs) * SILENT_TOKENS_PER_MS);
  socket.write(
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n",
  );
  const at = Math.floor(Math.random() * SILENT_MS.length);
  await pause(SILENT_MS[at] ?? 0, socket);
  const [text = "", ...end] = CHAT.frames.slice(FRAMES - 1);
  if (!socket.destroyed) socket.write(chunk(text));
  await pause(
    behaviour === "silent" ? AFTER_TEXT_MS : ENDLESS_MS,
    socket,
  );
  const sum = tokens();
  if (!socket.destroyed) {
    const frames = end.map((frame) =>
      chunk(
        frame.replace('"completion_tokens":90', `"completion_tokens":${sum}`),
      )
    );
    socket.write(`${frames.join("")}0\r\n\r\n`);
  }
  return sum;
}

/** Every reported count is absurd, each in its own way. */
function withLies(text: string): string {
  const lies = ["1e308", "0", "2000000000", "-5", "1.5"];
  return text.replaceAll(
    /(tokens|TokenCount)":\d+/g,
    (_, name) => `${name}":${lies[Math.floor(Math.random() * lies.length)]}`,
  );
}

function chunk(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n`;
}

interface Canned {
  readonly frames: readonly string[];
  readonly whole: string;
}

function repeated(frame: string): readonly string[] {
  return Array.from({ length: FRAMES }, () => frame);
}

const MESSAGES: Canned = {
  frames: [
    'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":5,"output_tokens":1}}}\n\n',
    'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n',
    ...repeated(
      `event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"${WORDS}"}}\n\n`,
    ),
    'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n',
    'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":90}}\n\n',
    'event: message_stop\ndata: {"type":"message_stop"}\n\n',
  ],
  whole:
    `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"${WORDS}"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":5,"output_tokens":9}}`,
};

const CHAT: Canned = {
  frames: [
    ...repeated(
      `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"${WORDS}"},"finish_reason":null}]}\n\n`,
    ),
    'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
    'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":5,"completion_tokens":90,"total_tokens":95}}\n\n',
    "data: [DONE]\n\n",
  ],
  whole:
    `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"${WORDS}"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":9,"total_tokens":14}}`,
};

const GENERATE: Canned = {
  frames: [
    ...repeated(
      `data: {"candidates":[{"content":{"parts":[{"text":"${WORDS}"}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":9,"totalTokenCount":14}}\r\n\r\n`,
    ),
    'data: {"candidates":[{"content":{"parts":[{"text":"."}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":90,"totalTokenCount":95}}\r\n\r\n',
  ],
  whole:
    `{"candidates":[{"content":{"parts":[{"text":"${WORDS}"}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":9,"totalTokenCount":14}}`,
};
