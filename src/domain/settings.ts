// The daemon's settings as the rest of the program has them: `config/` reads them, `config/options/` has their help (J1, J2, J7).
import type { EgressRule } from './egress.ts';

export interface Settings {
  /** `HOST:PORT` or `unix:/path`. Read once at start, as the database is; every other setting may change while the daemon runs. */
  readonly listen: string;
  /** Address of a PostgreSQL database, or a reference to a file with it; both empty for a SQLite file in the data directory. */
  readonly database: string;
  readonly databaseFile: string;
  /** How many connections to PostgreSQL the daemon opens at most. */
  readonly databaseConnections: number;
  /**
   * The certificate of the daemon, and its key; both empty for plain HTTP. `caFile`: issuers that the daemon trusts in addition where it
   * calls others; empty for none. Paths, or `credential:NAME`.
   */
  readonly tls: { readonly certFile: string; readonly keyFile: string; readonly caFile: string };
  /** Base URL that clients use, without a trailing slash. */
  readonly publicUrl: string;
  /** Origin of a host for published pages alone, where everything else is 404; empty for none (J8). */
  readonly shareOrigin: string;
  /** Whether paths under `/v1/` lead where those under `/openapi/v1/` do (M5). */
  readonly aliases: boolean;
  /** Addresses and ranges of the proxies whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: readonly string[];
  /** How long a non-stream request waits for its run (C8). */
  readonly waitTimeoutSeconds: number;
  readonly maxUploadSizeMb: number;
  readonly limits: {
    /** All text of one turn (A5). */
    readonly maxTextMb: number;
    /** All bodies that are being read or held. */
    readonly bodiesInFlightMb: number;
    /** All replies that are being made or sent. */
    readonly repliesInFlightMb: number;
    /** JSON values in one body (A5). */
    readonly maxNodes: number;
    /** TCP connections; fewer when the process can open few files. */
    readonly connections: number;
    /** TCP connections from one address; trusted proxies can have more. */
    readonly connectionsPerAddress: number;
  };
  /** Whether browsers are served Office Mode, at `/office`. */
  readonly office: { readonly web: boolean };
  /** Validity of the login tokens issued from now on (B6). */
  readonly loginTokenTtlSeconds: number;
  /** The one single-sign-on provider (B8). Without `provider` and `userinfoUrl` there is no single sign-on; other empty texts mean no value. */
  readonly sso: {
    readonly provider: string;
    readonly userinfoUrl: string;
    /** Name of the query parameter that the user's token is sent in. */
    readonly tokenParameter: string;
    /** For the whole request, from connecting to the last byte. */
    readonly timeoutMs: number;
    /** What an account that is created at its first login gets. */
    readonly defaults: { readonly team: string; readonly functionalRole: string; readonly scenario: string };
  };
  /** Limits of background runs (§8); they do not apply to other runs. */
  readonly background: {
    /** How long a background run can wait for a worker. */
    readonly queueWaitSeconds: number;
    readonly maxUnfinishedPerKey: number;
    readonly maxExecutingPerKey: number;
    readonly maxUnfinishedPerUser: number;
    /** Requests for runs' results that one key can make per second (D9). */
    readonly pollsPerSecond: number;
    /** As `patienceSeconds` of `model`, also for scheduled tasks. */
    readonly modelPatienceSeconds: number;
  };
  readonly model: {
    readonly connectTimeoutSeconds: number;
    readonly firstTokenTimeoutSeconds: number;
    readonly idleTimeoutSeconds: number;
    readonly runTimeoutSeconds: number;
    readonly maxSteps: number;
    /** Text, reasoning and tool calls of one reply together. */
    readonly maxReplyMb: number;
    /** How long a call is repeated while its model's server is down; 0: as often as after other failures. */
    readonly patienceSeconds: number;
  };
  readonly userInput: {
    /** How long a question of an agent waits for its user (I2). */
    readonly expiresSeconds: number;
  };
  readonly webhooks: {
    /** How long deliveries and their attempts are kept. */
    readonly retentionDays: number;
  };
  readonly node: {
    /** Empty: the name of the host. */
    readonly name: string;
    readonly labels: readonly string[];
  };
  readonly workers: {
    readonly threads: number;
    readonly runsPerThread: number;
    /** V8 heap limit of one worker thread. */
    readonly memoryMb: number;
    /** A thread that has not turned its event loop for this long is ended and its runs are resumed. */
    readonly hangTimeoutSeconds: number;
  };
  readonly streams: {
    /** Longest silence of a conversation stream before a ping (C10). */
    readonly pingSeconds: number;
    /** Longest silence of a stream of Office Mode before a heartbeat (G9). */
    readonly heartbeatSeconds: number;
    /** How long runs and open streams can continue after SIGTERM. */
    readonly drainSeconds: number;
  };
  readonly shell: {
    readonly enabled: boolean;
    readonly timeoutSeconds: number;
    readonly maxOutputKb: number;
    readonly memoryMb: number;
    readonly maxProcesses: number;
  };
  readonly workspace: {
    /** Disk space of one workspace. */
    readonly quotaMb: number;
    /** Disk space of all workspaces of one user's sessions; 0 for any. */
    readonly userQuotaMb: number;
    /** How long turns are left to the node that has the files of their session. */
    readonly stickySeconds: number;
    /** When changed files are recorded, where several processes share the store: after a run, or after each of its steps, too. */
    readonly checkpoint: Checkpoint;
  };
  readonly disk: {
    /** With less free, new turns are refused, and commands are ended. */
    readonly keepFreeMb: number;
  };
  /** Ages at which things are removed; 0 keeps them. */
  readonly retention: {
    /** Journals of ended runs, and events of sessions. */
    readonly eventsDays: number;
    /** Journals, tool calls and their results, of ended runs. */
    readonly runsDays: number;
    readonly auditDays: number;
    /** Files of sessions that had no run for so long. */
    readonly workspacesIdleDays: number;
    /** Archives, which are packed again on request. */
    readonly exportsDays: number;
    readonly firingsDays: number;
    /** Whole sessions of scheduled tasks, after their last run. */
    readonly scheduledSessionsDays: number;
    /** Whole sessions that nobody comes back to (M1). */
    readonly throwAwaySessionsDays: number;
    /** Versions of a published page. */
    readonly versionsKeep: number;
    /** Copies of the database from before an upgrade. */
    readonly upgradeCopiesDays: number;
  };
  readonly backup: {
    /** Where scheduled backups are kept: an absolute path; empty for none. */
    readonly directory: string;
    /** `HH:MM`, by the clock of the machine. */
    readonly at: string;
    readonly keepDays: number;
    readonly workspaces: boolean;
  };
  /** Where the bytes of files are. */
  readonly blobs: {
    /** A bucket that has them; without `endpoint`, the data directory has them. Other empty texts mean no value. Read once at start. */
    readonly s3: {
      readonly endpoint: string;
      readonly region: string;
      readonly bucket: string;
      /** Ends with a slash. */
      readonly prefix: string;
      readonly pathStyle: boolean;
      /** References to files. */
      readonly keyFile: string;
      readonly caFile: string;
      readonly encryption: '' | 'AES256' | 'aws:kms';
      readonly kmsKey: string;
    };
    /** Local copies of what is in the bucket. */
    readonly cacheMb: number;
    /** Whether downloads lead to the bucket. */
    readonly redirect: boolean;
  };
  readonly egress: {
    /** What can be reached in addition to the public internet (H7). */
    readonly allow: readonly EgressRule[];
    /** Address of an HTTP proxy; `direct` for none; empty for those that the environment names. */
    readonly proxy: string;
    /** Reference to a file with `USER:PASSWORD` for it; empty for none. */
    readonly proxyCredentialsFile: string;
    /** Names, addresses and ranges that are reached without it, in addition to those of the environment. */
    readonly noProxy: readonly string[];
    /** Whether the proxy resolves the names of what users and agents reach, and so decides where they lead. */
    readonly proxyResolves: boolean;
  };
  /** What is kept of the files that runs make (E5). */
  readonly artifacts: {
    /** Time to examine a workspace, and to pack an archive. */
    readonly deadlineSeconds: number;
    /** Larger files are ignored. */
    readonly maxFileMb: number;
    /** Files of one workspace; further files are ignored. */
    readonly maxFiles: number;
    /** All files of one workspace together; files beyond that are ignored. */
    readonly maxTotalMb: number;
  };
  readonly publish: {
    /** Of one version (F11). */
    readonly maxFiles: number;
    readonly maxTotalMb: number;
    /** In which pages show their times to readers without scripts. */
    readonly timeZone: string;
  };
  readonly browser: {
    readonly enabled: boolean;
    /** Absolute path of Chromium's executable; empty for the usual places. */
    readonly executable: string;
    /** For one action. */
    readonly timeoutSeconds: number;
    readonly memoryMb: number;
  };
  readonly metrics: {
    /** `HOST:PORT` or `unix:/path`, read once at start; empty for no metrics. */
    readonly listen: string;
  };
  /** Traces of runs, sent to a collector when it is set. */
  readonly traces: {
    /** Base address of a collector that takes OTLP over HTTP; empty for none. */
    readonly otlpEndpoint: string;
    /** Reference to a file with its headers; empty for none. */
    readonly headersFile: string;
    /** Share of the runs, from 0 to 1. */
    readonly sample: number;
  };
  readonly log: { readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' };
}

/** Which database has the rows. */
export function engineOf({
  database,
  databaseFile,
}: Pick<Settings, 'database' | 'databaseFile'>): 'sqlite' | 'postgres' {
  return database === '' && databaseFile === '' ? 'sqlite' : 'postgres';
}

/** Whether the daemon speaks TLS. */
export function usesTls({ tls }: Pick<Settings, 'tls'>): boolean {
  return tls.certFile !== '';
}
export const CHECKPOINTS = ['run', 'step'] as const;
export type Checkpoint = (typeof CHECKPOINTS)[number];
