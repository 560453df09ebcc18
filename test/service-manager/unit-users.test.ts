// How the unit begins the daemon: with users of the kernel for commands, from rights that the daemon itself does not keep.
import { execFile } from 'node:child_process';
import { accessSync, chownSync, constants, existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { renderUnits } from '../../src/service-manager/units.ts';
import { SANDBOX_OWNER, SANDBOX_USERS } from '../../src/agent/sandbox/users.ts';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';

const [SERVICE_ID, GROUP_ID] = [61_200, 44];
const GIVEN = '+setuid,+setgid';

/** The words of the unit's command as systemd reads them: quotes, escapes, `$$` and `%%`. */
function commandOf(unit: string): string[] {
  const line = /^ExecStart=((?:.*\\\n)*.*)$/m.exec(unit)![1]!.replaceAll('\\\n', ' ');
  const words = line.match(/'(?:[^'\\]|\\.)*'|[^' ]+/g)!;
  return words.map((word) => {
    const bare = word.startsWith("'") ? word.slice(1, -1) : word;
    return bare.replaceAll(/\\(.)|([$%])\2/g, (_, escaped, doubled) => (escaped === 'n' ? '\n' : (escaped ?? doubled)));
  });
}

const [unit] = renderUnits({
  executable: '/usr/bin/errand',
  user: 'errand',
  group: 'errand',
  listen: null,
});

/** Runs a script of the shell in place of the daemon, as the unit's user would. Returns its output. */
async function begun(script: string, capabilities = GIVEN): Promise<string> {
  const command = commandOf(unit!.text);
  expect(command.slice(-2)).toEqual(['/usr/bin/errand', 'serve']);
  const given = ['bounding-set', 'inh-caps', 'ambient-caps'].map((set) => `--${set}=-all,${capabilities}`);
  const ids = [`--reuid=${SERVICE_ID}`, `--regid=${SERVICE_ID}`, `--groups=${GROUP_ID}`];
  const words = [...ids, ...given, '--no-new-privs', ...command.slice(0, -2), '/bin/sh', '-c', script];
  const { stdout } = await promisify(execFile)('setpriv', words, { timeout: 30_000, cwd: '/' });
  return stdout;
}

/** Why the unit's command can't be tried here; null when it can. */
async function whyNot(): Promise<string | null> {
  if (process.getuid?.() !== 0) return 'It takes root to give rights to another user.';
  const ids = ['--reuid', '61200', '--regid', '61200', '--clear-groups', 'unshare', '--user', 'true'];
  return promisify(execFile)('setpriv', ids).then(
    () => null,
    () => 'There are no user namespaces, or no setpriv.',
  );
}
const why = await whyNot();
if (why !== null) console.warn(`\n*** SKIPPED: how the unit begins the daemon. ${why} ***\n`);

describe.skipIf(why !== null)('the unit', () => {
  test('begins the daemon as root of a namespace that is the service’s user outside, with users for commands', async () => {
    const [uids, gids, ids] = (
      await begun('cat /proc/self/uid_map; echo; cat /proc/self/gid_map; echo; id -u; id -g')
    ).split('\n\n');
    const map = `0 ${SERVICE_ID} 1\n${SANDBOX_OWNER.uid} ${SANDBOX_OWNER.uid} ${SANDBOX_USERS}`;
    for (const shown of [uids, gids]) expect(shown!.trim().replaceAll(/ +/g, ' ').replaceAll('\n ', '\n')).toBe(map);
    expect(ids).toBe('0\n0\n');
  });

  test('leaves the daemon no right outside of that namespace, its groups, and no process beside it', async () => {
    const shown = await begun(
      `read -r beside </proc/$$/task/$$/children; echo "beside: $beside"; grep -E "^(CapInh|CapAmb|NoNewPrivs|Groups)" /proc/self/status; echo owner $(stat -c %u /etc/passwd)
       chown 0 /etc/passwd 2>&1; cat /etc/shadow 2>&1; true`,
    );
    expect(shown).toMatch(/^beside: $/m);
    expect(shown).toMatch(/^CapInh:\t0+$/m);
    expect(shown).toMatch(/^CapAmb:\t0+$/m);
    expect(shown).toMatch(/^NoNewPrivs:\t1$/m);
    expect(shown).toMatch(/^Groups:\t65534/m);
    expect(shown).toContain('owner 65534');
    expect(shown).toMatch(/chown:.*(Invalid argument|Operation not permitted)/);
    expect(shown).toMatch(/shadow: Permission denied/);
  });

  test('leaves the service’s user some watches of files that commands can’t have', async () => {
    const limit = Number(readFileSync('/proc/sys/fs/inotify/max_user_instances', 'utf8'));
    expect(await begun('cat /proc/sys/user/max_inotify_instances')).toBe(`${Math.floor(limit * 0.75)}\n`);
  });

  test('can give files away to commands, and take them back', async () => {
    const folder = temporaryDirectory();
    chownSync(folder, SERVICE_ID, SERVICE_ID);
    await begun(
      `cd ${folder} && echo kept >file && chmod 600 file && chown 61001:61001 file && cat file && touch mine`,
    );
    expect([statSync(join(folder, 'file')).uid, statSync(join(folder, 'mine')).uid]).toEqual([61_001, SERVICE_ID]);
    expect(await begun(`cat ${folder}/file; rm ${folder}/file ${folder}/mine; ls ${folder}`)).toBe('kept\n');
  });

  test('begins the daemon as the service’s user where it has not the rights, and without those that it has', async () => {
    expect(await begun('id -u; grep ^CapEff /proc/self/status', '-setuid')).toBe(
      `${SERVICE_ID}\nCapEff:\t0000000000000000\n`,
    );
    expect(await begun('id -u; grep ^CapEff /proc/self/status', '+setgid')).toBe(
      `${SERVICE_ID}\nCapEff:\t0000000000000000\n`,
    );
  });
});

const isOpen = (path: string): boolean => {
  for (let folder = path; folder !== '/'; folder = dirname(folder))
    if ((statSync(folder).mode & 0o005) === 0) return false;
  accessSync(path, constants.R_OK);
  return true;
};
const main = new URL('../support/agent/kernel-user-main.ts', import.meta.url).pathname;
const whyNoSandbox =
  why ??
  (!existsSync('/usr/bin/bwrap') ? 'There is no bubblewrap.' : null) ??
  ([process.execPath, main].every(isOpen) ? null : 'This checkout is closed to other users.');
if (why === null && whyNoSandbox !== null)
  console.warn(`\n*** SKIPPED: commands of a daemon that the unit begins. ${whyNoSandbox} ***\n`);

test.skipIf(whyNoSandbox !== null)(
  'commands of a daemon that the unit begins are of other kernel users, in a workspace that it can remove',
  async () => {
    const folder = temporaryDirectory();
    chownSync(folder, SERVICE_ID, SERVICE_ID);
    const shown = await begun(`cd ${folder} && umask 077 && exec ${process.execPath} ${main}`);
    expect(JSON.parse(shown)).toEqual({ output: '61005\n', uid: 61_005, watches: 'limited' });
  },
);
