/**
 * The words of the product's code, without comments and tests.
 */
import ts from "typescript";

const PARTS = ["translate", "gateway", "routes"];
const ROOT = new URL("../../", import.meta.url);

/** Whether the code names a field or a literal, as a whole word. */
export async function usedWords(): Promise<(name: string) => boolean> {
  const texts: string[] = [];
  for (const part of PARTS) await read(new URL(`${part}/`, ROOT), texts);
  const text = texts.join("\n");
  const words = new Set(text.match(/\w+/g));
  return (name) =>
    /^\w+$/.test(name)
      ? words.has(name)
      : new RegExp(`(?<!\\w)${RegExp.escape(name)}(?!\\w)`).test(text);
}

async function read(folder: URL, texts: string[]): Promise<void> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) {
      if (name !== "testing") await read(new URL(`${name}/`, folder), texts);
    } else if (/\.tsx?$/.test(name) && !/_(?:test|spec)\.tsx?$/.test(name)) {
      texts.push(codeOf(name, await Deno.readTextFile(new URL(name, folder))));
    }
  }
}

/** The identifiers and texts of a module. */
function codeOf(path: string, text: string): string {
  const words: string[] = [];
  const visit = (node: ts.Node): void => {
    if ("text" in node && typeof node.text === "string") words.push(node.text);
    ts.forEachChild(node, visit);
  };
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest);
  source.forEachChild(visit);
  return words.join(" ");
}
