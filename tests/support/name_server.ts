/** A name server on this machine, whose answers the test chooses. */
import { createSocket } from "node:dgram";

/** A running name server. */
interface NameServer extends Disposable {
  /** Number of questions so far. */
  readonly questions: number;
  /** Asks it for the IPv4 addresses of a name. */
  resolve(name: string): Promise<readonly { readonly address: string }[]>;
}

/** Ends of a question: a name's last label, its type and its class. */
const QUESTION_TAIL = 5;

/**
 * Starts a name server.
 *
 * @param answer the IPv4 addresses in the n-th answer, from 0, to whatever question
 */
export async function startNameServer(
  answer: (n: number) => readonly string[],
): Promise<NameServer> {
  const socket = createSocket("udp4");
  let questions = 0;
  socket.on("message", (message, { port, address }) => {
    const question = message.subarray(
      12,
      message.indexOf(0, 12) + QUESTION_TAIL,
    );
    const addresses = answer(questions++);
    socket.send(
      new Uint8Array([
        // Id and flags; one question; the number of answers.
        ...[...message.subarray(0, 2), 0x81, 0x80, 0, 1],
        ...[0, addresses.length, 0, 0, 0, 0],
        ...question,
        // The question's name, an IPv4 address, valid for no time.
        ...addresses.flatMap((ip) => [
          ...[0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4],
          ...ip.split(".").map(Number),
        ]),
      ]),
      port,
      address,
    );
  });
  await new Promise<void>((resolve) => {
    socket.bind(0, "127.0.0.1", resolve);
  });
  const nameServer = { ipAddr: "127.0.0.1", port: socket.address().port };
  return {
    get questions() {
      return questions;
    },
    async resolve(name) {
      const found = await Deno.resolveDns(name, "A", { nameServer });
      return found.map((address) => ({ address }));
    },
    [Symbol.dispose]: () => void socket.close(),
  };
}
