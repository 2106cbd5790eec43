/**
 * The client libraries whose declared names are compared with the code: the pinned versions, or
 * the newest ones of the registry.
 */
import { GENAI_VERSION } from "../support/clients/genai_version.ts";
import { packedLibrary } from "../support/clients/packed_library.ts";
import { ANTHROPIC_FOLDER } from "../packages/anthropic.ts";
import { OPENAI_FOLDER } from "../packages/openai.ts";
import { type Accepted, ANTHROPIC, GENAI, OPENAI } from "./accepted_names.ts";

interface Library {
  readonly name: string;
  /** The files whose declarations are on the wire. */
  readonly files: RegExp;
  readonly accepted: readonly Accepted[];
  /**
   * Returns its folder; one that must be downloaded is unpacked below `into`.
   *
   * @throws {Error} the message of npm or tar where it cannot be had
   */
  folder(into: URL): Promise<URL>;
}

const RESOURCES = /^resources\/.*\.d\.ts$/;
const GENAI_NAME = "@google/genai";
const LIBRARIES: readonly Omit<Library, "folder">[] = [
  { name: "@anthropic-ai/sdk", files: RESOURCES, accepted: ANTHROPIC },
  { name: "openai", files: RESOURCES, accepted: OPENAI },
  { name: GENAI_NAME, files: /^dist\/genai\.d\.ts$/, accepted: GENAI },
];
/** The folders of the pinned libraries that tests import. */
const IMPORTED: Readonly<Record<string, URL>> = {
  "@anthropic-ai/sdk": ANTHROPIC_FOLDER,
  "openai": OPENAI_FOLDER,
};

/** The libraries at their pinned versions, or at the newest ones. */
export function libraries(
  version: "pinned" | "newest",
): readonly Library[] {
  return LIBRARIES.map((library) => ({
    ...library,
    folder: async (into) => {
      if (version === "newest") {
        return await packedLibrary(`${library.name}@latest`, into);
      }
      return IMPORTED[library.name] ??
        await packedLibrary(`${library.name}@${GENAI_VERSION}`, into);
    },
  }));
}
