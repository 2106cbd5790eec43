/**
 * Runs test files in few isolates. What an isolate costs is to load, compile and warm the program; neighbours share one,
 * for half of the processor time of an isolate per file.
 *
 *     deno run --allow-all tests/support/run_grouped.ts [--ignore=NAME] [FILE|FOLDER …] [-- FLAG_OF_DENO_TEST …]
 *
 * The files and folders are begun in this order; a file that is named has an isolate of its own. Files of the name NAME
 * are left out of folders.
 *
 * @module
 */
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

/** The most files of a group: few enough that groups end at about the same time. */
const MAX_FILES = 24;

/** The isolates of these files and folders: the paths of each one's test files. */
function groupsOf(
  paths: readonly string[],
  ignored: string | undefined,
): readonly (readonly string[])[] {
  const taken = new Set<string>();
  const take = (path: string): boolean =>
    !taken.has(path) && taken.add(path).size > 0;
  for (const path of paths) if (path.endsWith(".ts")) taken.add(path);
  return [...new Set(paths)].flatMap((path) => {
    if (path.endsWith(".ts")) return [[path]];
    const files = [...testFilesIn(path)].filter((file) =>
      basename(file) !== ignored && take(file)
    ).toSorted();
    const count = Math.ceil(files.length / MAX_FILES);
    const size = Math.ceil(files.length / count);
    return Array.from(
      { length: count },
      (_, at) => files.slice(at * size, (at + 1) * size),
    );
  });
}

function* testFilesIn(folder: string): Generator<string> {
  for (const { name, isDirectory } of Deno.readDirSync(folder)) {
    const path = join(folder, name);
    if (isDirectory) yield* testFilesIn(path);
    else if (name.endsWith("_test.ts")) yield path;
  }
}

/** The isolates that the arguments ask for, and the flags of `deno test`. */
export function readArguments(args: readonly string[]): {
  readonly groups: readonly (readonly string[])[];
  readonly flags: readonly string[];
} {
  const end = args.indexOf("--");
  const { values, positionals } = parseArgs({
    args: args.slice(0, end < 0 ? args.length : end),
    options: { ignore: { type: "string" } },
    allowPositionals: true,
  });
  return {
    groups: groupsOf(positionals, values.ignore),
    flags: end < 0 ? [] : args.slice(end + 1),
  };
}

/** The arguments of this program; ends it where there are no such flags or files. */
function readOwnArguments(): ReturnType<typeof readArguments> {
  try {
    return readArguments(Deno.args);
  } catch (error) {
    const isHelp = Deno.args[0] === "--help";
    const usage =
      "deno task test:grouped [--ignore=NAME] [FILE|FOLDER …] [-- FLAG_OF_DENO_TEST …]";
    // deno-lint-ignore no-console
    console.error(isHelp ? usage : `${error}\n${usage}`);
    Deno.exit(isHelp ? 0 : 2);
  }
}

if (import.meta.main) {
  const { groups, flags } = readOwnArguments();
  const folder = Deno.makeTempDirSync({ prefix: "tests-" });
  try {
    const modules = groups.map((files, at) => {
      // In one folder, because `deno test` begins with the modules of the deepest folders.
      const [first = ""] = files;
      const module = join(folder, `${at}-${first.replaceAll("/", "-")}`);
      Deno.writeTextFileSync(
        module,
        files.map((file) => `import "${pathToFileURL(resolve(file))}";\n`)
          .join(""),
      );
      return module;
    });
    const { code } = await new Deno.Command(Deno.execPath(), {
      args: [
        ...["test", "--no-check", "--lock=deno.lock", "--parallel"],
        ...flags,
        ...modules,
      ],
    }).spawn().status;
    Deno.exitCode = code;
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}
