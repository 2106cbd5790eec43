/**
 * Resolves a vendor's credential settings with the environment and the files, when the settings are
 * read. `open_credential.ts` makes the credential from the result.
 */
import { compact } from "../../../translate/bytes/compact.ts";
import type { AuthSettings } from "./auth_settings.ts";
import { KEY_TEXT } from "./key_text.ts";

/** A key and where it came from. */
export type PlannedKey =
  | { readonly variable: string; readonly key: string }
  | { readonly file: string; readonly key: string };

export interface AwsKeys {
  /** Not secret. */
  readonly accessKeyId: string;
  /** Never shown. */
  readonly secretAccessKey: string;
  /** Only temporary keys have one. */
  readonly sessionToken?: string;
}

/** What a credential needs from the settings; sources that change are named, not read. */
export type CredentialPlan =
  | { readonly type: "none" }
  | { readonly type: "keys"; readonly keys: readonly PlannedKey[] }
  | { readonly type: "aws_keys"; readonly keys: AwsKeys }
  | {
    readonly type: "aws_chain";
    readonly env: Readonly<Record<string, string>>;
  }
  | {
    readonly type: "entra_secret";
    readonly tenantId: string;
    readonly clientId: string;
    readonly secret: string;
    readonly authority: string;
  }
  | {
    readonly type: "entra_federated";
    readonly tenantId: string;
    readonly clientId: string;
    readonly tokenFile: string;
    readonly authority: string;
  }
  | {
    readonly type: "entra_managed";
    readonly clientId?: string;
    readonly env: Readonly<Record<string, string>>;
  }
  | {
    readonly type: "google_metadata";
    readonly env: Readonly<Record<string, string>>;
  }
  | {
    readonly type: "google_file";
    readonly file: string;
    readonly account: "service_account" | "external_account";
  };

/** A plan; or the variable without which the vendor is left out; or an invalid setting. */
type PlanResult =
  | { readonly type: "plan"; readonly plan: CredentialPlan }
  | { readonly type: "missing"; readonly setting: string }
  | { readonly type: "problem"; readonly problem: string };

/** Environment and file system. */
interface PlanSources {
  /** Without empty values. */
  readonly env: Readonly<Record<string, string>>;
  /** A file's text; throws the system's or the runtime's error. */
  readFile(path: string): string;
}

/** Variables that libraries or their services define, passed on to the sources that use them. */
const AWS_VARIABLES = /^AWS_/;
const AZURE_VARIABLES =
  /^(IDENTITY_ENDPOINT|IDENTITY_HEADER|AZURE_POD_IDENTITY_AUTHORITY_HOST)$/;
const GOOGLE_VARIABLES = /^(GCE_METADATA_HOST|GCE_METADATA_IP)$/;

const PUBLIC_AUTHORITY = "https://login.microsoftonline.com";

/** Resolves the settings. Only the variables that they name are used as keys. */
export function planCredential(
  settings: AuthSettings,
  sources: PlanSources,
): PlanResult {
  const { auth } = settings;
  const { env } = sources;
  if (auth === "none") return planResult({ type: "none" });
  if (auth === undefined) return planKeys(settings, sources);
  if ("google" in auth) return planGoogle(auth, sources);
  const need = (name: string, given?: string): string => {
    const value = given ?? env[name];
    if (value === undefined) throw new MissingVariable(name);
    return value;
  };
  try {
    return planResult(
      "aws" in auth ? planAws(auth, env, need) : planEntra(auth, env, need),
    );
  } catch (error) {
    if (!(error instanceof MissingVariable)) throw error;
    return { type: "missing", setting: error.message };
  }
}

class MissingVariable extends Error {}

type Need = (name: string, given?: string) => string;
type Auth<Member extends string> = Extract<
  AuthSettings["auth"],
  Readonly<Record<Member, string>>
>;

function planAws(
  auth: Auth<"aws">,
  env: PlanSources["env"],
  need: Need,
): CredentialPlan {
  if (auth.aws === "chain") {
    return { type: "aws_chain", env: matching(env, AWS_VARIABLES) };
  }
  const sessionToken = auth.session_token_env === undefined
    ? undefined
    : need(auth.session_token_env);
  return {
    type: "aws_keys",
    keys: {
      accessKeyId: need(auth.access_key_id_env),
      secretAccessKey: need(auth.secret_access_key_env),
      ...compact({ sessionToken }),
    },
  };
}

