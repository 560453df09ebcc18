import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { makeCredential } from '../../../src/browser/reach/credential.ts';
import { ClientError } from '../../../src/client/transport/client-error.ts';

/** A credential before a daemon that replies so; 0: it is not there. */
async function credentialOf(status: number, message = '') {
  const asked: (string | undefined)[] = [];
  const server = createServer((req, res) => {
    asked.push(req.url);
    res.writeHead(status).end(status === 204 ? undefined : JSON.stringify({ code: status, message, data: null }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  if (status === 0) close();
  else onTestFinished(close);
  return { credential: makeCredential(`http://127.0.0.1:${port}/office`), asked };
}

test.each([204, 401])('whoever gets %s has logged out', async (status) => {
  const { credential, asked } = await credentialOf(status);
  await expect(credential.logOut()).resolves.toBeUndefined();
  expect(asked).toEqual(['/office/logout']);
});

test('a log-out that fails is told, with what the daemon says', async () => {
  await expect((await credentialOf(500, 'Internal error.')).credential.logOut()).rejects.toThrow('Internal error.');
  await expect((await credentialOf(0)).credential.logOut()).rejects.toThrow('not reachable');
});

test('a key is forgotten whatever the daemon says', async () => {
  const { credential } = await credentialOf(500);
  credential.useKey('ek-1');
  await credential.logOut();
  expect(credential.headers()).toEqual({});
});

test('a code that is refused has the words of the daemon', async () => {
  const { credential } = await credentialOf(429, 'Too many attempts.');
  const error: unknown = await credential.logIn('x').catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ClientError);
  expect(error).toMatchObject({ message: 'Too many attempts.', failure: { kind: 'refused', status: 429 } });
});
