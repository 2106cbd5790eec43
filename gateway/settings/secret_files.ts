/**
 * Settings that stand in files, as containers and services mount secrets: `…_FILE` names the file
 * of a setting. No message has a piece of a file's text.
 */
import { FILE_FORMS, fileForm, type SettingName } from "./setting_forms.ts";
import { unreadable } from "./unreadable_file.ts";

/** A setting whose value is from a file. */
export interface SecretFile {
  readonly name: SettingName;
  /** Path of the file, as the environment has it. */
  readonly path: string;
  /** The value: without white space at its ends, such as the last line feed. */
  readonly text: string;
}

/** The settings that are in files, and the environment with values in place of their files. */
interface WithSecretFiles {
  readonly env: Readonly<Record<string, string>>;
  /** Those that could be read. */
  readonly secretFiles: readonly SecretFile[];
}

/** Reads the files; each problem is added to `problems` and begins with the variable's name. */
export function withSecretFiles(
  given: Readonly<Record<string, string>>,
  readFile: (path: string) => string,
  problems: string[],
): WithSecretFiles {
  const env = { ...given };
  const secretFiles: SecretFile[] = [];
  for (const [variable, name] of FILE_FORMS) {
    const path = given[variable];
    if (path === undefined) continue;
    delete env[variable];
    if (given[name] !== undefined) {
      problems.push(
        `${variable}: ${name} is set too, and only one of the two may be`,
      );
      continue;
    }
    let text: string;
    try {
      text = readFile(path).trim();
    } catch (error) {
      problems.push(
        mayBeSecret(path)
          ? `${variable}: there is no such file; its value is not repeated, because it may be the secret itself`
          : `${variable}: ${unreadable(path, error)}`,
      );
      continue;
    }
    if (text === "") {
      problems.push(`${variable}: ${path} is empty`);
      continue;
    }
    env[name] = text;
    secretFiles.push({ name, path, text });
  }
  return { env, secretFiles };
}

/** The variable and the path before a setting's problem: its name, or its file. */
export function placeOf(
  name: string,
  secretFiles: readonly SecretFile[],
): string {
  const file = secretFiles.find((one) => one.name === name);
  return file === undefined ? name : `${fileForm(file.name)}: ${file.path}`;
}

/** The settings whose files had another text before. */
export function changedSecrets(
  before: readonly SecretFile[],
  after: readonly SecretFile[],
): readonly SettingName[] {
  return after.filter(({ name, text }) =>
    before.find((one) => one.name === name)?.text !== text
  ).map(({ name }) => name);
}

/** Whether what should be a path may be the secret by mistake, and so must not be repeated. */
function mayBeSecret(path: string): boolean {
  return /^(?:sk-|at-|postgres(?:ql)?:|sqlite:)/.test(path) ||
    /^[^/\\.]{16,}$/.test(path);
}
