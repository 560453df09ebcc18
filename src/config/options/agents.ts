// Settings of what agents use: shell, browser, files, disk, addresses.
import { egressRulesSchema, readEgressRules } from '../../catalog/egress-rules.ts';
import { choice, flag, integer, list, text } from '../../catalog/reading/schema.ts';
import { CHECKPOINTS } from '../../domain/settings.ts';
import { isTimeZone } from '../../domain/time-zone.ts';
import { count, megabytes, type Options, seconds } from '../option.ts';
import { isProxy } from '../read-ways.ts';

export const AGENT_OPTIONS = {
  'shell.enabled': {
    schema: flag(),
    fallback: true,
    about: 'Whether agents have the shell tool. It needs bubblewrap.',
  },
  'shell.timeout_seconds': {
    schema: seconds(1, 86_400),
    fallback: 120,
    about: 'Seconds that one command can take. Then it is ended.',
  },
  'shell.max_output_kb': {
    schema: integer(1, 65_536, 'kilobytes'),
    fallback: 1024,
    about: 'Kilobytes that one command can print. A command that prints more is ended.',
  },
  'shell.memory_mb': {
    schema: megabytes(64, 1_048_576),
    fallback: 1024,
    about: 'Megabytes of memory for a command with all its processes. A command that takes more is ended.',
  },
  'shell.max_processes': {
    schema: count(8, 65_536),
    fallback: 256,
    about: 'Processes and threads of a command. It cannot start more.',
  },
  'browser.enabled': {
    schema: flag(),
    fallback: false,
    about: 'Whether agents can have the browser. It needs bubblewrap and Chromium.',
  },
  'browser.executable': {
    schema: text('an absolute path, or empty', (value) => value === '' || value.startsWith('/')),
    fallback: '',
    about: "Path of Chromium's executable. Empty: where Debian, Fedora and Chrome's own packages install it.",
    isOfNode: true,
  },
  'browser.timeout_seconds': {
    schema: seconds(1, 600),
    fallback: 30,
    about: 'Seconds that one action can take. Then it fails, and the agent sees why.',
  },
  'browser.memory_mb': {
    schema: megabytes(256, 1_048_576),
    fallback: 1536,
    about: 'Megabytes of memory for a browser with all its processes. A browser that takes more is ended.',
  },
  'workspace.quota_mb': {
    schema: megabytes(1, 16_777_216),
    fallback: 2048,
    about: 'Megabytes of one workspace. Files beyond that are not written, and a command that exceeds it is ended.',
  },
  'workspace.user_quota_mb': {
    schema: megabytes(0, 16_777_216),
    fallback: 0,
    about:
      'Megabytes of all workspaces of one user, as of the ends of their runs. New turns of a user beyond that get 413, and ' +
      'their scheduled tasks wait, until sessions are deleted. 0: no limit.',
  },
  'workspace.sticky_seconds': {
    schema: seconds(0, 3_600),
    fallback: 10,
    about:
      'Where several daemons share a database: how long a turn of a session with files waits for a free slot of the node that has ' +
      'them, before another one lays them out.',
  },
  'workspace.checkpoint': {
    schema: choice(CHECKPOINTS),
    fallback: 'run',
    about:
      'Where several daemons share a database: when changed files are recorded. `run`: after a run, and when it is interrupted. `step`: after ' +
      'each of its steps as well, so that a lost daemon takes the files of one step with it, and each step with changes costs a look and a commit. ' +
      'Without effect where a daemon is alone.',
  },
  'artifacts.deadline_seconds': {
    schema: seconds(1, 86_400),
    fallback: 600,
    about: 'Seconds to examine a workspace after a run, and to pack an archive. After that, the artifacts fail.',
  },
  'artifacts.max_file_mb': {
    schema: megabytes(1, 1_048_576),
    fallback: 1024,
    about: 'Megabytes of one file. Larger files are neither listed nor packed.',
  },
  'artifacts.max_files': {
    schema: count(1, 10_000_000),
    fallback: 50_000,
    about:
      'Files of one workspace, in order of path. Further files stay in the workspace, but are neither listed nor packed, nor are those ' +
      'whose paths would make the average longer than 256 bytes.',
  },
  'artifacts.max_total_mb': {
    schema: megabytes(1, 16_777_216),
    fallback: 4096,
    about: 'Megabytes of all files of one workspace. Files beyond that are neither listed nor packed.',
  },
  'publish.max_files': {
    schema: count(1, 100_000),
    fallback: 5_000,
    about: 'Files of one version. A page whose folder has more is not published.',
  },
  'publish.max_total_mb': {
    schema: megabytes(1, 1_048_576),
    fallback: 500,
    about: 'Megabytes of all files of one version. A page whose folder has more is not published.',
  },
  'publish.time_zone': {
    schema: text('an IANA time zone, such as Europe/Zurich', isTimeZone),
    fallback: 'Asia/Shanghai',
    about:
      'IANA time zone in which pages show their times to readers whose browser runs no scripts; others see them in their own. ' +
      'It changes nothing in the interface.',
  },
  'disk.keep_free_mb': {
    schema: megabytes(0, 16_777_216),
    fallback: 500,
    about:
      'Megabytes that stay free. With less, new turns get 503, commands are ended and no files are written. 0: no limit.',
    isOfNode: true,
  },
  'egress.allow': {
    schema: egressRulesSchema(),
    fallback: [],
    read: readEgressRules,
    about:
      'Exceptions, such as [{ host: wiki.example.com, ports: [443], for: [web_fetch] }, { cidr: 10.20.0.0/16 }]. Each names ' +
      'an address range (cidr) or a host (`*.` for all names below it). Without `ports` and `for` it applies to every port ' +
      'and purpose: image, web_fetch, mcp, connector, webhook. Only cidr opens link-local and cloud metadata addresses.',
  },
  'egress.proxy': {
    schema: text('the address of an HTTP proxy such as http://proxy.example.com:3128, direct, or empty', isProxy),
    fallback: '',
    about:
      'HTTP proxy of all connections that leave, such as http://proxy.example.com:3128, without credentials. Empty: those in ' +
      '`HTTPS_PROXY` and `HTTP_PROXY`. `direct`: none, whatever these say. It must allow CONNECT.',
    isOfNode: true,
  },
  'egress.proxy_credentials_file': {
    schema: text('a path, credential:NAME, or empty', (value) => value.length <= 4_096),
    fallback: '',
    about: 'File with USER:PASSWORD for `proxy`: a path, relative to the config directory, or credential:NAME.',
    isOfNode: true,
  },
  'egress.no_proxy': {
    schema: list(
      text('a name, an address or a range, such as intranet.example.com or 10.0.0.0/8', (value) =>
        /^[^\s,]{1,253}$/.test(value),
      ),
      'names, addresses and ranges',
    ),
    fallback: [],
    about:
      'What is reached without the proxy, in addition to `NO_PROXY`: names, each with all below it, addresses and ranges; ' +
      '`*` is everything.',
    isOfNode: true,
  },
  'egress.proxy_resolves': {
    schema: flag(),
    fallback: false,
    about:
      'Whether the proxy resolves the names of what users and agents reach. Then the proxy decides where they lead, and ' +
      '`allow` only concerns ports and addresses. Without it, the daemon resolves them, and the proxy gets checked addresses.',
    isOfNode: true,
  },
} satisfies Options;
