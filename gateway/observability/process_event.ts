/** Events of the process itself. */
export type ProcessEvent = {
  /** It serves requests. */
  readonly type: "listening";
  readonly address: string;
  readonly version: string;
  /** Names of the vendors, or `replay`. */
  readonly upstreams: readonly string[];
  /** Number of models. */
  readonly models: number;
  /** Address of the console; null if there is none. */
  readonly console: string | null;
  /** A link into the console that works once; absent: none was made. */
  readonly sign_in?: string;
} | {
  /** The key that the first start made. */
  readonly type: "first_key";
  readonly key: string;
} | {
  /** What an operator should know of the configuration or the platform. */
  readonly type: "start_note";
  readonly text: string;
} | {
  /** The settings, or what they name, do not allow a start. */
  readonly type: "start_refused";
  readonly error: Error;
} | {
  /** An uncaught exception or rejection. */
  readonly type: "fault";
  readonly source: string;
  /** Its message has name, message and stack of what was thrown. */
  readonly error: Error;
} | {
  /** A warning of the platform or of a library. */
  readonly type: "platform_warning";
  readonly text: string;
} | {
  /** Lines without a reader are missing at this place of the log. */
  readonly type: "log_lines_dropped";
  readonly lines: number;
} | ConnectionEvent;

/** What the process reports of the connections of its clients. */
export type ConnectionEvent = {
  /** One could not be accepted, and idle ones were ended. */
  readonly type: "connections_exhausted";
  readonly error: unknown;
} | {
  /** They are accepted again. */
  readonly type: "connections_accepted";
};
