// The one table of the daemon's settings: the schema of errand.yaml, the defaults, the names in the environment
// and `errand config show` all derive from it (J2, J7).
import { availableParallelism } from 'node:os';
import { egressRulesSchema, readEgressRules } from '../catalog/egress-rules.ts';
import { choice, flag, integer, list, text } from '../catalog/schema.ts';
import { isPublicUrl, isUserinfoUrl, parseListen, publicUrlFor } from './listen-address.ts';
import type { Option, SettingName } from './option.ts';
import { isAddressRange } from '../outbound/address-range.ts';

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;

const isShort = (value: string) => value.length <= 200;
const seconds = (minimum: number, maximum: number) => integer(minimum, maximum, 'seconds');
const megabytes = (minimum: number, maximum: number) => integer(minimum, maximum, 'megabytes');
const WEEK = 7 * 24 * 3600;

/** Every setting, in the order in which it is shown. */
export const OPTIONS: Readonly<Record<SettingName, Option>> = {
  listen: {
    schema: text(
      'HOST:PORT, such as 127.0.0.1:8484 or [::1]:8484, the port at most 65535',
      (value) => parseListen(value) !== null,
    ),
    fallback: '127.0.0.1:8484',
    about: 'Address to listen on; read once at start.',
    flag: 'listen',
  },
  public_url: {
    schema: text('an http or https address without user, query or fragment', isPublicUrl),
    fallback: publicUrlFor,
    read: (written) => (written as string).replace(/\/+$/, ''),
    about: 'Base address that clients reach the daemon by; follows from listen when not given.',
    flag: 'publicUrl',
  },
  trusted_proxies: {
    schema: list(
      text('an address or a range of addresses, such as 10.0.0.0/8', isAddressRange),
      'addresses and ranges',
    ),
    fallback: [],
    about: 'Proxies whose X-Forwarded-For is believed; as a variable, a list in JSON.',
  },
  wait_timeout_seconds: {
    schema: seconds(1, 86_400),
    fallback: 600,
    about: 'How long a request that does not stream waits for its run.',
  },
  max_upload_size_mb: {
    schema: megabytes(1, 1024),
    fallback: 20,
    about: 'Largest image or attachment.',
    environment: 'MAX_UPLOAD_SIZE_MB',
  },
  'limits.max_text_mb': { schema: megabytes(1, 64), fallback: 4, about: 'Text of one turn.' },
  'limits.bodies_in_flight_mb': {
    schema: megabytes(1, 65_536),
    fallback: 256,
    about: 'Bodies of requests that are being read or held, all together.',
  },
  'limits.max_nodes': { schema: integer(1_000, 1_000_000), fallback: 100_000, about: 'JSON values in one body.' },
  'limits.connections': {
    schema: integer(1, 1_000_000),
    fallback: 2_000,
    about: 'TCP connections; fewer when the process may open few files.',
  },
  'limits.connections_per_address': {
    schema: integer(1, 1_000_000),
    fallback: 200,
    about: 'TCP connections from one address; at most half of all, except from trusted proxies.',
  },
  login_token_ttl_seconds: {
    schema: seconds(1, 86_400),
    fallback: 86_400,
    about: 'How long a login token is valid.',
    environment: 'OPENAPI_LOGIN_TOKEN_TTL_SECONDS',
  },
  'sso.provider': {
    schema: text('the name of a provider, at most 64 characters', (value) => value.length <= 64),
    fallback: '',
    about: 'Name of the single-sign-on provider; empty for none.',
  },
  'sso.userinfo_url': {
    schema: text('an http or https address without user or fragment', isUserinfoUrl),
    fallback: '',
    about: 'Where the provider tells whose token it is.',
  },
  'sso.token_parameter': {
    schema: text('the name of a query parameter, at most 64 characters', (value) => /^[\w.-]{1,64}$/.test(value)),
    fallback: 'token',
    about: 'Query parameter that the token is sent to the provider in.',
  },
  'sso.timeout_ms': {
    schema: integer(100, 60_000, 'milliseconds'),
    fallback: 5000,
    about: 'How long the provider may take to answer.',
  },
  'sso.defaults.team': {
    schema: text("a team's name, or empty", isShort),
    fallback: '',
    about: 'Team of an account that is made at its first single sign-on.',
  },
  'sso.defaults.functional_role': {
    schema: text('a functional role, or empty', isShort),
    fallback: '',
    about: 'Functional role of such an account.',
  },
  'sso.defaults.scenario': {
    schema: text('a scenario of models.yaml, or empty', isShort),
    fallback: '',
    about: 'Scenario of such an account; empty for the default scenario.',
  },
  'model.connect_timeout_seconds': {
    schema: seconds(1, 600),
    fallback: 10,
    about: 'How long a connection to a model endpoint may take.',
  },
  'model.first_token_timeout_seconds': {
    schema: seconds(1, 3600),
    fallback: 120,
    about: "How long a model may take to its reply's first token.",
  },
  'model.idle_timeout_seconds': {
    schema: seconds(1, 3600),
    fallback: 60,
    about: 'How long a model may be silent between two tokens.',
  },
  'background.queue_wait_seconds': {
    schema: seconds(1, WEEK),
    fallback: 3600,
    about: 'How long a background run may wait for a worker.',
  },
  'background.max_unfinished_per_key': {
    schema: integer(1, 1_000_000),
    fallback: 20,
    about: 'Unfinished background runs that one key may have.',
  },
  'background.max_executing_per_key': {
    schema: integer(1, 1_000_000),
    fallback: 2,
    about: 'Background runs of one key that may execute at once.',
  },
  'background.max_unfinished_per_user': {
    schema: integer(1, 1_000_000),
    fallback: 50,
    about: 'Unfinished background runs that one user may have over all keys.',
  },
  'background.polls_per_second': {
    schema: integer(1, 1_000_000),
    fallback: 10,
    about: 'Look-ups of run results that one key may make in a second.',
  },
  'model.run_timeout_seconds': { schema: seconds(1, WEEK), fallback: 3600, about: 'How long a run may take.' },
  'model.max_steps': { schema: integer(1, 10_000), fallback: 200, about: 'Model replies in one run.' },
  'model.max_reply_mb': {
    schema: megabytes(1, 64),
    fallback: 4,
    about: "Text, reasoning and tool calls of one model's reply; a longer one fails its run.",
  },
  'user_input.expires_seconds': {
    schema: seconds(1, 365 * 24 * 3600),
    fallback: 86_400,
    about: "How long an agent's question waits for its user.",
  },
  'workers.threads': {
    schema: integer(1, 256),
    fallback: () => Math.min(4, availableParallelism()),
    about: 'Worker threads that runs are spread over.',
  },
  'workers.runs_per_thread': { schema: integer(1, 1024), fallback: 32, about: 'Runs in one worker thread at a time.' },
  'workers.memory_mb': {
    schema: megabytes(128, 65_536),
    fallback: 512,
    about: 'JavaScript heap of one worker thread.',
  },
  'workers.hang_timeout_seconds': {
    schema: seconds(1, 3600),
    fallback: 30,
    about: 'A worker thread that answers nothing for this long is ended; its runs are resumed.',
  },
  'streams.ping_seconds': { schema: seconds(1, 10), fallback: 10, about: 'Longest silence of a stream before a ping.' },
  'streams.drain_seconds': {
    schema: seconds(0, 3600),
    fallback: 30,
    about: 'How long open streams may go on after SIGTERM.',
  },
  'shell.enabled': { schema: flag(), fallback: true, about: 'Whether agents have the shell tool, inside its sandbox.' },
  'shell.timeout_seconds': { schema: seconds(1, 86_400), fallback: 120, about: 'How long one command may take.' },
  'shell.max_output_kb': {
    schema: integer(1, 65_536, 'kilobytes'),
    fallback: 1024,
    about: 'A command that writes more is ended.',
  },
  'shell.memory_mb': {
    schema: megabytes(64, 1_048_576),
    fallback: 1024,
    about: 'Memory of a command with all its processes.',
  },
  'shell.max_processes': { schema: integer(8, 65_536), fallback: 256, about: 'Processes that commands may have.' },
  'workspace.quota_mb': {
    schema: megabytes(1, 16_777_216),
    fallback: 2048,
    about: 'What one workspace may take on the disk; a command that takes more is ended.',
  },
  'disk.keep_free_mb': {
    schema: megabytes(0, 16_777_216),
    fallback: 500,
    about: 'With less free on the disk, new turns are refused and commands ended; 0 for no such limit.',
  },
  'egress.allow': {
    schema: egressRulesSchema(),
    fallback: [],
    read: readEgressRules,
    about: 'What may be reached beside the public internet; as a variable, a list in JSON.',
  },
  'artifacts.deadline_seconds': {
    schema: seconds(1, 86_400),
    fallback: 600,
    about: 'How long looking at a workspace after a run, or packing its files, may take.',
  },
  'artifacts.max_file_mb': {
    schema: megabytes(1, 1_048_576),
    fallback: 1024,
    about: 'Larger files in a workspace are neither listed nor packed.',
  },
  'artifacts.max_files': {
    schema: integer(1, 10_000_000),
    fallback: 200_000,
    about: 'Files of one workspace that are listed and packed.',
  },
  'artifacts.max_total_mb': {
    schema: megabytes(1, 16_777_216),
    fallback: 4096,
    about: 'Files of one workspace together; what goes beyond is neither listed nor packed.',
  },
  'browser.enabled': {
    schema: flag(),
    fallback: false,
    about: 'Whether agents whose key or expert has the browser may use it, inside its sandbox.',
  },
  'browser.executable': {
    schema: text('an absolute path, or empty', (value) => value === '' || value.startsWith('/')),
    fallback: '',
    about: "Chromium's program; empty for where systems keep it.",
  },
  'browser.timeout_seconds': {
    schema: seconds(1, 600),
    fallback: 30,
    about: 'How long one action of the browser may take.',
  },
  'browser.memory_mb': {
    schema: megabytes(256, 1_048_576),
    fallback: 1536,
    about: 'Memory of a browser with all its processes; each run has its own.',
  },
  'log.level': { schema: choice(LEVELS), fallback: 'info', about: 'The least severe messages that are logged.' },
};
