// Where a daemon's files are, by flags, environment and the service of the machine.
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { resolveLocations } from '../../src/config/locations.ts';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';

test('by default, everything is stored in ./data', { tags: ['K6'] }, () => {
  const dataDir = path.resolve('data');
  expect(resolveLocations({}, {}, null)).toEqual({
    dataDir,
    configDir: path.join(dataDir, 'config'),
    socketPath: path.join(dataDir, 'errand.sock'),
    credentialsDirectory: null,
    masterKeyPath: path.join(dataDir, 'master.key'),
    isService: false,
    isNamed: false,
    url: null,
    apiKey: null,
    tokenFile: null,
  });
});

test('as a service, the directories are those of systemd', { tags: ['K6'] }, () => {
  const credentials = temporaryDirectory({ 'master-key': 'k' });
  const service = {
    STATE_DIRECTORY: '/var/lib/errand:/var/lib/other',
    RUNTIME_DIRECTORY: '/run/errand',
    CREDENTIALS_DIRECTORY: credentials,
  };
  expect(resolveLocations({}, service, null)).toMatchObject({
    dataDir: '/var/lib/errand',
    configDir: '/etc/errand',
    socketPath: '/run/errand/errand.sock',
    credentialsDirectory: credentials,
    masterKeyPath: path.join(credentials, 'master-key'),
  });
  expect(resolveLocations({}, { ...service, CONFIGURATION_DIRECTORY: '/home/u/.config/errand' }, null).configDir).toBe(
    '/home/u/.config/errand',
  );
  expect(resolveLocations({}, { ...service, CREDENTIALS_DIRECTORY: temporaryDirectory() }, null).masterKeyPath).toBe(
    '/var/lib/errand/master.key',
  );
});

test('a shell in a systemd session does not count as a service', () => {
  expect(resolveLocations({}, { INVOCATION_ID: 'f'.repeat(32) }, null).configDir).toBe(path.resolve('data/config'));
});

describe('where a service is installed', () => {
  const stateOf = () => {
    const root = temporaryDirectory({ 'run/errand/x': '', 'var/lib/errand/errand.db': '' });
    const service = {
      dataDir: path.join(root, 'var/lib/errand'),
      configDir: path.join(root, 'etc/errand'),
      runtimeDir: path.join(root, 'run/errand'),
      user: 'errand',
      masterKeyFile: null,
      unit: '/etc/systemd/system/errand.service',
      hasSocket: true,
    };
    return { root, service };
  };

  test('its directories are meant unless others are named', () => {
    const { service } = stateOf();
    const its = {
      dataDir: service.dataDir,
      configDir: service.configDir,
      socketPath: path.join(service.runtimeDir, 'errand.sock'),
      masterKeyPath: path.join(service.dataDir, 'master.key'),
      isService: true,
    };
    expect(resolveLocations({}, {}, service)).toMatchObject({ ...its, isNamed: false });
    expect(resolveLocations({ dataDir: `${service.dataDir}/` }, {}, service)).toMatchObject({ ...its, isNamed: true });
    expect(resolveLocations({}, { ERRAND_DATA_DIR: service.dataDir }, service)).toMatchObject(its);
    expect(resolveLocations({ dataDir: '/srv/x' }, {}, service)).toMatchObject({
      configDir: '/srv/x/config',
      socketPath: '/srv/x/errand.sock',
      isService: false,
    });
  });

  test('a socket is looked for in the data directory while the service does not run', () => {
    const { service } = stateOf();
    const stopped = { ...service, runtimeDir: '/nowhere/errand', masterKeyFile: '/root/keys/master.key' };
    expect(resolveLocations({}, {}, stopped)).toMatchObject({
      socketPath: path.join(service.dataDir, 'errand.sock'),
      masterKeyPath: '/root/keys/master.key',
    });
  });
});

test('flags and variables set the directories, and flags win', { tags: ['K4'] }, () => {
  const environment = {
    ERRAND_DATA_DIR: '/a',
    ERRAND_CONFIG_DIR: '/b',
    ERRAND_URL: 'http://c',
    ERRAND_API_KEY: 'd',
    STATE_DIRECTORY: '/s',
  };
  expect(resolveLocations({}, environment)).toMatchObject({
    dataDir: '/a',
    configDir: '/b',
    url: 'http://c',
    apiKey: 'd',
    socketPath: '/a/errand.sock',
  });
  const flags = { dataDir: 'x', configDir: '/y', url: 'http://z', tokenFile: 't' };
  expect(resolveLocations(flags, environment)).toMatchObject({
    dataDir: path.resolve('x'),
    configDir: '/y',
    url: 'http://z',
    tokenFile: path.resolve('t'),
  });
});
