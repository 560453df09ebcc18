// How a daemon that speaks TLS is reached.
import { expect, test } from 'vitest';
import { send } from '../../../src/client/transport/transport.ts';
import { makeCertificate } from '../../support/http/certificates.ts';
import { startSecureWebServer } from '../../support/http/secure-web-server.ts';

test('a daemon behind an issuer that is not trusted is reported with its issuer', async () => {
  const port = await startSecureWebServer([makeCertificate('localhost', { issuer: makeCertificate('Corp Root CA') })]);
  const address = { url: `https://localhost:${port}`, token: null };
  await expect(send(address, { method: 'GET', path: '/healthz' })).rejects.toThrow(
    /^The daemon is not reachable at https:.* The certificate of localhost is issued by "Corp Root CA", which is not trusted/,
  );
});
