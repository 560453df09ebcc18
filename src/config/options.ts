// The one table of the daemon's settings. The schema of errand.yaml, the defaults, the names in the environment, and every
// help text derive from it: `errand config show`, `errand serve --help`, config/errand.yaml and docs/SETTINGS.md (J2, J7).
import type { Option, SectionName, SettingName } from './option.ts';
import { AGENT_OPTIONS } from './options/agents.ts';
import { BLOB_OPTIONS } from './options/blobs.ts';
import { BACKUP_OPTIONS } from './options/backups.ts';
import { NODE_OPTIONS } from './options/node.ts';
import { REQUEST_OPTIONS } from './options/requests.ts';
import { RETENTION_OPTIONS } from './options/retention.ts';
import { RUN_OPTIONS } from './options/runs.ts';
import { TLS_OPTIONS } from './options/tls.ts';
import { TELEMETRY_OPTIONS } from './options/telemetry.ts';

/** Every setting, in the order in which it is shown. Those of one section stand together. */
export const OPTIONS: Readonly<Record<SettingName, Option>> = {
  ...REQUEST_OPTIONS,
  ...TLS_OPTIONS,
  ...RUN_OPTIONS,
  ...NODE_OPTIONS,
  ...AGENT_OPTIONS,
  ...RETENTION_OPTIONS,
  ...TELEMETRY_OPTIONS,
  ...BACKUP_OPTIONS,
  ...BLOB_OPTIONS,
};

/** What each section is about. */
export const SECTIONS: Readonly<Record<SectionName, string>> = {
  tls:
    'TLS of the address in `listen`: set `cert_file` and `key_file`, or neither. They are read again when they change; the ' +
    "operator's socket stays plain. And whom the daemon trusts.",
  limits: 'What requests can make the daemon hold.',
  streams: 'Streamed replies, and how the daemon stops.',
  office: 'Office Mode for people.',
  sso:
    "Single sign-on. A user sends the provider's token and gets a login token for the account that the provider's response " +
    'names in `data.empNo`. The account is created at its first login.',
  'sso.defaults': 'What an account that is created this way gets.',
  background: 'Background runs.',
  model: 'Calls to models, and the runs that make them.',
  user_input: 'Questions that agents ask their users. A run that waits for an answer occupies no worker.',
  webhooks: 'Deliveries of events to other systems.',
  workers: 'The threads that execute runs.',
  node: 'This daemon among those of the installation; see `errand nodes`.',
  shell: "The agents' shell tool. Each command runs in a sandbox of its own, without a network.",
  browser:
    'The browser, for agents whose key or expert has it. Each run has its own Chromium, in a sandbox of its own.',
  workspace: "The agents' files: one directory for each session.",
  artifacts: 'What is kept of the files that agents make: those of each run, and the whole workspace.',
  publish: 'Published pages.',
  disk: 'The disk of the data directory.',
  retention:
    'Ages at which things are removed for good. 0 keeps them. Deliveries have `webhooks.retention_days`; see docs/RETENTION.md.',
  egress:
    'What the daemon can reach on behalf of users and agents in addition to the public internet: images by URL, web pages, ' +
    'HTTP tool servers, connected services. Private, loopback and link-local addresses, and all ports except 80 and 443, ' +
    'are refused unless an exception allows them. And the proxy through which the daemon reaches these and everything else, ' +
    'models too, but loopback; see docs/OPERATING.md.',
  metrics: 'Metrics for Prometheus, on a listener of their own.',
  traces: 'Traces of runs that have ended, for a collector of OpenTelemetry: what took how long, without any content.',
  log: 'The log.',
  backup: 'Scheduled backups. `errand backup create` makes others.',
  blobs: 'Where the bytes of files are kept. docs/S3.md tells how to have them in a bucket.',
  'blobs.s3': 'A bucket of an S3 service. Set `endpoint`, `bucket` and `key_file`.',
};
