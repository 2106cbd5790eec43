/**
 * The client libraries whose declared names are compared with the code: the pinned versions, or
 * the newest ones of the registry. Each declaration is compared with the codec of its own format.
 */
import { GENAI_VERSION } from "../support/clients/genai_version.ts";
import { packedLibrary } from "../support/clients/packed_library.ts";
import { ANTHROPIC_FOLDER } from "../packages/anthropic.ts";
import { OPENAI_FOLDER } from "../packages/openai.ts";
import {
  type Accepted,
  ANTHROPIC,
  BEDROCK,
  GENAI,
  OPENAI,
} from "./accepted_names.ts";

/** Declarations, and the code that must use their names. */
export interface Codec {
  /** The codec's name in findings. */
  readonly name: string;
  /** Matches the whole place of a declaration, such as `resources/shared.d.ts#Reasoning`. */
  readonly places: RegExp;
  /** Its files and folders, from the project's root. */
  readonly code: readonly string[];
  /** Whether the code writes and compares these names in lower case. */
  readonly isLowerCase?: true;
}

interface Library {
  readonly name: string;
  /** The files whose declarations are on the wire. */
  readonly files: RegExp;
  /** A declaration in several must be used in each of them. */
  readonly codecs: readonly Codec[];
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
const BEDROCK_NAME = "@aws-sdk/client-bedrock-runtime";
/** Codes of errors, which all formats share. */
const ERROR_CODES = "translate/errors/error_words.ts";
/** Who pays at a vendor. */
const PAYERS = "translate/model/billed_field.ts";
const MESSAGES_FAMILY = "translate/families/messages";
const CHAT_FAMILY = "translate/families/chat";
const GENERATE_CONTENT = ["translate/formats/generate_content"];
/** Enumerations of the generate-content format whose words have any case. */
const ANY_CASE = "(?:Type|ThinkingLevel|TrafficType)";

const LIBRARIES: readonly Omit<Library, "folder">[] = [
  {
    name: "@anthropic-ai/sdk",
    files: RESOURCES,
    codecs: [
      {
        name: "messages",
        places: /resources\/(?!(?:beta\/)?models\.d\.ts).*/,
        code: ["translate/formats/messages", MESSAGES_FAMILY, PAYERS],
      },
      {
        name: "models",
        places: /resources\/(?:beta\/)?models\.d\.ts.*/,
        code: ["routes/models"],
      },
    ],
    accepted: ANTHROPIC,
  },
  {
    name: "openai",
    files: RESOURCES,
    codecs: [
      {
        name: "chat_completions",
        places: /resources\/(?:chat\/.*|shared\.d\.ts.*)/,
        code: ["translate/formats/chat_completions", CHAT_FAMILY, ERROR_CODES],
      },
      {
        name: "responses",
        places: /resources\/(?:responses\/(?!input-items).*|shared\.d\.ts.*)/,
        code: ["translate/formats/responses", CHAT_FAMILY, ERROR_CODES],
      },
      {
        name: "input_items",
        places: /resources\/responses\/input-items\.d\.ts.*/,
        code: ["gateway/responses", "routes/responses.ts"],
      },
      {
        name: "models",
        places: /resources\/models\.d\.ts.*/,
        code: ["routes/models"],
      },
    ],
    accepted: OPENAI,
  },
  {
    name: GENAI_NAME,
    files: /^dist\/genai\.d\.ts$/,
    codecs: [
      {
        name: "generate_content",
        places: new RegExp(`(?!.*#${ANY_CASE}$).*`),
        code: GENERATE_CONTENT,
      },
      {
        name: "generate_content",
        places: new RegExp(`.*#${ANY_CASE}`),
        code: GENERATE_CONTENT,
        isLowerCase: true,
      },
    ],
    accepted: GENAI,
  },
  {
    name: BEDROCK_NAME,
    files: /^dist-types\/models\/(?:enums|models_0)\.d\.ts$/,
    codecs: [{
      name: "converse",
      places: /.*/,
      code: [
        "translate/formats/converse",
        MESSAGES_FAMILY,
        "translate/stream/aws_event_stream.ts",
      ],
    }],
    accepted: BEDROCK,
  },
];
/** The folders of the pinned libraries that tests import. */
const IMPORTED: Readonly<Record<string, URL>> = {
  "@anthropic-ai/sdk": ANTHROPIC_FOLDER,
  "openai": OPENAI_FOLDER,
};
/** The versions of those that are only read. */
const UNPACKED: Readonly<Record<string, string>> = {
  [GENAI_NAME]: GENAI_VERSION,
  [BEDROCK_NAME]: "3.1164.0",
};

/** The libraries at their pinned versions, or at the newest ones. */
export function libraries(
  version: "pinned" | "newest",
): readonly Library[] {
  return LIBRARIES.map((library) => ({
    ...library,
    folder: async (into) =>
      (version === "pinned" ? IMPORTED[library.name] : undefined) ??
        await packedLibrary(
          `${library.name}@${
            version === "newest" ? "latest" : UNPACKED[library.name]
          }`,
          into,
        ),
  }));
}
