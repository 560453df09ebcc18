// Commands on a machine with an installed service: which Errand they mean, and what they refuse to root.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { waitFor } from '../../support/time/wait-for.ts';
import { openOwnMachine, type OwnMachine } from '../../support/daemon/own-machine.ts';

describe.runIf(process.getuid?.() === 0)('where a service is installed', () => {
  let machine: OwnMachine;
  beforeAll(async () => {
    machine = await openOwnMachine();
  });
  afterAll(() => machine.close());

  test('nothing is created beside it without a flag that says so', async () => {
    for (const verb of ['init', 'serve']) {
      const { code, stderr } = await machine.sh(`errand ${verb}; code=$?; ls; exit $code`);
      expect([code, stderr]).toEqual([2, expect.stringContaining('Errand is installed as a service here')]);
      expect(stderr).toContain('with its data in /var/lib/errand. Nothing was created.');
      expect(stderr).toContain('systemctl start errand');
    }
    expect((await machine.sh('ls; ls /var/lib')).stdout).toBe('');
    expect(await machine.sh('errand init --data-dir other -o json && ls && rm -r other')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/other\n$/),
    });
  });

  test('every command means the service while it runs', async () => {
    const stop = await machine.startService();
    onTestFinished(stop);
    expect((await machine.sh('errand status')).stdout).toContain('/var/lib/errand');
    expect((await machine.sh('mkdir -p data; errand users list')).stdout).toContain('admin');
    expect((await machine.sh('errand config check')).stdout).toContain('The configuration in /etc/errand is valid.');
    expect((await machine.sh('errand doctor -o json')).stdout).toContain('the files in /etc/errand are valid');
    // One's own ./data comes first.
    expect((await machine.sh('touch data/errand.db; errand status; rm -r data')).stderr).toMatch(/data\/errand\.sock/);
    const { code, stderr } = await machine.sh('setpriv --reuid 65534 --clear-groups errand status');
    expect([code, stderr]).toEqual([4, expect.stringMatching(/Root may: sudo /)]);
  });

  test('and while it does not, its configuration is examined and root starts no daemon on its data', async () => {
    await machine.startService().then((stop) => stop());
    expect((await machine.sh('errand status')).stderr).toContain('Start it with: systemctl start errand.');
    expect((await machine.sh('errand')).stdout).toContain('systemctl start errand');
    await machine.sh('echo "endpoints: [" >/etc/errand/models.yaml');
    for (const place of ['', '--data-dir /var/lib/errand']) {
      const { code, stdout } = await machine.sh(`errand doctor ${place} -o json`);
      const { checks } = JSON.parse(stdout) as { checks: { id: string; evidence: string; remedy: string | null }[] };
      const found = (id: string) => checks.find((check) => check.id === id);
      expect([code, found('configuration')?.evidence]).toEqual([8, expect.stringContaining('models.yaml')]);
      expect(found('daemon')?.remedy).toBe('systemctl start errand');
      expect(found('permissions')).toMatchObject({ state: 'ok' });
    }
    for (const command of ['serve', 'serve --data-dir /var/lib/errand', 'init --new-master-key']) {
      const { code, stderr } = await machine.sh(`errand ${command}`);
      expect([code, stderr]).toEqual([4, expect.stringContaining('/var/lib/errand belongs to the user errand')]);
    }
    expect((await machine.sh('find /var/lib/errand -user root')).stdout).toBe('');
  });

  test('what the service can’t read is given back by the command that the doctor names', async () => {
    await machine.sh('rm -f /etc/errand/models.yaml; : >/etc/errand/errand.yaml');
    await machine.startService().then((stop) => stop());
    for (const harm of [
      'chown 0 /var/lib/errand/errand.db /var/lib/errand/master.key',
      'chown -R 0 /var/lib/errand',
      'chmod 600 /etc/errand/errand.yaml',
      'chmod 777 /etc/errand',
      'chmod 755 /var/lib/errand',
    ]) {
      await machine.sh(harm);
      const look = async () => {
        const { stdout } = await machine.sh('errand doctor --offline -o json');
        const { checks } = JSON.parse(stdout) as { checks: { id: string; state: string; remedy: string | null }[] };
        return checks.find(({ id }) => id === 'permissions')!;
      };
      const { state, remedy } = await look();
      expect([harm, state]).toEqual([harm, 'failed']);
      await machine.sh(remedy!);
      expect([harm, await look()]).toEqual([harm, expect.objectContaining({ state: 'ok' })]);
      await machine.startService().then((stop) => stop());
    }
  });

  test('a daemon that is starting, and fails, has the lock for a moment only: the doctor waits', async () => {
    // Holds it until it is told, and two seconds more.
    const holder = machine.sh(
      `touch held; python3 -c "import fcntl, os, time; f = open('/var/lib/errand/errand.lock', 'r+b'); fcntl.lockf(f, fcntl.LOCK_EX, 510, 0x40000002)
while os.path.exists('held'): time.sleep(0.1)
time.sleep(2)"`,
    );
    // Who asks for the files alone hears of it at once.
    await waitFor(async () => (await machine.sh('errand doctor --offline')).code === 6);
    await machine.sh('rm held');
    const { code, stderr } = await machine.sh('errand doctor -o json');
    expect([code, stderr]).toEqual([8, expect.not.stringContaining('in use by another')]);
    await holder;
  });
});
