// The cluster of the tests: it survives what tests do to it, and never its process.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { waitFor } from '../time/wait-for.ts';
import { type Cluster, type ClusterOptions, startCluster } from './cluster.ts';
import { canRunPostgres } from './programs.ts';

async function aCluster(options?: ClusterOptions): Promise<Cluster> {
  const cluster = await startCluster(options);
  onTestFinished(() => cluster.close());
  return cluster;
}

describe.skipIf(!canRunPostgres())('the cluster of the tests', () => {
  it('keeps its rows when its server is killed, and is gone when it is closed', async () => {
    const cluster = await aCluster();
    await cluster.query('postgres', 'CREATE TABLE kept AS SELECT 1 AS n');
    for (const signal of ['SIGKILL', 'SIGQUIT', 'SIGINT'] as const) {
      await cluster.stop(signal);
      await expect(cluster.query('postgres', 'SELECT 1')).rejects.toThrow(/ENOENT|ECONNREFUSED|ECONNRESET/);
      await cluster.start();
      expect(await cluster.query('postgres', 'SELECT n FROM kept')).toEqual([{ n: 1 }]);
    }
    await cluster.close();
    expect(existsSync(cluster.directory)).toBe(false);
  });

  it('asks for a password on the loopback interface, with TLS', async () => {
    const cluster = await aCluster({ tcp: { password: 'p@ss word', tls: true } });
    const ssl = { ca: readFileSync(`${cluster.directory}/tls.crt`, 'utf8') };
    const client = new Client({ connectionString: cluster.tcpUrl('postgres'), ssl });
    await client.connect();
    const { rows } = await client.query(
      'SELECT ssl, current_user AS name FROM pg_stat_ssl WHERE pid = pg_backend_pid()',
    );
    expect(rows).toEqual([{ ssl: true, name: 'errand' }]);
    await client.end();
    const wrong = new Client({ connectionString: cluster.tcpUrl('postgres').replace('p%40ss', 'wrong'), ssl });
    await expect(wrong.connect()).rejects.toThrow('password authentication failed');
  });

  it('ends with the process that started it, when that is killed', async () => {
    const program = `
      import { startCluster } from ${JSON.stringify(fileURLToPath(new URL('cluster.ts', import.meta.url)))};
      const cluster = await startCluster();
      process.stdout.write(JSON.stringify([cluster.directory, cluster.pid()]));
      process.kill(process.pid, 'SIGKILL');`;
    const ended = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
    const [directory, pid] = JSON.parse(ended.stdout) as [string, number];
    await waitFor(() => !existsSync(directory) && !existsSync(`/proc/${pid}`));
  });
});
