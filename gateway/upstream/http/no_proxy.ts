/**
 * Which destinations are reached without a proxy: those that `NO_PROXY` names, and always this
 * machine and the metadata services of clouds, whose replies hold the machine's credentials.
 *
 * `NO_PROXY` is a convention without a standard. Its entries are read as curl
 * (https://curl.se/docs/manpage.html#--noproxy) and Go (https://pkg.go.dev/golang.org/x/net/http/httpproxy)
 * do, where these two differ as curl does: `.example.com` is `example.com` with every name below it.
 */
import { addressRange } from "../../address_range.ts";
import { isLinkLocal } from "../../link_local.ts";
import { isLoopback } from "../../loopback.ts";

/** The server of a request. */
export interface Destination {
  /** A name, or an address without brackets. */
  readonly hostname: string;
  readonly port: number;
}

/** Whether a destination is reached without a proxy. */
export type NoProxy = (destination: Destination) => boolean;

/** Names of metadata services that do not end like a name of a company's network. */
const METADATA_NAMES: ReadonlySet<string> = new Set([
  // https://cloud.google.com/compute/docs/metadata/querying-metadata
  "metadata.google.internal",
  "metadata.goog",
  // https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html
  "instance-data.ec2.internal",
]);

/** Whether a host is a metadata service or another link-local one: no proxy may see its requests. */
export function isMetadataHost(hostname: string): boolean {
  return METADATA_NAMES.has(plainName(hostname)) || isLinkLocal(hostname);
}

/** Whether a host is this machine. */
export function isThisMachine(hostname: string): boolean {
  const name = plainName(hostname);
  return isLoopback(name) || name.endsWith(".localhost");
}

/**
 * Reads `NO_PROXY`: entries between commas or blanks, each a name, a `.suffix` or `*.suffix`, an
 * address, a range such as `10.0.0.0/8`, or `*`; a name or an address may have a port. Names are
 * not resolved to compare them with addresses.
 *
 * @throws {RangeError} naming an entry of another form
 */
export function noProxy(text: string): NoProxy {
  const rules = text.split(/[\s,]+/).filter((entry) => entry !== "").map(rule);
  return (destination) => rules.some((matches) => matches(destination));
}

const ENTRY = /^(\[[^\]]+\]|[^:]+)(?::(\d{1,5}))?$/;

function rule(entry: string): NoProxy {
  if (entry === "*") return () => true;
  const range = addressRange(entry);
  if (range !== undefined) return ({ hostname }) => range(hostname);
  const [, written = "", port] = ENTRY.exec(entry) ?? [];
  const host = written.replace(/^\[|\]$/g, "");
  const matches = addressRange(host) ?? below(host);
  if (matches === undefined || host.includes("/")) throw wrong(entry);
  return ({ hostname, port: wanted }) =>
    (port === undefined || wanted === Number(port)) && matches(hostname);
}

/** Whether a host has a name, or one below it. */
function below(host: string): ((hostname: string) => boolean) | undefined {
  const name = plainName(host.replace(/^\*?\./, ""));
  if (name === "" || /[*/?#@[\]]/.test(name)) return undefined;
  return (hostname) => {
    const wanted = plainName(hostname);
    return wanted === name || wanted.endsWith(`.${name}`);
  };
}

function wrong(entry: string): RangeError {
  return new RangeError(
    `${entry} is neither a name, a .suffix, an address, a range such as 10.0.0.0/8 nor *`,
  );
}

/** In lower case, without the dot that ends a full name. */
function plainName(host: string): string {
  return host.toLowerCase().replace(/\.$/, "");
}
