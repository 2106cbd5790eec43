/**
 * The ways out that the settings name: the proxies and authorities of the environment, and what the
 * rows of vendors have of their own.
 */
import { compact } from "../../translate/bytes/compact.ts";
import type { CatalogueOverrides } from "../upstream/catalogue/catalogue_shape.ts";
import {
  directWay,
  type EnvironmentProxies,
  environmentWay,
  proxiedWay,
  type TlsSettings,
  type Way,
  withTls,
} from "../upstream/http/way.ts";
import { noProxy } from "../upstream/http/no_proxy.ts";
import { type Proxy, PROXY_FORM, readProxy } from "../upstream/http/proxy.ts";
import {
  type CertificateFile,
  CertificateFileError,
  checkPair,
  expiryNote,
  readCertificateFile,
} from "./certificate_files.ts";

/** The ways of all requests. */
export interface Ways {
  /** The way of requests without one of their own. */
  readonly way: Way;
  /** The way to receivers of webhooks. */
  readonly webhookWay: Way;
  /** The ways to vendors that have their own, by name. */
  readonly vendorWays: Readonly<Record<string, Way>>;
  /** The files that were read. */
  readonly certificateFiles: readonly CertificateFile[];
  /** What an operator should know of the files. */
  readonly certificateNotes: readonly string[];
}

/** Variables that name files of authorities; Deno reads the last two by itself, once. */
const AUTHORITY_SETTINGS = [
  "SSL_CERT_FILE",
  "NODE_EXTRA_CA_CERTS",
  "DENO_CERT",
] as const;

type AuthoritySetting = (typeof AUTHORITY_SETTINGS)[number];

interface WaySources {
  readonly proxies: EnvironmentProxies;
  /** Whether webhooks take these proxies. */
  readonly webhooksUseThem: boolean;
  /** Paths of files. */
  readonly authorities: Partial<Record<AuthoritySetting, string | undefined>>;
  readonly vendors: NonNullable<CatalogueOverrides["vendors"]>;
  readonly env: Readonly<Record<string, string>>;
  readFile(path: string): string;
  /** Begins with a setting. */
  onProblem(problem: string): void;
}

type Row = WaySources["vendors"][string];

/** Reads every file, and makes the ways. */
export function readWays(sources: WaySources): Ways {
  const reader = new Reader(sources);
  const tls = { authorities: reader.authorities() };
  const way = environmentWay(sources.proxies, tls);
  return {
    way,
    webhookWay: sources.webhooksUseThem ? way : directWay(tls),
    vendorWays: Object.fromEntries(
      Object.entries(sources.vendors).flatMap(([name, row]) => {
        const own = reader.vendorWay(
          `GATEWAY_CONFIG: vendors.${name}`,
          row,
          way,
        );
        return own === undefined ? [] : [[name, own] as const];
      }),
    ),
    certificateFiles: reader.files,
    certificateNotes: reader.notes,
  };
}

class Reader {
  readonly #sources: WaySources;
  readonly files: CertificateFile[] = [];
  readonly notes: string[] = [];

  constructor(sources: WaySources) {
    this.#sources = sources;
  }

  readonly #report = ({ message }: CertificateFileError): void =>
    this.#sources.onProblem(message);

  /** A file of the environment that is unusable stops no start: other programs may use it. */
  authorities(): readonly string[] {
    return AUTHORITY_SETTINGS.flatMap((name) => {
      const path = this.#sources.authorities[name];
      if (path === undefined) return [];
      const file = this.#file(name, path, ({ message, isForbidden }) => {
        if (!isForbidden || name === "SSL_CERT_FILE") this.notes.push(message);
      });
      return file === undefined ? [] : [file.text];
    });
  }

  /** Undefined for a row without a way of its own. */
  vendorWay(at: string, row: Row, usual: Way): Way | undefined {
    const { proxy, proxy_env: variable, tls } = row;
    if (proxy === undefined && variable === undefined && tls === undefined) {
      return undefined;
    }
    const text = variable === undefined ? proxy : this.#sources.env[variable];
    if (variable !== undefined && text === undefined) {
      this.#sources.onProblem(`${at}.proxy_env: ${variable} is not set`);
    }
    const settings = this.#tls(`${at}.tls`, tls ?? {}, usual.tls);
    if (text === undefined) return withTls(usual, settings);
    if (text === "none") return directWay(settings);
    // Another secret must not be taken for the name of a host.
    const isAddress = variable === undefined || text.includes("://");
    const address: Proxy | undefined = isAddress ? readProxy(text) : undefined;
    if (address !== undefined) return proxiedWay(address, settings);
    this.#sources.onProblem(
      `${at}.${
        variable === undefined ? "proxy" : `proxy_env: ${variable}`
      }: ${PROXY_FORM}`,
    );
    return undefined;
  }

  #tls(
    at: string,
    { ca, cert, key, min_version }: NonNullable<Row["tls"]>,
    usual: TlsSettings,
  ): TlsSettings {
    const file = (field: string, path: string | undefined) =>
      path === undefined
        ? undefined
        : this.#file(`${at}.${field}`, path, this.#report);
    const own = file("ca", ca);
    const certificate = file("cert", cert);
    const secret = this.#pair(certificate, `${at}.key`, key);
    return {
      authorities: [
        ...usual.authorities,
        ...(own === undefined ? [] : [own.text]),
      ],
      ...compact({
        certificate: certificate && secret &&
          { cert: certificate.text, key: secret.text },
        minVersion: min_version === "1.3" ? min_version : undefined,
      }),
    };
  }

  /** The key of a certificate, if it is. */
  #pair(
    cert: CertificateFile | undefined,
    at: string,
    path: string | undefined,
  ): CertificateFile | undefined {
    if (cert === undefined || path === undefined) return undefined;
    return this.#checked(this.#report, () => {
      const key = readCertificateFile(at, path, this.#sources.readFile);
      checkPair(cert, key);
      return key;
    });
  }

  #file(
    at: string,
    path: string,
    onError: (error: CertificateFileError) => void,
  ): CertificateFile | undefined {
    return this.#checked(onError, () => {
      const file = readCertificateFile(at, path, this.#sources.readFile);
      const note = expiryNote(file, Date.now());
      if (note !== undefined) this.notes.push(note);
      return file;
    });
  }

  #checked(
    onError: (error: CertificateFileError) => void,
    read: () => CertificateFile,
  ): CertificateFile | undefined {
    try {
      const file = read();
      this.files.push(file);
      return file;
    } catch (error) {
      if (!(error instanceof CertificateFileError)) throw error;
      onError(error);
      return undefined;
    }
  }
}

/** The proxies of the environment, from settings that were checked. */
export function environmentProxies(
  http: Proxy | undefined,
  https: Proxy | undefined,
  exemptions = "",
): EnvironmentProxies {
  return {
    ...compact({ http, https }),
    isExempt: noProxy(exemptions),
    exemptions,
  };
}
