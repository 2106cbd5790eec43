/**
 * The words of the product's code, without comments and tests.
 */
import ts from "typescript";
import type { Codec } from "./libraries.ts";

const ROOT = new URL("../../", import.meta.url);

/** Whether the codecs of a declaration use its name, as a whole word. */
export type IsUsed = (name: string, place: string) => boolean;

/** Reads the code of the codecs. A place that belongs to none of them uses nothing. */
export async function usedWords(codecs: readonly Codec[]): Promise<IsUsed> {
  const read = await Promise.all(codecs.map(async (codec) => ({
    ...codec,
    places: new RegExp(`^(?:${codec.places.source})$`),
    isWord: await wordsOf(codec.code),
  })));
  return (name, place) => {
    const own = read.filter(({ places }) => places.test(place));
    return own.length > 0 &&
      own.every(({ isWord, isLowerCase }) =>
        isWord(isLowerCase === true ? name.toLowerCase() : name)
      );
  };
}

/** Whether files or folders contain a text as a whole word. */
async function wordsOf(
  paths: readonly string[],
): Promise<(name: string) => boolean> {
  const texts = await Array.fromAsync(
    codeOf(paths.map((path) => new URL(path, ROOT))),
  );
  const text = texts.join("\n");
  const words = new Set(text.match(/\w+/g));
  return (name) =>
    /^\w+$/.test(name)
      ? words.has(name)
      : new RegExp(`(?<!\\w)${RegExp.escape(name)}(?!\\w)`).test(text);
}

/** The identifiers and texts of each module. */
async function* codeOf(paths: readonly URL[]): AsyncGenerator<string> {
  for (const path of paths) {
    if (path.pathname.endsWith("/testing")) continue;
    if ((await Deno.stat(path)).isDirectory) {
      const entries = await Array.fromAsync(Deno.readDir(path));
      yield* codeOf(entries.map(({ name }) => new URL(`${path}/${name}`)));
    } else if (/(?<!_test|_spec)\.tsx?$/.test(path.pathname)) {
      yield wordsIn(path.pathname, await Deno.readTextFile(path));
    }
  }
}

function wordsIn(path: string, text: string): string {
  const words: string[] = [];
  const visit = (node: ts.Node): void => {
    if ("text" in node && typeof node.text === "string") words.push(node.text);
    ts.forEachChild(node, visit);
  };
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest);
  source.forEachChild(visit);
  return words.join(" ");
}