function planEntra(
  auth: Auth<"entra">,
  env: PlanSources["env"],
  need: Need,
): CredentialPlan {
  if (auth.entra === "managed_identity") {
    const clientId = auth.client_id ?? env["AZURE_CLIENT_ID"];
    return {
      type: "entra_managed",
      ...compact({ clientId }),
      env: matching(env, AZURE_VARIABLES),
    };
  }
  const application = {
    tenantId: need("AZURE_TENANT_ID", auth.tenant_id),
    clientId: need("AZURE_CLIENT_ID", auth.client_id),
    authority: (env["AZURE_AUTHORITY_HOST"] ?? PUBLIC_AUTHORITY).replace(
      /\/+$/,
      "",
    ),
  };
  return auth.entra === "client_secret"
    ? {
      type: "entra_secret",
      ...application,
      secret: need(auth.client_secret_env),
    }
    : {
      type: "entra_federated",
      ...application,
      tokenFile: need("AZURE_FEDERATED_TOKEN_FILE"),
    };
}

function planGoogle(auth: Auth<"google">, sources: PlanSources): PlanResult {
  if (auth.google === "metadata") {
    const env = matching(sources.env, GOOGLE_VARIABLES);
    return planResult({ type: "google_metadata", env });
  }
  const file = sources.env[auth.file_env];
  if (file === undefined) return { type: "missing", setting: auth.file_env };
  const account = auth.google === "service_account"
    ? "service_account"
    : "external_account";
  try {
    const json: unknown = JSON.parse(sources.readFile(file));
    const type = typeof json === "object" && json !== null && "type" in json
      ? json.type
      : undefined;
    return type === account
      ? planResult({ type: "google_file", file, account })
      : problem(
        `auth: the file that ${auth.file_env} names must be the JSON of type "${account}"`,
      );
  } catch (error) {
    return problem(
      error instanceof SyntaxError
        ? `auth: the file that ${auth.file_env} names is not JSON`
        : `auth: the file that ${auth.file_env} names: ${
          unreadable(file, error)
        }`,
    );
  }
}

function planKeys(settings: AuthSettings, sources: PlanSources): PlanResult {
  const keys: PlannedKey[] = [];
  for (const variable of settings.api_key_env ?? []) {
    const key = sources.env[variable];
    if (key === undefined) continue;
    if (!KEY_TEXT.test(key)) {
      return problem(
        `${variable}: must be a key without blanks or line breaks`,
      );
    }
    keys.push({ variable, key });
  }
  for (const file of settings.api_key_file ?? []) {
    let key: string;
    try {
      key = sources.readFile(file).trim();
    } catch (error) {
      return problem(`api_key_file: ${unreadable(file, error)}`);
    }
    if (!KEY_TEXT.test(key)) {
      return problem(
        `api_key_file: ${file} must hold one key without blanks or line breaks`,
      );
    }
    keys.push({ file, key });
  }
  const [variable = "api_key_env"] = settings.api_key_env ?? [];
  return keys.length === 0
    ? { type: "missing", setting: variable }
    : planResult({ type: "keys", keys });
}

function unreadable(path: string, error: unknown): string {
  const { name, code } = error instanceof Error
    ? error as Error & { readonly code?: unknown }
    : { name: "", code: undefined };
  const folder = path.replace(/[^/\\]*$/, "").replace(/(.)[/\\]$/, "$1");
  if (name === "NotCapable") {
    return `could not read it: permission; start with --allow-read=.,${
      folder === "" ? "DIRECTORY" : folder
    }`;
  }
  const isMissing = name === "NotFound" || code === "ENOENT" ||
    code === "ENOTDIR";
  return isMissing ? `there is no file ${path}` : `could not read ${path}`;
}

function matching(
  env: PlanSources["env"],
  names: RegExp,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => names.test(name)),
  );
}

function planResult(plan: CredentialPlan): PlanResult {
  return { type: "plan", plan };
}

function problem(text: string): PlanResult {
  return { type: "problem", problem: text };
}
