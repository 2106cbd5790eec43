/**
 * Files of certificates: authorities, and client certificates with their keys. Each is checked when
 * it is read, because a connection reports no more than that it failed.
 */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { unreadable } from "./unreadable_file.ts";

/** A file that was read. */
export interface CertificateFile {
  /** The setting that names it. */
  readonly at: string;
  readonly path: string;
  readonly text: string;
}

/** A file that cannot be used. The message begins with the setting. */
export class CertificateFileError extends Error {
  override readonly name = "CertificateFileError";
  /** Whether the process lacks the permission to read it; Deno itself reads some of them. */
  readonly isForbidden: boolean;

  constructor(message: string, isForbidden = false) {
    super(message);
    this.isForbidden = isForbidden;
  }
}

const CERTIFICATE =
  /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/**
 * Reads a file that `at` names.
 *
 * @throws {CertificateFileError} for a file that cannot be read
 */
export function readCertificateFile(
  at: string,
  path: string,
  readFile: (path: string) => string,
): CertificateFile {
  try {
    return { at, path, text: readFile(path) };
  } catch (error) {
    throw new CertificateFileError(
      `${at}: ${unreadable(path, error)}`,
      error instanceof Deno.errors.NotCapable,
    );
  }
}

/**
 * A note where every certificate of a file has expired, or the first one of a client certificate;
 * undefined otherwise.
 *
 * @throws {CertificateFileError} for a file without certificates
 */
export function expiryNote(
  { at, path, text }: CertificateFile,
  nowMs: number,
): string | undefined {
  const ends = certificatesOf(at, path, text).map(({ validTo }) =>
    Date.parse(validTo)
  );
  const last = Math.max(...ends);
  return last > nowMs
    ? undefined
    : `${at}: the certificate in ${path} expired on ${
      new Date(last).toISOString().slice(0, 10)
    }`;
}

/**
 * Checks that a key is that of a certificate.
 *
 * @throws {CertificateFileError}
 */
export function checkPair(cert: CertificateFile, key: CertificateFile): void {
  const [own] = certificatesOf(cert.at, cert.path, cert.text);
  let isPair: boolean;
  try {
    isPair = own?.checkPrivateKey(createPrivateKey(key.text)) === true;
  } catch {
    throw new CertificateFileError(
      `${key.at}: ${key.path} is no private key in PEM without a passphrase`,
    );
  }
  if (isPair) return;
  throw new CertificateFileError(
    `${key.at}: ${key.path} is not the key of the certificate in ${cert.path}`,
  );
}

function certificatesOf(
  at: string,
  path: string,
  text: string,
): readonly X509Certificate[] {
  try {
    const found = (text.match(CERTIFICATE) ?? []).map((one) =>
      new X509Certificate(one)
    );
    // What this refuses, connections refuse too; no request is made.
    Deno.createHttpClient({ caCerts: [text] }).close();
    if (found.length > 0) return found;
  } catch {
    // Reported below.
  }
  throw new CertificateFileError(`${at}: ${path} has no certificates in PEM`);
}

/** The settings whose files had another text before, or were not there. */
export function changedCertificates(
  before: readonly CertificateFile[],
  after: readonly CertificateFile[],
): readonly string[] {
  const known = new Map(before.map(({ at, text }) => [at, text]));
  return after.filter(({ at, text }) => known.get(at) !== text)
    .map(({ at }) => at);
}
