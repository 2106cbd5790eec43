/**
 * Writes to standard output that do not stop the event loop while nothing reads: Deno's console and
 * its synchronous writes wait for the reader, and everything else with them.
 */

/** Writes text; resolves once all of it is written. */
type Output = (text: string) => Promise<void>;

/** Standard output. Texts are written one after another. */
export function standardOutput(): Output {
  let last = Promise.resolve();
  const writeAll = async (text: string): Promise<void> => {
    let rest = new TextEncoder().encode(text);
    while (rest.length > 0) rest = rest.subarray(await Deno.stdout.write(rest));
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
