/**
 * Writes to standard output that do not stop the event loop while nothing reads: Deno's console and
 * its synchronous writes wait for the reader, and everything else with them.
 */

/** Writes text; resolves once all of it is written. */
type Output = (text: string) => Promise<void>;

const LINE_END = 0x0a;

/**
 * Standard output. Texts of whole lines are written one after another; where a full disk has cut a
 * line, the next text begins on a line of its own.
 */
export function standardOutput(
  write = (bytes: Uint8Array): Promise<number> => Deno.stdout.write(bytes),
): Output {
  let last = Promise.resolve();
  let isCut = false;
  const writeAll = async (text: string): Promise<void> => {
    let rest = new TextEncoder().encode(isCut ? `\n${text}` : text);
    while (rest.length > 0) {
      const written = await write(rest);
      isCut = rest[written - 1] !== LINE_END;
      rest = rest.subarray(written);
    }
  };
  return (text) => {
    const mine = last.then(() => writeAll(text));
    last = mine.catch(() => {});
    return mine;
  };
}

/** Prints each line by itself and reports back. A `data:` address, so that a binary has it. */
const PRINTER = `data:text/javascript,${
  encodeURIComponent(
    `onmessage = ({ data }) => { for (const line of data) console.log(line); postMessage(0); };`,
  )
}`;

/**
 * The console of a worker: only what goes through a console is exported by Deno, one record for
 * each call, and a worker's console stops no one but the worker.
 */
export function exportedOutput(): Output {
  const worker = new Worker(PRINTER, { type: "module" });
  let printed = (): void => {};
  worker.onmessage = () => printed();
  return (text) =>
    new Promise((resolve) => {
      printed = resolve;
      worker.postMessage(text.trimEnd().split("\n"));
    });
}
