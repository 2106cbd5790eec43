/**
 * The shape of a vendor's credential in the configuration file, and which credentials a host takes.
 */
import { z } from "zod";
import { isLoopback } from "../../loopback.ts";
import { allowedText } from "../catalogue/setting_errors.ts";
import type { AuthScheme } from "./credential.ts";

/** Variables that the system gives every program: their values are no credentials of a vendor. */
const SYSTEM_VARIABLE =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|PWD|OLDPWD|HOSTNAME|LANG|TERM|TMPDIR|TMP|TEMP|MAIL|EDITOR|DISPLAY|(?:LC|SSH|XDG|DENO|LD)_.*)$/;

/** A key given in place of a variable's name, such as the id of an AWS key: no underscore in it. */
const KEY_IN_CAPITALS = /^(?=.*[0-9])[A-Z0-9]{16,}$/;

/** The text may be a key by mistake, so no message repeats it. */
export const variableName: z.ZodString = z.string()
  .regex(
    /^[A-Z_][A-Z0-9_]*$/,
    "must be the name of an environment variable: capital letters, digits and _, never a key itself",
  )
  .refine(
    (name) => !KEY_IN_CAPITALS.test(name),
    "must be the name of an environment variable, and looks like a key itself",
  )
  .refine(
    (name) => !SYSTEM_VARIABLE.test(name),
    "must be a variable that holds a credential, not one of the system",
  );

const oneOrMore = <T extends z.ZodType>(one: T) =>
  z.union([one, z.array(one).min(1)], {
    error: "must be one name or a list of names",
  }).transform((value) => [value].flat() as z.output<T>[]);

const NO_KEY_HERE =
  "no key may stand in the file; name a variable with api_key_env or a file with api_key_file";

const awsAuth = z.discriminatedUnion("aws", [
  z.strictObject({ aws: z.literal("chain") }),
  z.strictObject({
    aws: z.literal("keys"),
    access_key_id_env: variableName.default("AWS_ACCESS_KEY_ID"),
    secret_access_key_env: variableName.default("AWS_SECRET_ACCESS_KEY"),
    session_token_env: variableName.optional(),
  }),
], { error: 'aws must be "chain" or "keys"' });

const entraIds = {
  client_id: z.string().min(1).optional(),
  tenant_id: z.string().min(1).optional(),
};

const entraAuth = z.discriminatedUnion("entra", [
  z.strictObject({ entra: z.literal("workload_identity"), ...entraIds }),
  z.strictObject({
    entra: z.literal("managed_identity"),
    client_id: entraIds.client_id,
  }),
  z.strictObject({
    entra: z.literal("client_secret"),
    ...entraIds,
    client_secret_env: variableName.default("AZURE_CLIENT_SECRET"),
  }),
], {
  error:
    'entra must be "workload_identity", "managed_identity" or "client_secret"',
});

const googleAuth = z.discriminatedUnion("google", [
  z.strictObject({ google: z.literal("metadata") }),
  z.strictObject({
    google: z.enum(["service_account", "workload_identity"]),
    file_env: variableName.default("GOOGLE_APPLICATION_CREDENTIALS"),
  }),
], {
  error: 'google must be "metadata", "service_account" or "workload_identity"',
});

/** A vendor's `auth`: `"none"`, or an object with one of `aws`, `entra` and `google`. */
type AuthSetting =
  | "none"
  | z.output<typeof awsAuth>
  | z.output<typeof entraAuth>
  | z.output<typeof googleAuth>;

/** Chosen by the member that is there, so that a mistake inside it is reported at its place. */
const auth = z.unknown().transform((value, context): AuthSetting => {
  if (value === "none") return "none";
  const schema = !isRecord(value)
    ? undefined
    : "aws" in value
    ? awsAuth
    : "entra" in value
    ? entraAuth
    : "google" in value
    ? googleAuth
    : undefined;
  if (schema === undefined) {
    context.issues.push({
      code: "custom",
      message: 'must be "none" or an object with aws, entra or google',
      input: value,
    });
    return z.NEVER;
  }
  const parsed = schema.safeParse(value, { error: allowedText });
  if (parsed.success) return parsed.data;
  for (const issue of parsed.error.issues) {
    context.issues.push({
      code: "custom",
      message: issue.message,
      path: issue.path,
      input: value,
    });
  }
  return z.NEVER;
});

/** The members of a vendor's row about its credential, for a strict object. All are optional. */
export const AUTH_FIELDS = {
  auth: auth.optional(),
  api_key_env: oneOrMore(variableName).optional(),
  api_key_file: oneOrMore(z.string().min(1)).optional(),
  api_key: z.never(NO_KEY_HERE).optional(),
} as const;

/** The values of {@linkcode AUTH_FIELDS}. */
export interface AuthSettings {
  /** Absent: the credential is a key, in one of the other two. */
  readonly auth?: AuthSetting | undefined;
  /** Variables that hold a key. */
  readonly api_key_env?: readonly string[] | undefined;
  readonly api_key_file?: readonly string[] | undefined;
}

/** The schemes with which each member of `auth` is sent. */
const SCHEME_OF: readonly (readonly [string, AuthScheme])[] = [
  ["aws", "sigv4"],
  ["entra", "entra"],
  ["google", "google"],
];

/**
 * What is wrong with a vendor's credential settings at a host that takes `schemes`; undefined if
 * nothing. Begins with the field.
 */
export function authProblem(
  kind: string,
  schemes: readonly AuthScheme[],
  settings: AuthSettings,
): string | undefined {
  const { auth: setting } = settings;
  const hasKeys = settings.api_key_env !== undefined ||
    settings.api_key_file !== undefined;
  if (setting !== undefined && hasKeys) {
    return "auth: must not be given together with api_key_env or api_key_file";
  }
  const takesKeys = schemes.includes("bearer") || schemes.includes("header");
  const isTaken = setting === undefined
    ? hasKeys && takesKeys
    : setting === "none"
    ? schemes.includes("none")
    : SCHEME_OF.some(([member, scheme]) =>
      member in setting && schemes.includes(scheme)
    );
  if (isTaken) return undefined;
  const taken = [
    ...SCHEME_OF.flatMap(([member, scheme]) =>
      schemes.includes(scheme) ? [member] : []
    ),
    ...(takesKeys ? ["api_key_env"] : []),
    ...(schemes.includes("none") ? ['"none"'] : []),
  ];
  const last = taken.pop() ?? "no credential";
  return `auth: ${kind} takes ${
    taken.length === 0 ? last : `${taken.join(", ")} or ${last}`
  }`;
}

/** Variables named by the settings: sent to the vendor, so they must not be the gateway's. */
export function namedVariables(settings: AuthSettings): readonly string[] {
  const { auth: setting, api_key_env: keys = [] } = settings;
  return typeof setting !== "object" ? keys : Object.entries(setting).flatMap(
    ([field, value]) =>
      field.endsWith("_env") && value !== undefined ? [value] : [],
  );
}

/** Whether what is sent to an address can be read on its way: neither https nor this machine. */
export function isUnencrypted(baseUrl: string): boolean {
  const { protocol, hostname } = new URL(baseUrl);
  return protocol !== "https:" && !isLoopback(hostname);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
