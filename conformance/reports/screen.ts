/** Output during a run, with colours and a progress line only on a terminal. */
import { env } from "node:process";
import type { Verdict } from "../run/judge.ts";

/** The output of a run. */
export interface Screen {
  line(text: string): void;
  /** Shows progress: a changing line on a terminal, an occasional line elsewhere. */
  progress(done: number, all: number, what: string): void;
  verdict(verdict: Verdict): string;
}

const COLOURS: Readonly<Record<Verdict, number>> = {
  pass: 32,
  fail: 31,
  error: 31,
  unclear: 33,
  "not-run": 33,
};

const MARKS: Readonly<Record<Verdict, string>> = {
  pass: "✓",
  fail: "✗",
  error: "!",
  unclear: "?",
  "not-run": "–",
};

const encoder = new TextEncoder();

export function standardScreen(): Screen {
  const terminal = Deno.stdout.isTerminal();
  // https://no-color.org: a non-empty value switches colours off.
  const coloured = terminal && (env["NO_COLOR"] ?? "") === "";
  const write = (text: string): void => {
    Deno.stdout.writeSync(encoder.encode(text));
  };
  let shown = 0;
  return {
    line: (text) => write(`${terminal ? "\r\x1b[K" : ""}${text}\n`),
    progress: (done, all, what) => {
      if (terminal) return write(`\r\x1b[K${done}/${all} ${what}`);
      const tenth = Math.floor((done / all) * 10);
      if (tenth > shown) write(`… ${done} of ${all} scenarios\n`);
      shown = Math.max(shown, tenth);
    },
    verdict: (verdict) => {
      const text = `${MARKS[verdict]} ${verdict}`;
      return coloured ? `\x1b[${COLOURS[verdict]}m${text}\x1b[0m` : text;
    },
  };
}
