/**
 * `deno task names`: the names that the official client libraries declare, that the code does not
 * use and that `accepted_names.ts` does not explain. `--newest` reads the newest versions of the
 * registry in place of the pinned ones. Exits with 1 where there are any.
 */
import { pathToFileURL } from "node:url";
import { declaredNames } from "./declared_names.ts";
import { libraries } from "./libraries.ts";
import { usedWords } from "./used_words.ts";
import { unusedNames } from "./unused_names.ts";

const [flag, ...others] = Deno.args;
if ((flag !== undefined && flag !== "--newest") || others.length > 0) {
  // deno-lint-ignore no-console
  console.info("deno task names [--newest]");
  Deno.exit(flag === "--help" ? 0 : 2);
}
const folder = await Deno.makeTempDir();
let isExplained = true;
try {
  const into = pathToFileURL(`${folder}/`);
  for (const library of libraries(flag === undefined ? "pinned" : "newest")) {
    const { declared, unused, unexplained, outdated, needless } = unusedNames(
      await declaredNames(await library.folder(into), library.files),
      await usedWords(library.codecs),
      library.accepted,
    );
    const lines = [
      `${library.name}: ${declared} names, ${unused} not used, ${unexplained.length} of them unexplained`,
      ...unexplained.map((name) => `  new: ${name}`),
      ...outdated.map((name) => `  accepted, but no longer declared: ${name}`),
      ...needless.map((name) => `  accepted, but used: ${name}`),
    ];
    // deno-lint-ignore no-console
    console.info(lines.join("\n"));
    isExplained &&= lines.length === 1;
  }
} finally {
  await Deno.remove(folder, { recursive: true });
}
Deno.exit(isExplained ? 0 : 1);
