// A daemon that speaks TLS: its certificate follows its files, and nothing that is open ends.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { formatProblem } from '../../src/catalog/reading/problem.ts';
import { loadLiveConfig } from '../../src/config/read-configuration.ts';
import { startDaemon } from '../../src/daemon/daemon.ts';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';
import { makeCertificate, pemOf } from '../support/http/certificates.ts';
import { waitFor } from '../support/time/wait-for.ts';

const YAML = 'tls: { cert_file: chain.pem, key_file: key.pem }\nlog: { level: fatal }\n';

/** A connection, and the name in the certificate that it got. */
async function open(port: number) {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
  onTestFinished(() => void socket.destroy());
  await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject));
  let heard = '';
  socket.on('data', (chunk: Buffer) => (heard += chunk.toString()));
  const get = async (path: string) => {
    heard = '';
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    await waitFor(() => heard.endsWith('}'));
    return heard;
  };
  return { name: socket.getPeerCertificate().subject.CN, get };
}

test('SIGHUP takes a new certificate for new connections, and a broken one for none', async () => {
  const dataDir = temporaryDirectory();
  const configDir = temporaryDirectory({ 'errand.yaml': YAML });
  const write = ({ cert, key }: ReturnType<typeof makeCertificate>) => {
    writeFileSync(join(configDir, 'chain.pem'), cert);
    writeFileSync(join(configDir, 'key.pem'), pemOf(key), { mode: 0o600 });
  };
  write(makeCertificate('first.test'));
  const loaded = loadLiveConfig({ dataDir, configDir, listen: '127.0.0.1:0', noWorkers: true }, {});
  if (!loaded.ok) throw new Error(loaded.problems.map(formatProblem).join('\n'));
  const daemon = await startDaemon(loaded);
  onTestFinished(() => daemon.halt());
  await daemon.ready();
  expect(daemon.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
  const port = Number(new URL(daemon.url).port);

  const first = await open(port);
  expect(first.name).toBe('first.test');
  write(makeCertificate('second.test'));
  daemon.reload();
  const second = await open(port);
  expect(second.name).toBe('second.test');
  writeFileSync(join(configDir, 'chain.pem'), makeCertificate('third.test').cert);
  daemon.reload();
  expect((await open(port)).name).toBe('second.test');
  const report = await first.get('/readyz');
  expect(report).toContain('HTTP/1.1 200 OK');
  expect(report).toContain(
    '"tls","state":"degraded","detail":"tls: the key in key.pem is not that of the certificate in chain.pem; the',
  );
});
