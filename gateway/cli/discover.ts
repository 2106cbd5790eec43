/**
 * `models discover`: lists the models that a vendor of the configuration file offers, as rows for
 * that file.
 */
import { objectOr, parseJson } from "../../translate/bytes/json.ts";
import { ApiError } from "../../translate/model/error.ts";
import type { Config } from "../settings/config.ts";
import { isLoopback } from "../loopback.ts";
import { keyHeaders } from "../upstream/credentials/key_credential.ts";
import {
  type HostList,
  hostList,
  HostListError,
} from "../upstream/catalogue/host_list.ts";
import { withClientFetch } from "./with_client_fetch.ts";

/** A row of the configuration file. */
interface DiscoveredRow {
  /** The host, as the file calls it. */
  readonly vendor: string;
  /** The host's own id. */
  readonly upstream_model: string;
  /** `free` on this machine; elsewhere null: calls are refused until a price is set. */
  readonly price: "free" | null;
}

/** What a host lists. */
export interface Discovered {
  /** By the ids that the gateway would give them. */
  readonly rows: Readonly<Record<string, DiscoveredRow>>;
  /** Number of entries without an id, or with one that a list must not bring in, such as a path. */
  readonly leftOut: number;
}

/**
 * The models that the vendor's host lists.
 *
 * @throws {ApiError} for an unknown vendor, one that is not a host of the chat format with a key of
 * a variable or none, or a host that does not answer with a list
 */
export async function discover(
  config: Config,
  name: string,
): Promise<Discovered> {
  const vendor = config.catalogue.vendors.find((one) => one.name === name);
  const access = config.vendors[name];
  const dialect = vendor?.dialects.find((one) =>
    one.dialect === "chat_completions"
  );
  if (vendor === undefined) throw vendorError(`there is no vendor ${name}`);
  if (dialect === undefined) {
    throw vendorError(
      `${vendor.kind} has no list of models in the chat format`,
    );
  }
  if (access === undefined) throw vendorError(`${name} has no key`);
  const plan = access.credential;
  const key = access.apiKey ??
    (plan?.type === "keys" ? plan.keys[0]?.key : undefined);
  if (key === undefined && plan?.type !== "none") {
    throw vendorError(`only vendors with api_key_env, api_key_file or none`);
  }
  const url = `${access.baseUrl}/models`;
  const { ids, unusable } = await withClientFetch(
    access.way ?? config.way,
    (httpFetch) =>
      listAt(
        url,
        key === undefined ? {} : keyHeaders(key, dialect.auth),
        httpFetch,
      ),
  );
  const price = isLoopback(new URL(url).hostname) ? "free" : null;
  return {
    rows: Object.fromEntries(
      ids.map((id) => [`${name}/${id}`, {
        vendor: name,
        upstream_model: id,
        price,
      }]),
    ),
    leftOut: unusable,
  };
}

async function listAt(
  url: string,
  headers: Readonly<Record<string, string>>,
  httpFetch: typeof fetch,
): Promise<HostList> {
  try {
    return await hostList(url, headers, httpFetch);
  } catch (error) {
    if (!(error instanceof HostListError)) throw error;
    throw vendorError(error.message);
  }
}

function vendorError(problem: string): ApiError {
  return new ApiError("invalid_request", `vendor: ${problem}`);
}

/** The file's text with the rows that it does not have yet. */
export function withRows(
  text: string,
  rows: Readonly<Record<string, DiscoveredRow>>,
): string {
  const file = objectOr(parseJson(text));
  return `${
    JSON.stringify(
      { ...file, models: { ...rows, ...objectOr(file["models"]) } },
      null,
      2,
    )
  }\n`;
}
